package echo

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"

	"kioku/llm"
)

const (
	// maxNotes is the maximum number of notes that one answer stores; more sentences share notes.
	maxNotes = 16
	// minSentence is the length in bytes from which on a sentence may be worth keeping; shorter ones are greetings and the
	// like.
	minSentence = 12
	// maxSummarized is the maximum number of sentences in a summary.
	maxSummarized = 12
)

var (
	// sentence matches up to the end of a line, or a mark in Japanese and Chinese, or a mark and a space in other languages.
	sentence = regexp.MustCompile(`(?m).+?(?:[。！？]+|[.!?]+(?:\s|$)|$)`)
	// question matches the end of a question.
	question = regexp.MustCompile(`[?？]["”」』)）]*$|(?:か|かな|吗|嗎|呢)[。.]?$`)
	// aside matches a message that the program and not the user has written: all in brackets, a summary or a request to store.
	aside          = regexp.MustCompile(`^\[[^\]]*\]$|^\([^)]*\)$|^Summary of the conversation|` + noReply)
	summaryRequest = regexp.MustCompile(`(?is)^.{0,100}\bsummari[sz]e`)
	section        = regexp.MustCompile(`(?m)^## .+$`)
	// required matches the list of what must be in a summary.
	required = regexp.MustCompile(`letter for letter:\n((?:- .*(?:\n|$))+)`)
)

// statements returns the sentences of a message that are not questions and not too short.
func statements(message string) []string {
	var all []string
	for _, s := range sentence.FindAllString(message, -1) {
		s = strings.TrimSpace(strings.TrimLeft(s, " \t-*•>"))
		if len(s) >= minSentence && !question.MatchString(s) {
			all = append(all, s)
		}
	}
	return all
}

// store calls memory_append with what users have stated in a conversation, or answers NO_REPLY if all of it is stored.
func store(conversation []llm.Message) llm.Message {
	stored := storedNotes(conversation)
	var facts []string
	for _, m := range conversation {
		tool, words := command(m.Text)
		if m.Role != llm.RoleUser || tool == searchTool || aside.MatchString(m.Text) {
			continue
		}
		for _, s := range statements(words) {
			if !strings.Contains(stored, s) && !slices.Contains(facts, s) {
				facts = append(facts, s)
			}
		}
	}
	if len(facts) == 0 {
		return say(noReply)
	}
	m := llm.Message{Role: llm.RoleAssistant}
	for note := range slices.Chunk(facts, (len(facts)+maxNotes-1)/maxNotes) {
		m.ToolCalls = append(m.ToolCalls, toolCall(conversation, len(m.ToolCalls), appendTool, strings.Join(note, "\n")))
	}
	return m
}

// storedNotes returns the texts of all calls of memory_append that have not failed.
func storedNotes(conversation []llm.Message) string {
	failed := map[string]bool{}
	var all strings.Builder
	for _, m := range slices.Backward(conversation) { // a result follows its call
		if m.Failed {
			failed[m.ToolCallID] = true
		}
		for _, c := range m.ToolCalls {
			var input struct{ Text string }
			if c.Name == appendTool && !failed[c.ID] && json.Unmarshal(c.Input, &input) == nil {
				all.WriteString(input.Text + "\n")
			}
		}
	}
	return all.String()
}

// summarize returns the sections that the system prompt names: the latest statements of the conversation in the first one,
// and the identifiers that are listed as required in the last one.
func summarize(req llm.Request) string {
	var facts, identifiers []string
	for _, m := range req.Messages {
		_, material, _ := strings.Cut(m.Text, "<conversation>")
		for _, s := range statements(strings.TrimSuffix(material, "</conversation>")) {
			if s = quote(s); !slices.Contains(facts, s) {
				facts = append(facts, s)
			}
		}
		for _, list := range required.FindAllStringSubmatch(m.Text, -1) {
			for item := range strings.Lines(list[1]) {
				if item = strings.TrimSpace(strings.TrimPrefix(item, "- ")); !slices.Contains(identifiers, item) {
					identifiers = append(identifiers, item)
				}
			}
		}
	}
	facts = facts[max(0, len(facts)-maxSummarized):]
	names := section.FindAllString(req.System, -1)
	bullets := make([][]string, len(names))
	bullets[0] = facts
	bullets[len(names)-1] = append(bullets[len(names)-1], identifiers...)
	for i, list := range bullets {
		if len(list) == 0 {
			list = []string{"(none)"}
		}
		names[i] += "\n- " + strings.Join(list, "\n- ")
	}
	return strings.Join(names, "\n\n")
}
