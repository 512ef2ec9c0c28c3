package llm

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/google/go-cmp/cmp"

	"kioku/internal/modelhttp"
)

func events(t *testing.T, r io.Reader, read func(io.Reader, func([]byte) error) error) []string {
	t.Helper()
	var all []string
	if err := read(r, func(data []byte) error { all = append(all, string(data)); return nil }); err != nil {
		t.Fatal(err)
	}
	return all
}

func TestReadSSEFollowsTheStandard(t *testing.T) {
	t.Parallel()
	for stream, want := range map[string][]string{
		"data: a\n\ndata: b\n\n":                {"a", "b"},
		"data: a\ndata: b\n\n":                  {"a\nb"},
		"data:a\r\n\r\ndata:  b\r\n\r\n":        {"a", " b"},
		": comment\n\nevent: ping\n\nid: 1\n\n": nil,
		"event: x\ndata: a\nretry: 5\n\n":       {"a"},
		"data\ndata: a\n\n\n\n":                 {"a"},
		"data: a":                               {"a"},
		"":                                      nil,
	} {
		t.Run(stream, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(want, events(t, strings.NewReader(stream), readSSE)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestReadSSERefusesALongLine(t *testing.T) {
	t.Parallel()
	long := io.MultiReader(strings.NewReader("data: "), bytes.NewReader(bytes.Repeat([]byte("x"), maxLine+1)))
	if err := readSSE(long, func([]byte) error { t.Error("told"); return nil }); err == nil {
		t.Error("no error")
	}
}

func FuzzReadSSEDoesNotDependOnTheReads(f *testing.F) {
	for _, s := range []string{"data: お茶\n\n", "data: a\r\ndata: b\r\n\r\n", ": c\n\ndata:\n\n", "data: x", "\r\r\n\n", "event: e\ndata: 🍵\n"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, stream []byte) {
		for _, read := range []func(io.Reader, func([]byte) error) error{readSSE, readNDJSON} {
			whole := events(t, bytes.NewReader(stream), read)
			if diff := cmp.Diff(whole, events(t, iotest.OneByteReader(bytes.NewReader(stream)), read)); diff != "" {
				t.Error(diff)
			}
			for _, e := range whole {
				if e == "" || !bytes.Contains(stream, []byte(strings.Split(e, "\n")[0])) {
					t.Errorf("%q is not of the stream", e)
				}
			}
		}
	})
}

func FuzzStreamIsAnAnswerOrAnError(f *testing.F) {
	for _, s := range []string{
		`{"choices":[{"delta":{"content":"a"},"finish_reason":"stop"}]}`,
		`{"choices":[{"delta":{"tool_calls":[{"index":-1,"id":"","function":{"name":"n","arguments":"{"}}]},"finish_reason":"length"}]}`,
		`{"error":{"code":429}}`, `{"error":"x"}`, `[DONE]`, `null`, `{"choices":null,"usage":null}`,
		`{"message":{"content":"a","tool_calls":[{"function":{"name":"n","arguments":null}}]},"done":true}`, `{"done":true,"done_reason":5}`,
	} {
		f.Add([]byte("data: " + s + "\n\n" + s + "\n"))
	}
	f.Fuzz(func(t *testing.T, stream []byte) {
		said := ""
		emit := func(e Event) { said += e.Text }
		http := modelhttp.New(modelhttp.Config{Provider: "test", KeyHint: "the key"})
		c := &completion{answer: newAnswer(http, Request{}, emit)}
		resp, err := c.finish(readSSE(bytes.NewReader(stream), c.handleChunk))
		checkAnswer(t, resp, err, said)
		said = ""
		o := &ollamaAnswer{answer: newAnswer(http, Request{}, emit)}
		resp, err = o.finish(readNDJSON(bytes.NewReader(stream), o.handleLine))
		checkAnswer(t, resp, err, said)
	})
}

// FuzzAnthropicStream answers with foreign events: each stream is an answer or an error, whatever the order of its events.
func FuzzAnthropicStream(f *testing.F) {
	const start = `{"type":"message_start","message":{"id":"m","role":"assistant","content":[],"usage":{"input_tokens":1}}}`
	for _, s := range []string{
		start, `{"type":"content_block_start","index":0,"content_block":{"type":"text","text":"a"}}`, `{"type":"content_block_stop","index":7}`,
		`{"type":"content_block_start","index":-1,"content_block":{"type":"tool_use","id":"","name":"n","input":{}}}`,
		`{"type":"content_block_delta","index":3,"delta":{"type":"input_json_delta","partial_json":"{"}}`, `{"type":"message_stop"}`,
		`{"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":-1}}`, `{"type":"error","error":{"type":"overloaded_error"}}`, `null`, `{`,
	} {
		f.Add("data: " + s + "\n\n")
		f.Add("data: " + start + "\n\ndata: " + `{"type":"content_block_start","index":0,"content_block":{"type":"tool_use","id":"1","name":"n","input":{}}}` + "\n\ndata: " + s + "\n\n")
	}
	f.Fuzz(func(t *testing.T, stream string) {
		p, err := newAnthropic(Config{Provider: "anthropic", Model: "m", APIKey: "k", Now: time.Now, Transport: canned(stream)})
		if err != nil {
			t.Fatal(err)
		}
		said := ""
		emit := func(e Event) { said += e.Text }
		resp, err := p.generate(t.Context(), Request{Messages: []Message{{Role: RoleUser, Text: "hello"}}}, noSchema, emit)
		checkAnswer(t, resp, err, said)
	})
}

// canned is a server that answers every request with the same events.
type canned string

func (c canned) RoundTrip(*http.Request) (*http.Response, error) {
	return &http.Response{StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {"text/event-stream"}}, Body: io.NopCloser(strings.NewReader(string(c)))}, nil
}

func checkAnswer(t *testing.T, resp Response, err error, said string) {
	t.Helper()
	if err != nil {
		if _, ok := errors.AsType[*modelhttp.Error](err); !ok || resp.Message.Text != "" || resp.Message.ToolCalls != nil {
			t.Errorf("%v beside %+v", err, resp)
		}
		return
	}
	if resp.Message.Text != said || resp.Stop == "" {
		t.Errorf("said %q, answered %+v", said, resp)
	}
	for _, call := range resp.Message.ToolCalls {
		if call.ID == "" || !json.Valid(call.Input) {
			t.Errorf("call %+v", call)
		}
	}
}
