package sidecar_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"kioku/agent/compact"
	"kioku/agent/flush"
	"kioku/agent/prune"
	"kioku/agent/session"
	"kioku/agent/sidecar"
	"kioku/internal/testkit"
	"kioku/llm"
	"kioku/llm/echo"
	"kioku/memory"
)

// conversation returns so many messages of a user and an assistant, of about a hundred tokens each.
func conversation(n int) session.View {
	var v session.View
	for i := range n {
		m := llm.Message{Role: llm.RoleUser, Text: fmt.Sprintf("My room number is %d. %s", 1000+i, strings.Repeat("word ", 80))}
		if i%2 == 1 {
			m = llm.Message{Role: llm.RoleAssistant, Text: strings.Repeat("yes ", 100)}
		}
		tokens := llm.MessageTokens(nil, m)
		v.IDs, v.Messages, v.Counts, v.Tokens = append(v.IDs, fmt.Sprintf("%06d", i+1)), append(v.Messages, m), append(v.Counts, tokens), v.Tokens+tokens
	}
	return v
}

func TestPruneTakesTheWindowOfTheModel(t *testing.T) {
	t.Parallel()
	opt := options(t, remembering())
	opt.Prune = prune.Defaults()
	var messages []llm.Message
	for range 5 {
		messages = append(messages, llm.Message{Role: llm.RoleUser, Text: "go on"},
			llm.Message{Role: llm.RoleAssistant, ToolCalls: []llm.ToolCall{{ID: "a", Name: "exec"}}},
			llm.Message{Role: llm.RoleTool, ToolCallID: "a", ToolName: "exec", Text: strings.Repeat("output ", 1000)})
	}
	st := prune.State{LastTouch: noon.Add(-prune.Defaults().TTL)}
	if p := start(t, opt).Prune(messages, st, noon); p.Reason != prune.ReasonNoWindow {
		t.Errorf("without a model: %s", p.Reason)
	}
	opt.Model = &echo.Model{Tokens: 10_000}
	if p := start(t, opt).Prune(messages, st, noon); len(p.New) != 2 || p.New[0].Index != 2 || p.After >= p.Before {
		t.Errorf("%+v", p)
	}
	st.Window = 1_000_000
	if p := start(t, opt).Prune(messages, st, noon); p.Reason != prune.ReasonRoom {
		t.Errorf("with a window of its own: %s", p.Reason)
	}
	st.Window, opt.Prune = 0, prune.Settings{}
	if p := start(t, opt).Prune(messages, st, noon); p.Reason != prune.ReasonOff {
		t.Errorf("without settings: %s", p.Reason)
	}
}

func TestDecideAsksTheModelAndTheLedger(t *testing.T) {
	t.Parallel()
	opt := options(t, remembering())
	opt.Flush, opt.Model = flush.Defaults(), &echo.Model{Tokens: 200_000}
	s := start(t, opt)
	decide := func(s *sidecar.Sidecar, cycle int, st flush.State) (flush.Decision, flush.Progress) {
		t.Helper()
		d, p, err := s.Decide("talk", cycle, st)
		if err != nil {
			t.Fatal(err)
		}
		return d, p
	}
	if d, p := decide(s, 0, flush.State{Projected: 176_000}); !d.Flush || d.Compact || d.FlushAt != 176_000 || d.CompactAt != 180_000 || !p.Begun.IsZero() {
		t.Errorf("%+v, %+v", d, p)
	}
	if d, _ := decide(s, 0, flush.State{Projected: 176_000, Window: 1_000_000}); d.Flush {
		t.Errorf("with a window of its own: %+v", d)
	}
	lease, err := s.Begin(t.Context(), "talk", 0, "me", nil)
	if err != nil {
		t.Fatal(err)
	}
	if d, p := decide(s, 0, flush.State{Projected: 176_000}); !d.Flush || p.Begun.IsZero() || p.Done {
		t.Errorf("begun: %+v, %+v", d, p)
	}
	if err := s.Commit(t.Context(), lease.ID, "me"); err != nil {
		t.Fatal(err)
	}
	// Another process has the same ledger.
	if d, p := decide(start(t, opt), 0, flush.State{Projected: 185_000}); d.Flush || !d.Compact || !p.Done {
		t.Errorf("done: %+v, %+v", d, p)
	}
	if d, p := decide(s, 1, flush.State{Projected: 176_000}); !d.Flush || !p.Begun.IsZero() {
		t.Errorf("the next cycle: %+v, %+v", d, p)
	}
	opt.ReadOnly = true
	if d, _ := decide(start(t, opt), 1, flush.State{Projected: 185_000}); d.Flush || !d.Compact || !strings.Contains(d.Reason, "read-only") {
		t.Errorf("read-only: %+v", d)
	}
}

