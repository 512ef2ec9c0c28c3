package sidecar_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"kioku/agent/compact"
	"kioku/agent/flush"
	"kioku/agent/session"
	"kioku/agent/sidecar"
	"kioku/llm"
	"kioku/llm/echo"
	"kioku/memory"
)

// spoken returns messages of a user who says a fact and an assistant.
func spoken() []flush.Message {
	return []flush.Message{
		{ID: "fact", Message: llm.Message{Role: llm.RoleUser, Text: "My train leaves from platform 9."}},
		{ID: "answer", Message: llm.Message{Role: llm.RoleAssistant, Text: "Noted."}},
	}
}

// stored returns the notes so far.
func (m *notes) stored() []memory.Note {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Clone(m.notes)
}

// endOf is the end of the session "talk".
func endOf(list []flush.Message) flush.Job {
	return flush.Job{Request: flush.Request{Session: "talk", Messages: list}}
}

// Ends of sessions: with a model what was said is stored; without one it is kept on disk, and a later start with a model stores it. If
// nothing was said, or if it is off, nothing is done.
func TestEndStoresOrKeepsWhatWasSaid(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		opt := flushing(t)
		opt.Now = time.Now
		own := opt.Memories("main").(*notes)
		s := start(t, opt)
		if out := s.End(t.Context(), endOf(spoken())); out.Outcome != session.FlushKept || out.Uncovered != 2 || !strings.Contains(out.Reason, "llm.provider") {
			t.Errorf("without a model: %+v", out)
		}
		opt.Model = &echo.Model{Tokens: 64_000}
		s = start(t, opt)
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error)
		go func() { done <- s.Tend(ctx) }()
		synctest.Wait()
		if len(own.stored()) != 1 || own.stored()[0].Text != "My train leaves from platform 9." || own.stored()[0].Source != memory.NoteFromFlush {
			t.Errorf("a later start stores %+v", own.stored())
		}
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
		if out := s.End(t.Context(), endOf(spoken())); out.Outcome != session.FlushDone || out.Ranges != 0 {
			t.Errorf("nothing was said since: %+v", out)
		}
		more := append(spoken(), flush.Message{ID: "more", Message: spoken()[0].Message})
		more[2].Text = "My shoes are red."
		if out := s.End(t.Context(), endOf(more)); out.Outcome != session.FlushDone || len(own.stored()) != 2 {
			t.Errorf("with a model: %+v, %d notes", out, len(own.stored()))
		}
		opt.Flush.OnEnd = false
		more[2].ID = "again"
		if out := start(t, opt).End(t.Context(), endOf(more)); out.Outcome != session.FlushSkipped || !strings.Contains(out.Reason, "onEnd") {
			t.Errorf("off: %+v", out)
		}
	})
}

// An idle time flushes: what a client has begun and not committed, or what the server has spooled for it, is stored by the model.
func TestTendStoresIdleSessions(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		opt := flushing(t)
		opt.Now, opt.Model = time.Now, &echo.Model{Tokens: 64_000}
		own := opt.Memories("main").(*notes)
		s := start(t, opt)
		if _, err := s.Begin(t.Context(), flush.Request{Session: "begun", Messages: spoken()}); err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error)
		go func() { done <- s.Tend(ctx) }()
		time.Sleep(29 * time.Minute)
		if len(own.stored()) > 0 {
			t.Errorf("before it is idle: %+v", own.stored())
		}
		time.Sleep(2 * time.Minute)
		if len(own.stored()) != 1 {
			t.Errorf("after it is idle: %+v", own.stored())
		}
		list := spoken()
		list[0].Text = "My shoes are red."
		if err := s.Spool(t.Context(), []flush.Request{{Session: "spooled", Messages: list}}); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Minute)
		if len(own.stored()) != 2 {
			t.Errorf("spooled: %+v", own.stored())
		}
		cancel()
		<-done
	})
}

