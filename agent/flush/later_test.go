package flush_test

import (
	"context"
	"errors"
	"os"
	"strings"
	"testing"

	"kioku/agent/flush"
	"kioku/agent/session"
	"kioku/llm"
	"kioku/llm/llmtest"
	"kioku/memory"

	"github.com/google/go-cmp/cmp"
)

// errBroken is a failure that costs an attempt.
var errBroken = errors.New("no space left")

func TestRunContinuesAFailedFlush(t *testing.T) {
	t.Parallel()
	down := 1
	notes := &store{fail: func(n memory.Note) error {
		if n.Text == "two" && down > 0 {
			down--
			return errBroken
		}
		return nil
	}}
	r, model := runner(t, notes, save("one", "two"), llmtest.Fail(llm.KindInput), save("three"), llmtest.Say("NO_REPLY"))
	for i := range 2 {
		if out := r.Run(t.Context(), job()); out.Outcome != session.FlushFailed || out.Later || len(model.Requests()) != i+1 {
			t.Errorf("%d: %+v after %d requests", i, out, len(model.Requests()))
		}
	}
	out := r.Run(t.Context(), job())
	if diff := cmp.Diff([]string{"one", "two", "three"}, notes.texts()); diff != "" || out.Outcome != session.FlushDone || len(out.Notes) != 3 {
		t.Errorf("%s\n%+v", diff, out)
	}
	if n := len(model.Requests()); n != 4 {
		t.Errorf("%d requests", n)
	}
	if got, _ := r.Ledger.Progress("s", 0); got.Failed != 2 || !got.Done {
		t.Errorf("%+v", got)
	}
}

func TestRunGivesUpAfterItsAttemptsUnlessForced(t *testing.T) {
	t.Parallel()
	r, model := runner(t, &store{}, save("one"), llmtest.Fail(llm.KindInput), llmtest.Fail(llm.KindAnswer), llmtest.Fail(llm.KindInput),
		llmtest.Fail(llm.KindInput), llmtest.Say(""))
	for range 3 {
		if out := r.Run(t.Context(), job()); out.Outcome != session.FlushFailed || !strings.Contains(out.Reason, "scripted") || len(out.Notes) != 1 {
			t.Errorf("%+v", out)
		}
	}
	out := r.Run(t.Context(), job())
	if out.Outcome != session.FlushFailed || !strings.Contains(out.Reason, flush.ErrExhausted.Error()) || out.Later || len(model.Requests()) != 4 {
		t.Errorf("%+v", out)
	}
	if k, err := r.Ledger.Progress("s", 0); err != nil || !k.Unfinished() || k.Left != 0 {
		t.Errorf("%+v, %v", k, err)
	}
	forced := job()
	forced.Forced = true
	for _, want := range []string{session.FlushFailed, session.FlushDone} {
		if out := r.Run(t.Context(), forced); out.Outcome != want {
			t.Errorf("%+v", out)
		}
	}
}

// Hazard F06: what the flush has no part in costs no attempt, and anybody can continue it at once.
func TestRunCountsNoAttemptForWhatIsAway(t *testing.T) {
	t.Parallel()
	var cause error
	notes := &store{fail: func(memory.Note) error { return cause }}
	r, model := runner(t, notes)
	for _, kind := range []string{llm.KindUnavailable, llm.KindRateLimit, llm.KindAuth, llm.KindBudget} {
		model.Steps = append(model.Steps, llmtest.Fail(kind))
		if out := r.Run(t.Context(), job()); out.Outcome != session.FlushFailed || !out.Later || !strings.Contains(out.Reason, kind) {
			t.Errorf("%s: %+v", kind, out)
		}
	}
	model.Steps = append(model.Steps, save("one"))
	for _, cause = range []error{memory.ErrUnreachable, memory.ErrBusy, context.DeadlineExceeded, memory.ErrReadOnly, memory.ErrDenied} {
		if out := r.Run(t.Context(), job()); out.Outcome == session.FlushDone || !out.Later || !strings.Contains(out.Reason, cause.Error()) {
			t.Errorf("%v: %+v", cause, out)
		}
	}
	if got, err := r.Ledger.Progress("s", 0); err != nil || got.Failed != 0 || got.Done || len(model.Requests()) != 5 {
		t.Errorf("%+v, %v, %d requests", got, err, len(model.Requests()))
	}
	cause, model.Steps = nil, append(model.Steps, llmtest.Say("NO_REPLY"))
	other := job()
	other.Holder = "b"
	if out := r.Run(t.Context(), other); out.Outcome != session.FlushDone || len(notes.notes) != 1 {
		t.Errorf("%+v, %v", out, notes.texts())
	}
}

// Who continues a flush later asks the model about the messages of then.
func TestRunContinuesWithTheMessagesOfTheSpool(t *testing.T) {
	t.Parallel()
	r, model := runner(t, &store{}, llmtest.Fail(llm.KindUnavailable), llmtest.Say("NO_REPLY"))
	first := job()
	first.Through = "m2"
	r.Run(t.Context(), first)
	kept, err := r.Ledger.List(func(session string) bool { return session == "s" })
	if err != nil || len(kept) != 1 || kept[0].Through != "m2" || kept[0].Left != 3 || kept[0].Done {
		t.Fatalf("%+v, %v", kept, err)
	}
	if data, err := os.ReadFile(kept[0].Spool); err != nil || !strings.Contains(string(data), "in May") {
		t.Errorf("%s, %v", data, err)
	}
	later := job()
	later.Messages = []llm.Message{{Role: llm.RoleUser, Text: "Something else."}}
	if out := r.Run(t.Context(), later); out.Outcome != session.FlushDone || out.Through != "m2" {
		t.Errorf("%+v", out)
	}
	if diff := cmp.Diff(first.Messages, model.Requests()[1].Messages[:2]); diff != "" {
		t.Error(diff)
	}
	if _, err := os.Stat(kept[0].Spool); !os.IsNotExist(err) {
		t.Errorf("the spool of a flush that is done: %v", err)
	}
	kept, err = r.Ledger.List(func(string) bool { return true })
	if err != nil || len(kept) != 1 || !kept[0].Done || kept[0].Spool != "" {
		t.Errorf("%+v, %v", kept, err)
	}
	if none, err := r.Ledger.List(func(string) bool { return false }); err != nil || len(none) != 0 {
		t.Errorf("of others: %+v, %v", none, err)
	}
}
