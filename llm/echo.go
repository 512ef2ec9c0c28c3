package llm

import (
	"context"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"unicode"
)

// Tools that Echo knows how to call.
const (
	appendTool = "memory_append"
	searchTool = "memory_search"
)

// noReply is the answer of a turn that has nothing to say to the user. A message that asks for it is one that asks to store
// what is worth keeping.
const noReply = "NO_REPLY"

// Echo is a scripted model that needs no network, for demonstrations and tests. The same request always has the same answer.
// It answers in English, Japanese or Chinese, as it is spoken to:
//
//   - "remember ...", "...を覚えて" and "记住..." call memory_append, "search ...", "...を検索" and "搜索..." memory_search, where
//     these tools are offered; the answer after it tells the result.
//   - A message that contains NO_REPLY, where memory_append is offered, stores what users have stated before it and what is
//     not stored yet, several facts in a note where there are many, and then answers NO_REPLY. A fact is a sentence of some
//     length in which users speak of themselves or name something ("My cat, Rex, lives in Xiamen.", "我的猫叫豆豆。",
//     "私の猫の名前は豆です。"), with the sentences that go on with it ("It is called Rex."). Questions, commands and small talk
//     are none.
//   - A request for a summary, without tools or with sections in the last message, is answered with the sections that it
//     names and with the literal identifiers.
//   - A request with a schema is answered with the smallest value that fits it.
//   - Otherwise it quotes the first recalled memory of the system prompt with its source, or says that there is none.
type Echo struct {
	// Tokens is the window, 0 means 200,000. A longer prompt is refused as an overflow.
	Tokens int
}

// Name implements Model.
func (e *Echo) Name() string { return "echo" }

// Window implements Model.
func (e *Echo) Window() int {
	if e.Tokens > 0 {
		return e.Tokens
	}
	return 200_000
}

// Generate implements Model. Text is streamed word by word.
func (e *Echo) Generate(ctx context.Context, req Request, stream func(Event)) (Response, error) {
	prompt := estimateRequest(req)
	if prompt > e.Window() {
		return Response{}, &Error{Kind: KindOverflow, final: true,
			Message: fmt.Sprintf("echo: the prompt is too long: about %d tokens for a window of %d", prompt, e.Window())}
	}
	resp := Response{Message: e.answer(req), Stop: StopEnd}
	if len(resp.Message.ToolCalls) > 0 {
		resp.Stop = StopTools
	}
	resp.Usage = Usage{Input: prompt, Output: estimateMessage(resp.Message)}
	for _, word := range words(resp.Message.Text) {
		if ctx.Err() != nil {
			return Response{Usage: resp.Usage}, fmt.Errorf("ask echo: %w", context.Cause(ctx))
		}
		if stream != nil {
			stream(Event{Text: word})
		}
	}
	for _, call := range resp.Message.ToolCalls {
		if stream != nil {
			stream(Event{ToolCall: &call})
		}
	}
	return resp, nil
}

// answer returns what Echo says to req.
func (e *Echo) answer(req Request) Message {
	last := lastUser(req.Messages)
	said, results := "", req.Messages[last+1:]
	if last >= 0 {
		said = strings.TrimSpace(req.Messages[last].Text)
	}
	switch {
	case req.Schema != nil:
		return text(string(smallest(req.Schema)))
	case strings.Contains(said, noReply) && offers(req, appendTool):
		return flush(req.Messages[:last], results)
	case asksForSummary(req, said):
		return text(summarize(req))
	case len(results) > 0:
		return text(tellResults(language(said), results))
	}
	if call, ok := wish(req, said); ok {
		call.ID = fmt.Sprintf("echo_%d_0", len(req.Messages))
		return Message{Role: RoleAssistant, ToolCalls: []ToolCall{call}}
	}
	return text(recall(req.System, said))
}

func text(s string) Message {
	return Message{Role: RoleAssistant, Text: strings.ToValidUTF8(s, string(unicode.ReplacementChar))}
}

// lastUser returns the index of the last message of a user, -1 if there is none.
func lastUser(messages []Message) int {
	for i := len(messages) - 1; i >= 0; i-- {
		if messages[i].Role == RoleUser {
			return i
		}
	}
	return -1
}

func offers(req Request, tool string) bool {
	for _, t := range req.Tools {
		if t.Name == tool {
			return true
		}
	}
	return false
}

// What a user says to have something stored or searched, with the matter in a group.
var (
	remembering = regexp.MustCompile(`(?is)^(?:please\s+)?remember\s*(?:that\b|[:：])?\s*(.+)$|^(.+?)(?:を|と|って)?(?:覚えて|おぼえて)(?:おいて)?(?:ください|ね)?[。!！]?$|^(?:覚えて|おぼえて)(?:おいて)?(?:ください|ね)?[:：、,，]\s*(.+)$|^(?:请|請)?(?:你)?(?:记住|記住|记得)[:：,，、]?\s*(.+)$`)
	searching   = regexp.MustCompile(`(?is)^(?:please\s+)?search\s+(?:for\s+)?(.+)$|^(.+?)を?検索(?:して)?(?:ください)?[。]?$|^検索[:：\s]\s*(.+)$|^(?:请)?(?:搜索|查找)[:：\s]*(.+)$`)
)

// wish returns the call of a tool that a user's message asks for.
func wish(req Request, said string) (ToolCall, bool) {
	if matter := group(remembering, said); matter != "" && offers(req, appendTool) {
		return toolCall(appendTool, "text", matter), true
	}
	if matter := group(searching, said); matter != "" && offers(req, searchTool) {
		return toolCall(searchTool, "query", matter), true
	}
	return ToolCall{}, false
}

func toolCall(tool, parameter, value string) ToolCall {
	input, _ := json.Marshal(map[string]string{parameter: value}) // strings always have a JSON form
	return ToolCall{Name: tool, Input: input}
}

// group returns the group of re that matches s, trimmed, or "".
func group(re *regexp.Regexp, s string) string {
	for i, g := range re.FindStringSubmatch(s) {
		if i > 0 && strings.TrimSpace(g) != "" {
			return strings.TrimSpace(g)
		}
	}
	return ""
}

// words cuts a text into what is streamed at a time: words with the space after them, and single characters of scripts
// without spaces. Together they are the text.
func words(s string) []string {
	var all []string
	begin := 0
	for i, r := range s {
		end := i + len(string(r))
		if unicode.IsSpace(r) || r >= 0x2E80 {
			all = append(all, s[begin:end])
			begin = end
		}
	}
	if begin < len(s) {
		all = append(all, s[begin:])
	}
	return all
}
