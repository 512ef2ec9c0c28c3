package llm

import (
	"crypto/rand"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"kioku/internal/modelhttp"
)

var (
	// errDone ends the reading of a stream after the last part of the answer.
	errDone = errors.New("done")

	errClosed  = errors.New("the server closed the connection")
	errNotJSON = errors.New("a part of it is no JSON")
)

// answer collects the parts of an answer and passes them on. It belongs to one goroutine.
type answer struct {
	http  *modelhttp.Client
	texts []string // of the request; no error repeats them
	emit  func(Event)

	text       strings.Builder
	characters int
	calls      []ToolCall
	stop       string
	usage      Usage
}

func newAnswer(http *modelhttp.Client, req Request, emit func(Event)) answer {
	return answer{http: http, texts: textsOf(req), emit: emit}
}

// addText appends to the text.
func (a *answer) addText(text string) {
	if text != "" {
		a.text.WriteString(text)
		a.characters += utf8.RuneCountInString(text)
		a.emit(Event{Text: text})
	}
}

// addToolCall appends a complete tool call. It gets an ID if the server gave it none, which differs from answer to answer so
// that a conversation has no two calls with the same ID.
func (a *answer) addToolCall(id, name, arguments string) {
	if id == "" {
		id = fmt.Sprintf("call_%s_%d", rand.Text()[:10], len(a.calls))
	}
	call := ToolCall{ID: id, Name: name, Input: inputOf(arguments)}
	a.calls = append(a.calls, call)
	a.emit(Event{ToolCall: &call})
}

// progress says how much has come, with a number of tool calls.
func (a *answer) progress(calls int) string {
	if calls > 0 {
		return fmt.Sprintf("%d characters and %d tool calls", a.characters, calls)
	}
	return fmt.Sprintf("%d characters", a.characters)
}

func (a *answer) response() Response {
	return Response{Message: Message{Role: RoleAssistant, Text: a.text.String(), ToolCalls: a.calls}, Stop: a.stop, Usage: a.usage}
}

// broken returns the usage so far and the error of an answer that broke off.
func (a *answer) broken(err error, calls int) (Response, error) {
	return Response{Usage: a.usage}, a.http.Lost(err, a.progress(calls))
}
