package derivetest_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"kioku/derive/derivetest"
	"kioku/llm"
)

// ask returns a request of a purpose with a text.
func ask(purpose, text string) llm.Request {
	return llm.Request{System: "Task: " + purpose + "\n\nDo it.", Messages: []llm.Message{{Role: llm.RoleUser, Text: text}}, MaxTokens: 50}
}

func TestServerAnswersAsScripted(t *testing.T) {
	t.Parallel()
	s := derivetest.New(t, `
-- other --
purpose: loops

{"loops": []}
-- first --
purpose: facts
match: Porto
match: 住んで
tokens: 70 9

{"facts": ["a \"quote\"", "次"]}
-- long --
stop: length

{"facts": [
-- no --
stop: refusal

I would rather not.
`)
	m := s.Model()
	var got []llm.Response
	for _, req := range []llm.Request{ask("facts", "Porto に住んでいる"), ask("loops", "x"), ask("facts", "y"), ask("facts", "z")} {
		resp, err := m.Generate(t.Context(), req, nil)
		if err != nil {
			t.Fatal(err)
		}
		resp.Usage.CacheKnown = false
		got = append(got, resp)
	}
	say := func(text, stop string, in, out int) llm.Response {
		return llm.Response{Message: llm.Message{Role: llm.RoleAssistant, Text: text}, Stop: stop, Usage: llm.Usage{Input: in, Output: out}}
	}
	want := []llm.Response{say(`{"facts": ["a \"quote\"", "次"]}`, llm.StopEnd, 70, 9), say(`{"loops": []}`, llm.StopEnd, 100, 20),
		say(`{"facts": [`, llm.StopLength, 100, 20), say("I would rather not.", llm.StopRefusal, 100, 20)}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	var steps []string
	for _, r := range s.Requests() {
		steps = append(steps, r.Purpose+" "+r.Step+" "+r.User)
		if !strings.HasPrefix(r.System, "Task: ") || !strings.Contains(r.Body, "Do it.") {
			t.Errorf("recorded %+v", r)
		}
	}
	if diff := cmp.Diff([]string{"facts first Porto に住んでいる", "loops other x", "facts long y", "facts no z"}, steps); diff != "" {
		t.Error(diff)
	}
}

func TestServerFailsAsScripted(t *testing.T) {
	t.Parallel()
	s := derivetest.New(t, `
-- slow --
status: 429
header: Retry-After: 7

{"error": {"message": "slow down"}}
-- key --
status: 401

{"error": {"message": "who are you"}}
-- broken --
cut: true

{"facts": []}
`)
	m := s.Model()
	var got []string
	for range 3 {
		_, err := m.Generate(t.Context(), ask("facts", "x"), nil)
		kind, after := llm.KindOf(err), time.Duration(0)
		if e, ok := errors.AsType[*llm.Error](err); ok {
			after = e.RetryAfter
		}
		got = append(got, kind+" "+after.String())
	}
	want := []string{llm.KindRateLimit + " 7s", llm.KindAuth + " 0s", llm.KindUnavailable + " 0s"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// recorder is a test that may fail.
type recorder struct {
	testing.TB
	said     []string
	cleanups []func()
}

func (r *recorder) Errorf(format string, args ...any) {
	r.said = append(r.said, fmt.Sprintf(format, args...))
}
func (r *recorder) Cleanup(f func()) { r.cleanups = append(r.cleanups, f) }

func TestServerReportsUnexpectedAndMissingRequests(t *testing.T) {
	t.Parallel()
	r := &recorder{TB: t}
	s := derivetest.New(r, "-- one --\npurpose: facts\ntimes: 2\n\n{}\n-- any --\npurpose: loops\ntimes: *\n\n{}\n")
	m := s.Model()
	for _, purpose := range []string{"facts", "summary", "loops", "loops"} {
		_, err := m.Generate(t.Context(), ask(purpose, "text"), nil)
		if (err != nil) != (purpose == "summary") {
			t.Errorf("%s: %v", purpose, err)
		}
	}
	for _, f := range r.cleanups {
		f()
	}
	want := []string{`an unexpected request for "summary": text`, "the model was not asked for step one, 1 times"}
	if diff := cmp.Diff(want, r.said); diff != "" {
		t.Error(diff)
	}
}

func TestParseRefusesAScriptThatMakesNoSense(t *testing.T) {
	t.Parallel()
	for script, says := range map[string]string{
		"{}":                            "each below a line -- name --",
		"-- a --\nmach: x\n\n{}":        "step a: mach: there is no such field",
		"-- a --\n{}\n":                 `step a: "{}" is no field; a blank line ends the fields`,
		"-- a --\nstatus: many\n\n{}\n": "step a: status:",
	} {
		if _, err := derivetest.Parse(script, t.Errorf); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%q: %v", script, err)
		}
	}
}
