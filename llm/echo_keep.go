package llm

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// summaryOf begins a message with the summary of what was said before, which holds nothing new.
const summaryOf = "Summary of the conversation"

// aside is a message that is all in brackets or parentheses: a remark of the program, which no user has made.
var aside = regexp.MustCompile(`^(?:\[[^\]]*\]|\([^)]*\))$`)

// maxNotes bounds how many notes one turn stores; more facts than that share notes.
const maxNotes = 16

// stating finds sentences that state what is worth keeping in any case: wishes to remember, decisions, and facts about the
// speaker.
var stating = regexp.MustCompile(`(?i)\bremember\b|\bdecided?\b|\bdecision\b|\bmy\s+.+\b(is|are|was)\b|\b(i|we)\s+(prefer|always|never|agreed)\b|\bour\s+.+\b(is|are)\b|` +
	`覚えて|おぼえて|決め|決定|決まり|(私|僕|俺|わたし|うち)の.+は|` +
	`记住|記住|记得|决定|決定|(我|我们|我們)的.+是`)

// sentence cuts a message into lines and sentences.
var sentence = regexp.MustCompile(`[^\n。!?！？.]+(?:[.](?:\S[^\n。!?！？.]*)?)*[。!?！？.]*`)

// flush stores the facts in a conversation that are in no call yet, and says NO_REPLY when there is none. results are the
// messages after the request to do so.
func flush(conversation, results []Message) Message {
	if len(results) > 0 {
		return text(noReply)
	}
	m := Message{Role: RoleAssistant}
	facts := newFacts(conversation)
	for group := range slices.Chunk(facts, max(1, (len(facts)+maxNotes-1)/maxNotes)) {
		call := toolCall(appendTool, "text", strings.Join(group, "\n"))
		call.ID = fmt.Sprintf("echo_%d_%d", len(conversation), len(m.ToolCalls))
		m.ToolCalls = append(m.ToolCalls, call)
	}
	if len(m.ToolCalls) == 0 {
		return text(noReply)
	}
	return m
}

// newFacts returns what users have stated and no call of memory_append holds.
func newFacts(conversation []Message) []string {
	stored := storedIn(conversation)
	var facts []string
	for _, m := range conversation {
		if m.Role != RoleUser || strings.Contains(m.Text, noReply) || strings.HasPrefix(m.Text, summaryOf) || aside.MatchString(m.Text) {
			continue
		}
		for _, fact := range statements(m.Text) {
			if !strings.Contains(stored, fact) && !slices.Contains(facts, fact) {
				facts = append(facts, fact)
			}
		}
	}
	return facts
}

// storedIn returns the texts that calls of memory_append hold, but for those that have failed.
func storedIn(conversation []Message) string {
	failed := map[string]bool{}
	for _, m := range conversation {
		if m.Role == RoleTool && m.Failed {
			failed[m.ToolCallID] = true
		}
	}
	var all strings.Builder
	for _, m := range conversation {
		for _, c := range m.ToolCalls {
			var input struct{ Text string }
			if c.Name == appendTool && !failed[c.ID] && json.Unmarshal(c.Input, &input) == nil {
				all.WriteString(input.Text + "\n")
			}
		}
	}
	return all.String()
}

// statements returns the sentences of a user's message that state something. One that goes on with the statement before it,
// as "It is called Rex." does, is part of that.
func statements(said string) []string {
	var facts []string
	follows := false
	for _, s := range sentence.FindAllString(said, -1) {
		if s = strings.TrimSpace(s); s == "" {
			continue
		}
		states, alone := declares(s)
		switch {
		case isQuestion(s):
			follows = false
		case states && follows && referring.MatchString(s):
			facts[len(facts)-1] += gap(s) + s
		case alone || stating.MatchString(s):
			facts, follows = append(facts, matterOf(s)), true
		default:
			follows = false
		}
	}
	return facts
}

// matterOf returns what a sentence wants to have remembered, or all of it where it wishes for nothing.
func matterOf(s string) string {
	if matter := group(remembering, s); matter != "" {
		return matter
	}
	return s
}

// gap is what stands before a sentence that follows another.
func gap(s string) string {
	if language(s) == english {
		return " "
	}
	return ""
}