// BeginCompact and CommitCompact do what Compact does, with a model that somebody else asks: they return the same summary for the same
// answers, and drop covered messages only.
func TestCommitCompactReturnsWhatCompactDoes(t *testing.T) {
	t.Parallel()
	opt := flushing(t)
	s := start(t, opt)
	v := conversation(400)
	space := sidecar.Space{Window: 8000}
	if _, err := s.BeginCompact("talk", v, space); !errors.As(err, new(*sidecar.UncoveredError)) {
		t.Errorf("nothing is covered: %v", err)
	}
	step, err := s.BeginCompact("", v, space)
	if err != nil || step.Number != 1 || !strings.Contains(step.Request.System, "summarise") {
		t.Fatalf("%+v, %v", step, err)
	}
	first := step
	asked := 0
	for ; !step.Done; asked++ {
		if step, err = s.CommitCompact(first.Lease, step.Number, compact.Answer{Text: fmt.Sprintf("## Decisions\nThey spoke of many things, one after the other, and of nothing that anybody would need to know later on: part %d.", asked)}); err != nil {
			t.Fatal(err)
		}
	}
	if asked < 2 || step.Made.Summary == "" || step.Made.TokensAfter >= step.Made.TokensBefore {
		t.Errorf("%d questions: %+v", asked, step.Made)
	}
	again, err := s.CommitCompact(first.Lease, step.Number, compact.Answer{Text: "other"})
	if err != nil || again.Made != step.Made {
		t.Errorf("the same call again: %+v, %v", again.Made, err)
	}
	if _, err := s.CommitCompact(first.Lease, 1, compact.Answer{}); !errors.Is(err, sidecar.ErrStep) {
		t.Errorf("an old question: %v", err)
	}
	if _, err := s.CommitCompact("compact-x", 0, compact.Answer{}); !errors.Is(err, sidecar.ErrNoCompaction) {
		t.Errorf("an unknown lease: %v", err)
	}
}

// A response that was lost is returned again, and the answer counts once. Two useless answers refuse the summary, and history is kept.
func TestCommitCompactAgainCountsOnce(t *testing.T) {
	t.Parallel()
	s := start(t, flushing(t))
	step, err := s.BeginCompact("", conversation(400), sidecar.Space{Window: 64_000, Keep: 100})
	if err != nil {
		t.Fatal(err)
	}
	one, err := s.CommitCompact(step.Lease, 1, compact.Answer{})
	if err != nil || one.Number != 2 {
		t.Fatalf("an empty answer: %+v, %v", one, err)
	}
	if two, err := s.CommitCompact(step.Lease, 1, compact.Answer{}); err != nil || two.Number != 2 {
		t.Errorf("the same again: %+v, %v", two, err)
	}
	for range 2 {
		if _, err = s.CommitCompact(step.Lease, 2, compact.Answer{}); !errors.Is(err, compact.ErrRefused) {
			t.Errorf("a second empty answer: %v", err)
		}
	}
}

// Compactions under way have a budget for their messages: the oldest ends for a new one. One that has ended takes nothing of it, and its
// result is returned again.
func TestCompactionsUnderWayAreBounded(t *testing.T) {
	t.Parallel()
	s := start(t, flushing(t))
	v := conversation(400)
	size := int64(0)
	for _, m := range v.Messages {
		size += int64(len(m.Text))
	}
	s.SetLeaseBytes(2*size + size/2)
	begin := func() sidecar.Step {
		step, err := s.BeginCompact("", v, sidecar.Space{Window: 64_000, Keep: 100})
		if err != nil {
			t.Fatal(err)
		}
		return step
	}
	ended := begin()
	done := ended
	for !done.Done {
		var err error
		if done, err = s.CommitCompact(ended.Lease, 0, compact.Answer{Text: "## Decisions\nThey spoke of the harbour, the boats, the weather there and the long road home, and decided nothing."}); err != nil {
			t.Fatal(err)
		}
	}
	running := []sidecar.Step{begin(), begin()}
	if again, err := s.CommitCompact(ended.Lease, 0, compact.Answer{}); err != nil || again.Made != done.Made {
		t.Errorf("the one that has ended: %+v, %v", again.Made, err)
	}
	running = append(running, begin())
	for i, want := range []error{sidecar.ErrNoCompaction, nil, nil} {
		if _, err := s.CommitCompact(running[i].Lease, 1, compact.Answer{Text: "## Decisions\nThey spoke of the harbour, the boats, the weather there and the long road home, and decided nothing."}); !errors.Is(err, want) {
			t.Errorf("compaction %d: %v, want %v", i, err, want)
		}
	}
}
