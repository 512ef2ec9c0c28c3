package flush_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"kioku/agent/flush"
)

// keep ends the session "talk".
func (w *world) keep(messages ...flush.Message) flush.Kept {
	w.t.Helper()
	kept, err := w.Keep(w.t.Context(), flush.Request{Session: "talk", Messages: messages})
	if err != nil {
		w.t.Fatal(err)
	}
	return kept
}

// left are the sessions that wait for nobody.
func (w *world) left(idle time.Duration) []string {
	w.t.Helper()
	left, err := w.Left(idle)
	if err != nil {
		w.t.Fatal(err)
	}
	return left
}

// Hazard F06: what a session that has ended has not flushed is on disk, and the next process flushes it, with prompts that say that the
// session has ended.
func TestKeepHasTheMessagesOfAnEndedSessionOnDisk(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	talk := said("My cat is Miso.", "Noted.", "My dog is Ken.")
	w.commit(w.begin(talk[:1]...).Lease, "The cat is Miso.")
	if kept := w.keep(talk...); kept.Uncovered != 2 {
		t.Errorf("%+v", kept)
	}
	w.reopen()
	if diff := cmp.Diff([]string{"talk"}, w.left(0)); diff != "" {
		t.Errorf("left (-want +got):\n%s", diff)
	}
	r := w.begin()
	if diff := cmp.Diff([]string{"assistant: Noted.", "user: My dog is Ken."}, shown(r.Messages)); diff != "" || !r.Occasion.Ended {
		t.Errorf("%+v, shown (-want +got):\n%s", r.Occasion, diff)
	}
	w.commit(r.Lease, "The dog is Ken.")
	if left := w.left(0); len(left) > 0 {
		t.Errorf("left after the flush: %q", left)
	}
	if kept := w.keep(talk...); kept.Uncovered != 0 {
		t.Errorf("ended again: %+v", kept)
	}
}

// A session that goes on after its end is not one that has ended.
func TestSessionThatGoesOnHasNotEnded(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.keep(said("My cat is Miso.")...)
	if r := w.begin(said("My cat is Miso.")...); !r.Occasion.Ended {
		t.Error("flushed by its host after its end")
	}
	if r := w.begin(said("My cat is Miso.", "Noted.", "My dog is Ken.")...); r.Occasion.Ended {
		t.Error("with another message")
	}
	if left := w.left(0); len(left) > 0 {
		t.Errorf("left %q", left)
	}
}

// Sessions whose flush was begun and not committed wait for their hosts, until they are idle; after a failure, until the next try.
func TestLeftAreSessionsThatAreIdle(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.begin(said("My cat is Miso.")...)
	w.begin(said("My cat is Miso.")...)
	w.now = w.now.Add(29 * time.Minute)
	if left := w.left(30 * time.Minute); len(left) > 0 {
		t.Errorf("before: %q", left)
	}
	w.now = w.now.Add(time.Minute)
	if left := w.left(30 * time.Minute); !slices.Equal(left, []string{"talk"}) || len(w.left(0)) > 0 {
		t.Errorf("after: %q, never: %q", left, w.left(0))
	}
	w.begin()
	if err := w.Fail(t.Context(), "talk", 0, false); err != nil {
		t.Fatal(err)
	}
	if w.keep(); len(w.left(time.Minute)) > 0 {
		t.Errorf("while the next try is later: %q", w.left(time.Minute))
	}
	w.now = w.now.Add(time.Hour)
	if left := w.left(time.Minute); len(left) != 1 {
		t.Errorf("at the next try: %q", left)
	}
}

// A session of a host that keeps its messages on disk is found if the host ends without a word.
func TestMarkOpenFindsSessionsOfKilledHosts(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for _, session := range []string{"a", "b"} {
		if err := w.MarkOpen(t.Context(), session, true); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.MarkOpen(t.Context(), "b", false); err != nil {
		t.Fatal(err)
	}
	w.reopen()
	if open, err := w.LeftOpen(); err != nil || !slices.Equal(open, []string{"a"}) {
		t.Errorf("%q, %v", open, err)
	}
	kept, err := w.Keep(t.Context(), flush.Request{Session: "a", Messages: said("My cat is Miso."), OnDisk: true})
	if err != nil || kept.Uncovered != 1 || len(w.left(0)) > 0 {
		t.Errorf("ended: %+v, left %q, %v", kept, w.left(0), err)
	}
	if open, _ := w.LeftOpen(); len(open) != 1 {
		t.Errorf("ended without a flush: %q", open)
	}
	w.commit(w.begin(said("My cat is Miso.")...).Lease)
	if _, err = w.Keep(t.Context(), flush.Request{Session: "a", OnDisk: true}); err != nil {
		t.Fatal(err)
	}
	if open, _ := w.LeftOpen(); len(open) != 0 {
		t.Errorf("ended with nothing to flush: %q", open)
	}
}

// The prompts of a flush at the end of a session say so, and do not speak of a compaction.
func TestPromptsAtTheEndOfASession(t *testing.T) {
	t.Parallel()
	ended := flush.Occasion{Ended: true}
	for _, prompt := range []string{flush.SystemPrompt(ended), flush.UserPrompt(ended, noon)} {
		if !strings.Contains(prompt, "has ended") || strings.Contains(prompt, "compact") || !strings.Contains(prompt, flush.NoReply) {
			t.Errorf("%q", prompt)
		}
	}
}
