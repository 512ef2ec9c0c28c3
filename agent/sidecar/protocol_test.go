package sidecar_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"kioku/agent/flush"
	"kioku/agent/prune"
	"kioku/agent/session"
	"kioku/agent/sidecar"
	"kioku/internal/testkit"
	"kioku/llm/echo"
)

// flushing are the options of an agent that talks to its own model.
func flushing(t *testing.T) sidecar.Options {
	t.Helper()
	opt := options(t, remembering())
	opt.Flush = flush.Defaults()
	return opt
}

// talk returns messages of a session with ids.
func talk(n int) []flush.Message { return sidecar.SessionMessages(conversation(n)) }

// mustCheck checks messages of "talk".
func mustCheck(t *testing.T, s *sidecar.Sidecar, v session.View, st flush.State) sidecar.Check {
	t.Helper()
	c, err := s.Check("talk", v, st)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestCheckAsksTheModelAndTheLedger(t *testing.T) {
	t.Parallel()
	opt := flushing(t)
	opt.Model = &echo.Model{Tokens: 64_000}
	s := start(t, opt)
	if c := mustCheck(t, s, conversation(400), flush.State{}); !c.Flush || c.Compact || c.FlushAt != 40_000 || c.CompactAt != 44_000 || c.Uncovered != 400 {
		t.Errorf("%+v", c)
	}
	if c := mustCheck(t, s, conversation(400), flush.State{Window: 1_000_000}); c.Flush {
		t.Errorf("with a window of its own: %+v", c)
	}
	if c := mustCheck(t, s, conversation(400), flush.State{Projected: 10}); c.Flush {
		t.Errorf("as the provider counts: %+v", c)
	}
	begun, err := s.Begin(t.Context(), flush.Request{Session: "talk", Messages: talk(400)})
	if err != nil {
		t.Fatal(err)
	}
	if c := mustCheck(t, s, conversation(400), flush.State{}); !c.Flush {
		t.Errorf("begun: %+v", c)
	}
	// Another process has the same state.
	other := start(t, opt)
	if c := mustCheck(t, other, conversation(10), flush.State{}); !c.Flush || c.Interrupted != 390 {
		t.Errorf("in a process that has lost its messages: %+v", c)
	}
	if _, err := s.Commit(t.Context(), begun.Lease, flush.Answer{}); err != nil {
		t.Fatal(err)
	}
	if c := mustCheck(t, other, conversation(430), flush.State{}); c.Flush || !c.Compact || c.Uncovered != 30 {
		t.Errorf("committed: %+v", c)
	}
	for what, change := range map[string]func(*sidecar.Options){
		"disabled":  func(o *sidecar.Options) { o.Flush.Enabled = false },
		"read-only": func(o *sidecar.Options) { o.ReadOnly = true },
	} {
		off := opt
		change(&off)
		if c := mustCheck(t, start(t, off), conversation(700), flush.State{}); c.Flush || !c.Compact || !strings.Contains(c.Reason, what) {
			t.Errorf("%s: %+v", what, c)
		}
	}
}

// Hazard F06: a state that cannot be read is an error that somebody sees.
func TestCheckWithABrokenState(t *testing.T) {
	t.Parallel()
	opt := flushing(t)
	testkit.WriteFile(t, opt.State, "agents/main/flush", "no folder")
	if _, err := start(t, opt).Check("talk", conversation(2), flush.State{}); err == nil {
		t.Error("no error")
	}
}

func TestBeginAndCommitRefuseAReadOnlyMemory(t *testing.T) {
	t.Parallel()
	opt := flushing(t)
	begun, err := start(t, opt).Begin(t.Context(), flush.Request{Session: "talk", Messages: talk(1)})
	if err != nil {
		t.Fatal(err)
	}
	opt.ReadOnly = true
	s := start(t, opt)
	_, begin := s.Begin(t.Context(), flush.Request{Session: "talk"})
	_, commit := s.Commit(t.Context(), begun.Lease, flush.Answer{})
	for _, err := range []error{begin, commit} {
		if !errors.Is(err, sidecar.ErrNoFlush) || !strings.Contains(err.Error(), "read-only") {
			t.Errorf("%v", err)
		}
	}
	opt.ReadOnly, opt.Flush = false, flush.Settings{}
	if _, err := start(t, opt).Begin(t.Context(), flush.Request{Session: "talk"}); !errors.Is(err, sidecar.ErrNoFlush) || !strings.Contains(err.Error(), "enabled") {
		t.Errorf("disabled: %v", err)
	}
}

func TestBeginTakesTheClockOfTheSidecar(t *testing.T) {
	t.Parallel()
	opt := flushing(t)
	opt.Prune, opt.Model = prune.Defaults(), &echo.Model{Tokens: 10_000}
	s := start(t, opt)
	begun, err := s.Begin(t.Context(), flush.Request{Session: "talk", Messages: talk(1)})
	if err != nil || !strings.Contains(begun.User, "2026-03-02") || begun.System != flush.SystemPrompt(flush.Occasion{}) || begun.Tool.Name != "memory_append" {
		t.Errorf("%+v, %v", begun, err)
	}
	for age, want := range map[time.Duration]string{0: prune.ReasonCacheFresh, time.Hour: prune.ReasonFewAssistants} {
		if p := s.Prune(conversation(1).Messages, prune.State{LastTouch: noon.Add(-age)}, time.Time{}); p.Reason != want {
			t.Errorf("%v after the last request: %s, want %s", age, p.Reason, want)
		}
	}
}

// A commit whose notes are on disk is continued at the start of the next process.
func TestResumeContinuesACommit(t *testing.T) {
	t.Parallel()
	own := remembering()
	opt := options(t, own)
	opt.Flush = flush.Defaults()
	s := start(t, opt)
	begun, err := s.Begin(t.Context(), flush.Request{Session: "talk", Messages: talk(1)})
	if err != nil {
		t.Fatal(err)
	}
	own.err = errors.New("no space left on device")
	if _, err := s.Commit(t.Context(), begun.Lease, flush.Answer{Notes: []flush.Note{{Text: "The room is 1000."}}}); err == nil {
		t.Fatal("no error")
	}
	own.err = nil
	for _, readOnly := range []bool{true, false} {
		opt.ReadOnly = readOnly
		if err := start(t, opt).Resume(t.Context(), ""); err != nil || (len(own.notes) == 1) == readOnly {
			t.Errorf("read-only %v: %v, stored %v", readOnly, err, own.notes)
		}
	}
	if c := mustCheck(t, s, conversation(1), flush.State{}); c.Uncovered > 0 {
		t.Errorf("%+v", c)
	}
}
