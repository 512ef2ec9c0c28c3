package llm

import (
	"crypto/rand"
	"encoding/json"
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
	begun      int  // tool calls, also those that are not complete yet
	done       bool // nothing follows
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
	call := ToolCall{ID: id, Name: name}
	call.Input, call.Fault = inputOf(arguments)
	a.calls = append(a.calls, call)
	a.begun = max(a.begun, len(a.calls))
	a.emit(Event{ToolCall: &call})
}

// markCutCall marks the last call of an answer that has reached its maximum length, unless the call is complete. A call
// whose arguments had not begun looks like one without arguments.
func (a *answer) markCutCall() {
	if n := len(a.calls); n > 0 && (a.calls[n-1].Fault != "" || string(a.calls[n-1].Input) == "{}") {
		a.calls[n-1].Fault = FaultCutOff
	}
}

// progress says how much has come.
func (a *answer) progress() string {
	if a.begun > 0 {
		return fmt.Sprintf("%d characters and %d tool calls", a.characters, a.begun)
	}
	return fmt.Sprintf("%d characters", a.characters)
}

// interrupted returns the error that a server reports within its answer.
func (a *answer) interrupted(report json.RawMessage) error {
	var e struct {
		Type string `json:"type"`
		Code any    `json:"code"`
	}
	code := ""
	if json.Unmarshal(report, &e) == nil {
		code = e.Type
	}
	switch e.Code.(type) {
	case float64, string:
		code = fmt.Sprint(e.Code)
	}
	return a.http.Interrupted(code, report, a.texts, a.progress())
}

// finish returns the answer, or the usage so far if it broke off. err is why the reading stopped.
func (a *answer) finish(err error) (Response, error) {
	if err == nil && !a.done {
		err = errClosed
	}
	if err != nil && !errors.Is(err, errDone) {
		return Response{Usage: a.usage}, a.http.Lost(err, a.progress())
	}
	if a.stop == StopLength {
		a.markCutCall()
	}
	return Response{Message: Message{Role: RoleAssistant, Text: a.text.String(), ToolCalls: a.calls}, Stop: a.stop, Usage: a.usage}, nil
}
