// Package echo is a scripted model that needs no network, for demonstrations and tests.
package echo

import (
	"context"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"kioku/internal/text"
	"kioku/llm"
)

// The tools that a Model calls.
const (
	appendTool = "memory_append"
	searchTool = "memory_search"
)

// noReply is the answer of a turn with nothing to say to the user. A message with this word asks to store what is worth
// keeping.
const noReply = "NO_REPLY"

// Model is a scripted llm.Model. The same request always has the same answer:
//
//   - To a message with the word NO_REPLY it calls memory_append with each sentence of the users that is not a question and
//     not stored yet, and then answers NO_REPLY.
//
//   - To a request without tools for a summary with sections it answers with the sections of the prompt, the latest
//     sentences and the required identifiers.
//
//   - To "remember ..." it calls memory_append and to "search ..." memory_search, and then tells the result.
//
//   - To any other message it answers with the first memory that was recalled for it, in what it is sent with or in the system
//     prompt, and its source; without one, with the line of MEMORY.md in the system prompt that shares most words with it.
//
//   - As a member of a council it counts the risky and the careful words of the task in English, Japanese and Chinese and compares them
//     with its parameters. A line of the task says otherwise: "echo: panda=approve gorilla=reject triceratops=silent", where * is any
//     member, arbiter is the arbiter after the last round, and the words are approve, changes, reject and silent.
//
// It calls only tools that the request offers, and ignores schemas that are not a council's. The zero value is ready to use.
type Model struct {
	// Tokens is the window in tokens; 0 means 200,000. A longer prompt is refused as an overflow.
	Tokens int
}

// Name implements llm.Model.
func (m *Model) Name() string { return "echo" }

// Window implements llm.Model.
func (m *Model) Window() int {
	if m.Tokens > 0 {
		return m.Tokens
	}
	return 200_000
}

// Generate implements llm.Model. It streams text word by word.
func (m *Model) Generate(ctx context.Context, req llm.Request, stream func(llm.Event)) (llm.Response, error) {
	prompt := llm.RequestTokens(req)
	if prompt > m.Window() {
		return llm.Response{}, &llm.Error{Kind: llm.KindOverflow,
			Message: fmt.Sprintf("echo: the prompt is too long: about %d tokens for a window of %d", prompt, m.Window())}
	}
	resp := llm.Response{Message: answer(req), Stop: llm.StopEnd}
	if len(resp.Message.ToolCalls) > 0 {
		resp.Stop = llm.StopTools
	}
	resp.Usage = llm.Usage{Input: prompt, Output: llm.MessageTokens(nil, resp.Message)}
	if stream == nil {
		stream = func(llm.Event) {}
	}
	for event := range resp.Message.Events() {
		if ctx.Err() != nil {
			return llm.Response{Usage: resp.Usage}, fmt.Errorf("ask echo: %w", context.Cause(ctx))
		}
		stream(event)
	}
	return resp, nil
}

func answer(req llm.Request) llm.Message {
	last := len(req.Messages) - 1
	for last > 0 && req.Messages[last].Role != llm.RoleUser {
		last--
	}
	if last < 0 {
		return say(noReply)
	}
	message, results := strings.TrimSpace(author.ReplaceAllString(req.Messages[last].Text, "")), req.Messages[last+1:]
	if reply, ok := councilAnswer(req); ok {
		return say(reply)
	}
	tool, argument := command(message)
	flush := strings.Contains(message, noReply) && offers(req, appendTool)
	switch {
	case flush && len(results) > 0:
		return say(noReply)
	case flush:
		return store(req.Messages[:last])
	case len(req.Tools) == 0 && summaryRequest.MatchString(req.System) && section.MatchString(req.System):
		return say(summarize(req))
	case len(results) > 0:
		return say(describeResults(results))
	case tool != "" && offers(req, tool):
		return llm.Message{Role: llm.RoleAssistant, ToolCalls: []llm.ToolCall{toolCall(req.Messages, 0, tool, argument)}}
	}
	if source, memory := firstRecalled(req, last); memory != "" {
		return say(fmt.Sprintf("I recall from %s: %s", source, quote(memory)))
	}
	if line := standing(req.System, message); line != "" {
		return say("I recall from MEMORY.md: " + quote(line))
	}
	return say("I recall nothing about that. You said: " + message)
}

