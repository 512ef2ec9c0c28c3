package sidecar_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"kioku/agent/flush"
	"kioku/agent/prune"
	"kioku/agent/sidecar"
	"kioku/llm/echo"
)

// flushing are the options of an agent that talks to its own model.
func flushing(t *testing.T) sidecar.Options {
	t.Helper()
	opt := options(t, remembering())
	opt.Flush = flush.Defaults()
	return opt
}

// mustBegin begins the flush of a cycle of "talk".
func mustBegin(t *testing.T, s *sidecar.Sidecar, cycle int) sidecar.Begun {
	t.Helper()
	begun, err := s.Begin(t.Context(), "talk", cycle, "me", nil)
	if err != nil {
		t.Fatal(err)
	}
	return begun
}

// mustCheck checks a cycle of "talk".
func mustCheck(t *testing.T, s *sidecar.Sidecar, cycle int) sidecar.Check {
	t.Helper()
	c, err := s.Check("talk", cycle, flush.State{Overflow: true})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestCheckTellsWhatBeginResumes(t *testing.T) {
	t.Parallel()
	opt := flushing(t)
	s := start(t, opt)
	want := func(s *sidecar.Sidecar, what string, unfinished bool) {
		t.Helper()
		if c := mustCheck(t, s, 0); c.Unfinished != unfinished || !c.Compact {
			t.Errorf("%s: %+v", what, c)
		}
	}
	want(s, "never begun", false)
	for attempt := range opt.Flush.Attempts {
		begun := mustBegin(t, s, 0)
		want(s, "begun", true)
		if _, err := s.Abort(t.Context(), begun.ID, "me", "no network"); err != nil {
			t.Fatal(err)
		}
		want(s, "aborted", false)
		if next := mustCheck(t, s, 0).NextCycle; (next == 1) != (attempt == opt.Flush.Attempts-1) {
			t.Errorf("after %d attempts the next cycle is %d", attempt+1, next)
		}
	}
	begun := mustBegin(t, s, 1)
	if c := mustCheck(t, s, 1); !c.Unfinished || c.NextCycle != 1 {
		t.Errorf("begun: %+v", c)
	}
	for what, change := range map[string]func(*sidecar.Options){
		"disabled":  func(o *sidecar.Options) { o.Flush.Enabled = false },
		"read-only": func(o *sidecar.Options) { o.ReadOnly = true },
	} {
		other := opt
		change(&other)
		if c := mustCheck(t, start(t, other), 1); c.Unfinished || c.Flush || !c.Compact {
			t.Errorf("%s: %+v", what, c)
		}
	}
	if err := s.Commit(t.Context(), begun.ID, "me"); err != nil {
		t.Fatal(err)
	}
	if c := mustCheck(t, s, 1); c.Unfinished || c.Flush || c.NextCycle != 2 {
		t.Errorf("committed: %+v", c)
	}
}

func TestBeginAndCommitRefuseAReadOnlyMemory(t *testing.T) {
	t.Parallel()
	opt := flushing(t)
	begun := mustBegin(t, start(t, opt), 0)
	opt.ReadOnly = true
	s := start(t, opt)
	_, err := s.Begin(t.Context(), "talk", 1, "me", nil)
	_, abort := s.Abort(t.Context(), begun.ID, "me", "")
	for _, err := range []error{err, s.Commit(t.Context(), begun.ID, "me"), abort} {
		if !errors.Is(err, sidecar.ErrNoFlush) || !strings.Contains(err.Error(), "read-only") {
			t.Errorf("%v", err)
		}
	}
	opt.ReadOnly, opt.Flush = false, flush.Settings{}
	if _, err := start(t, opt).Begin(t.Context(), "talk", 1, "me", nil); !errors.Is(err, sidecar.ErrNoFlush) || !strings.Contains(err.Error(), "enabled") {
		t.Errorf("disabled: %v", err)
	}
}

func TestBeginTakesTheClockOfTheSidecar(t *testing.T) {
	t.Parallel()
	opt := flushing(t)
	opt.Prune, opt.Model = prune.Defaults(), &echo.Model{Tokens: 10_000}
	s := start(t, opt)
	if begun := mustBegin(t, s, 0); !strings.Contains(begun.User, "2026-03-02") || begun.System != flush.SystemPrompt() {
		t.Errorf("%+v", begun)
	}
	for age, want := range map[time.Duration]string{0: prune.ReasonCacheFresh, time.Hour: prune.ReasonFewAssistants} {
		if p := s.Prune(conversation(1).Messages, prune.State{LastTouch: noon.Add(-age)}, time.Time{}); p.Reason != want {
			t.Errorf("%v after the last request: %s, want %s", age, p.Reason, want)
		}
	}
}
