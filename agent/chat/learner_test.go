package chat_test

import (
	"context"
	"fmt"
	"regexp"
	"strings"

	"kioku/llm"
)

// word returns a name for a number, which is no identifier.
func word(n int) string {
	name := "zq"
	for _, digit := range fmt.Sprintf("%03d", n) {
		name += string('a' + digit - '0')
	}
	return name + "zq"
}

// words matches names that word returns.
var words = regexp.MustCompile(`zq[a-j]+zq`)

// learner is a model that takes at most most tokens and stores each word that it is shown in a flush as a note.
type learner struct {
	// most is the size in tokens above which it refuses a request, as it counts: factor times as many as Kioku.
	most   int
	factor float64
	// window is what it says about its window; 0 means unknown.
	window int
	// fault is asked before each request, and may answer in place of the model; nil for none.
	fault func(kind string, shown []string) (*llm.Response, error)

	// usage says that it reports the size of a request.
	usage bool

	refused int
	// seen are the words that it was shown in a flush that it has answered.
	seen map[string]bool
}

// Kinds of requests.
const (
	askFlush   = "flush"
	askSummary = "summary"
	askReply   = "reply"
)

func (m *learner) Name() string { return "learner" }
func (m *learner) Window() int  { return m.window }

func (m *learner) Generate(ctx context.Context, req llm.Request, stream func(llm.Event)) (llm.Response, error) {
	size := float64(llm.RequestTokens(req))
	if m.factor > 0 {
		size *= m.factor
	}
	if int(size) > m.most {
		m.refused++
		return llm.Response{}, &llm.Error{Kind: llm.KindOverflow, Message: "the prompt is too long"}
	}
	kind, shown := kindOf(req)
	if m.fault != nil {
		if resp, err := m.fault(kind, shown); resp != nil || err != nil {
			if err == nil {
				m.see(shown)
				return *resp, nil
			}
			return llm.Response{}, err
		}
	}
	text := map[string]string{askFlush: "NO_REPLY", askSummary: "They spoke of many things, one after the other, and of nothing else that anybody would need to know later on.", askReply: "fine"}[kind]
	resp := llm.Response{Message: llm.Message{Role: llm.RoleAssistant, Text: text}, Stop: llm.StopEnd}
	for i, w := range shown {
		call := remember("The item " + w + ".").Response.Message.ToolCalls[0]
		call.ID = fmt.Sprint(i)
		resp.Message.ToolCalls = append(resp.Message.ToolCalls, call)
	}
	m.see(shown)
	if m.usage {
		resp.Usage = llm.Usage{Input: int(size), Output: 1}
	}
	if stream != nil && kind == askReply {
		stream(llm.Event{Text: text})
	}
	return resp, ctx.Err()
}

func (m *learner) see(shown []string) {
	if m.seen == nil {
		m.seen = map[string]bool{}
	}
	for _, w := range shown {
		m.seen[w] = true
	}
}

// kindOf returns the kind of a request and the words of a flush that no note was made of.
func kindOf(req llm.Request) (kind string, shown []string) {
	last := len(req.Messages) - 1
	switch {
	case strings.HasPrefix(req.System, "You summarise"):
		return askSummary, nil
	case req.Messages[last].Role == llm.RoleTool && strings.Contains(req.System, "## Saving memories"):
		return askFlush, nil
	case !strings.Contains(req.Messages[last].Text, "NO_REPLY"):
		return askReply, nil
	}
	known := map[string]bool{}
	for _, m := range req.Messages[:last] {
		for _, w := range words.FindAllString(m.Text, -1) {
			if m.Role == llm.RoleUser && !known[w] {
				known[w] = true
				shown = append(shown, w)
			}
		}
	}
	return askFlush, shown
}