// author is the name that stands before a message in a group.
var author = regexp.MustCompile(`^\[[^\[\]\n]{1,200}\] `)

func say(s string) llm.Message {
	return llm.Message{Role: llm.RoleAssistant, Text: strings.ToValidUTF8(s, "\ufffd")}
}

func offers(req llm.Request, tool string) bool {
	return slices.ContainsFunc(req.Tools, func(t llm.Tool) bool { return t.Name == tool })
}

// toolCall returns the nth call in the answer to messages.
func toolCall(messages []llm.Message, n int, tool, argument string) llm.ToolCall {
	parameter := map[string]string{appendTool: "text", searchTool: "query"}[tool]
	input, _ := json.Marshal(map[string]string{parameter: argument}) // strings always have a JSON form
	return llm.ToolCall{ID: fmt.Sprintf("echo_%d_%d", len(messages), n), Name: tool, Input: input}
}

// commands match what a user writes to have something stored or searched for, by the tool that does it.
var commands = map[string]*regexp.Regexp{
	appendTool: regexp.MustCompile(`(?is)^(?:(?:please )?remember(?: that)?|覚えて|记住)[\s:：、，]+(.+)$`),
	searchTool: regexp.MustCompile(`(?is)^(?:search(?: for)?|検索|搜索)[\s:：]+(.+)$`),
}

// command returns the tool that a message names and its argument, or "" and the message if it names none.
func command(message string) (tool, argument string) {
	for tool, pattern := range commands {
		if m := pattern.FindStringSubmatch(strings.TrimSpace(message)); m != nil {
			return tool, m[1]
		}
	}
	return "", message
}

// firstRecalled returns the first memory that the message with index last is sent with, or that is in the system prompt. Its
// text may be with an earlier message.
func firstRecalled(req llm.Request, last int) (source, memory string) {
	for i := last; i >= 0; i-- {
		text := req.Messages[i].Turn
		if i == last {
			text += "\n" + req.System
		}
		if source, memory = recalledFrom(text, source); source == "" || memory != "" && !strings.HasPrefix(memory, shownAbove) {
			return source, memory
		}
	}
	return source, memory
}

// shownAbove begins the text of a memory whose own text is with an earlier message.
const shownAbove = "(the text is above"

// recalledFrom returns the first memory in a frame, which has one JSON object a line; if source is not empty, the one from there.
func recalledFrom(text, source string) (from, memory string) {
	_, frame, _ := strings.Cut(text, "<recalled-memories id=")
	for line := range strings.Lines(frame) {
		var item struct{ Source, Text string }
		if json.Unmarshal([]byte(line), &item) == nil && item.Text != "" && item.Source != "" && (source == "" || item.Source == source) {
			return item.Source, item.Text
		}
	}
	return source, ""
}

// describeResults returns an answer from the results of tools.
func describeResults(results []llm.Message) string {
	var lines []string
	for _, m := range results {
		if m.Role == llm.RoleTool {
			lines = append(lines, describeResult(m))
		}
	}
	return strings.Join(lines, "\n")
}

func describeResult(m llm.Message) string {
	var out struct {
		Path    string
		Results []struct{ Citation, Snippet string }
	}
	isJSON := json.Unmarshal([]byte(m.Text), &out) == nil
	switch {
	case m.Failed:
		return fmt.Sprintf("The tool %s failed: %s", m.ToolName, quote(m.Text))
	case isJSON && m.ToolName == appendTool:
		return fmt.Sprintf("I have remembered it in %s.", out.Path)
	case isJSON && m.ToolName == searchTool && len(out.Results) == 0:
		return "I found nothing about that."
	case isJSON && m.ToolName == searchTool:
		return fmt.Sprintf("I found in %s: %s", out.Results[0].Citation, quote(out.Results[0].Snippet))
	}
	return fmt.Sprintf("The tool %s answers: %s", m.ToolName, quote(m.Text))
}

// maxQuote is the maximum number of characters that an answer quotes.
const maxQuote = 300

// quote returns s on one line of at most maxQuote characters.
func quote(s string) string { return text.Shorten(text.OneLine(s), maxQuote) }