// Hazard F06: a ledger that cannot be read is an error that somebody sees, and the decision is there all the same.
func TestDecideWithABrokenLedger(t *testing.T) {
	t.Parallel()
	opt := options(t, remembering())
	opt.Flush, opt.Model = flush.Defaults(), &echo.Model{Tokens: 200_000}
	testkit.WriteFile(t, opt.State, "agents/main/flush", "no folder")
	d, _, err := start(t, opt).Decide("talk", 0, flush.State{Projected: 185_000})
	if err == nil || !d.Flush || !d.Compact {
		t.Errorf("%+v, %v", d, err)
	}
}

func TestFlushIsSkippedWithTheReason(t *testing.T) {
	t.Parallel()
	for want, change := range map[string]func(*sidecar.Options){
		"memoryFlush.enabled": func(o *sidecar.Options) { o.Flush = flush.Settings{} },
		"read-only":           func(o *sidecar.Options) { o.ReadOnly = true },
		"llm.provider":        func(o *sidecar.Options) { o.Model = nil },
	} {
		own := remembering()
		opt := options(t, own)
		opt.Flush, opt.Model = flush.Defaults(), &echo.Model{}
		change(&opt)
		s := start(t, opt)
		out := s.Flush(t.Context(), flush.Job{Session: "talk", Holder: "me", Messages: conversation(4).Messages})
		if out.Outcome != session.FlushSkipped || !strings.Contains(out.Reason, want) || len(own.notes) > 0 {
			t.Errorf("%+v, stored %v", out, own.notes)
		}
		if _, p, err := s.Decide("talk", 0, flush.State{}); err != nil || !p.Begun.IsZero() {
			t.Errorf("%+v, %v", p, err)
		}
	}
}

func TestFlushStoresOnceACycle(t *testing.T) {
	t.Parallel()
	own := remembering()
	opt := options(t, own)
	opt.Flush, opt.Model = flush.Defaults(), &echo.Model{}
	s := start(t, opt)
	job := flush.Job{Session: "talk", Holder: "me", System: "You are helpful.", Messages: conversation(1).Messages}
	out := s.Flush(t.Context(), job)
	if out.Outcome != session.FlushDone || len(own.notes) == 0 || len(out.Notes) != len(own.notes) || !strings.Contains(own.notes[0].Text, "1000") || own.notes[0].Source != memory.NoteFromFlush {
		t.Fatalf("%+v, stored %+v", out, own.notes)
	}
	if _, err := os.Stat(filepath.Join(opt.State, "agents", "main", "flush")); err != nil {
		t.Error(err)
	}
	stored := len(own.notes)
	if s.Flush(t.Context(), job); len(own.notes) != stored {
		t.Errorf("a second flush of the cycle stored %+v", own.notes[stored:])
	}
}

func TestCompactForASmallWindow(t *testing.T) {
	t.Parallel()
	opt := options(t, remembering())
	opt.Flush, opt.Model = flush.Defaults(), &echo.Model{Tokens: 200_000}
	s, v := start(t, opt), conversation(64)
	if _, _, err := s.Compact(t.Context(), v, sidecar.Space{}); !errors.Is(err, compact.ErrNothing) {
		t.Errorf("for the window of the model: %v", err)
	}
	for _, keep := range []int{0, 50_000, 300} {
		d, _, err := s.Decide("talk", 0, flush.State{Window: 8000, Projected: v.Tokens})
		if err != nil || !d.Compact {
			t.Fatalf("%+v, %v", d, err)
		}
		c, _, err := s.Compact(t.Context(), v, sidecar.Space{Keep: keep, Window: 8000})
		if err != nil || c.TokensAfter >= d.FlushAt {
			t.Errorf("keeping %d: %d of %d tokens are left, want fewer than %d; %v", keep, c.TokensAfter, v.Tokens, d.FlushAt, err)
		}
	}
}

func TestCompactTakesTheModelAndWhatIsToStay(t *testing.T) {
	t.Parallel()
	opt := options(t, remembering())
	v := conversation(40)
	if _, _, err := start(t, opt).Compact(t.Context(), v, sidecar.Space{}); !errors.Is(err, sidecar.ErrNoModel) || !strings.Contains(err.Error(), "llm.provider") {
		t.Errorf("%v", err)
	}
	opt.Model, opt.KeepRecentTokens = &echo.Model{}, 2000
	for keep, want := range map[int]string{0: "000023", 1000: "000032"} {
		c, used, err := start(t, opt).Compact(t.Context(), v, sidecar.Space{Keep: keep})
		if err != nil || c.FirstKept != want || c.TokensAfter >= c.TokensBefore {
			t.Errorf("keeping %d: %v, first kept %s, %d tokens of %d", keep, err, c.FirstKept, c.TokensAfter, c.TokensBefore)
		}
		if used.Input < 500 || used.Output == 0 {
			t.Errorf("keeping %d: used %+v", keep, used)
		}
	}
	if _, used, err := start(t, opt).Compact(t.Context(), v, sidecar.Space{Keep: 50_000}); used != (llm.Usage{}) || !errors.Is(err, compact.ErrNothing) {
		t.Errorf("%v", err)
	}
}
