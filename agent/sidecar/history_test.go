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
		out := s.Flush(t.Context(), flush.Job{Request: flush.Request{Session: "talk", Messages: talk(4)}})
		if out.Outcome != session.FlushSkipped || !strings.Contains(out.Reason, want) || len(own.notes) > 0 {
			t.Errorf("%+v, stored %v", out, own.notes)
		}
		if c, err := s.Check("talk", conversation(4), flush.State{}); err != nil || c.Uncovered != 4 {
			t.Errorf("%+v, %v", c, err)
		}
	}
}

func TestFlushStoresOnce(t *testing.T) {
	t.Parallel()
	own := remembering()
	opt := options(t, own)
	opt.Flush, opt.Model = flush.Defaults(), &echo.Model{}
	s := start(t, opt)
	job := flush.Job{Request: flush.Request{Session: "talk", Messages: talk(1)}, System: "You are helpful."}
	out := s.Flush(t.Context(), job)
	if out.Outcome != session.FlushDone || len(own.notes) == 0 || len(out.Notes) != len(own.notes) || !strings.Contains(own.notes[0].Text, "1000") || own.notes[0].Source != memory.NoteFromFlush {
		t.Fatalf("%+v, stored %+v", out, own.notes)
	}
	if _, err := os.Stat(filepath.Join(opt.State, "agents", "main", "flush")); err != nil {
		t.Error(err)
	}
	stored := len(own.notes)
	if s.Flush(t.Context(), job); len(own.notes) != stored {
		t.Errorf("a second flush stored %+v", own.notes[stored:])
	}
}

func TestCompactForASmallWindow(t *testing.T) {
	t.Parallel()
	opt := options(t, remembering())
	opt.Flush, opt.Model = flush.Defaults(), &echo.Model{Tokens: 200_000}
	s, v := start(t, opt), conversation(64)
	if _, _, err := s.Compact(t.Context(), "", v, sidecar.Space{}); !errors.Is(err, compact.ErrNothing) {
		t.Errorf("for the window of the model: %v", err)
	}
	for _, keep := range []int{0, 50_000, 300} {
		d, err := s.Check("talk", conversation(64), flush.State{Window: 8000})
		if err != nil || !d.Compact {
			t.Fatalf("%+v, %v", d, err)
		}
		c, _, err := s.Compact(t.Context(), "", v, sidecar.Space{Keep: keep, Window: 8000})
		if err != nil || c.TokensAfter >= d.FlushAt {
			t.Errorf("keeping %d: %d of %d tokens are left, want fewer than %d; %v", keep, c.TokensAfter, v.Tokens, d.FlushAt, err)
		}
	}
}

func TestCompactTakesTheModelAndWhatIsToStay(t *testing.T) {
	t.Parallel()
	opt := options(t, remembering())
	v := conversation(40)
	if _, _, err := start(t, opt).Compact(t.Context(), "", v, sidecar.Space{}); !errors.Is(err, sidecar.ErrNoModel) || !strings.Contains(err.Error(), "llm.provider") {
		t.Errorf("%v", err)
	}
	opt.Model, opt.Flush.KeepTokens = &echo.Model{}, 2000
	for keep, want := range map[int]string{0: "000023", 1000: "000032"} {
		c, used, err := start(t, opt).Compact(t.Context(), "", v, sidecar.Space{Keep: keep})
		if err != nil || c.FirstKept != want || c.TokensAfter >= c.TokensBefore {
			t.Errorf("keeping %d: %v, first kept %s, %d tokens of %d", keep, err, c.FirstKept, c.TokensAfter, c.TokensBefore)
		}
		if used.Input < 500 || used.Output == 0 {
			t.Errorf("keeping %d: used %+v", keep, used)
		}
	}
	if _, used, err := start(t, opt).Compact(t.Context(), "", v, sidecar.Space{Keep: 50_000}); used != (llm.Usage{}) || !errors.Is(err, compact.ErrNothing) {
		t.Errorf("%v", err)
	}
}

// Hazard F06: a compaction of a session drops only what is covered, also the summary of an earlier one.
func TestCompactDropsOnlyWhatIsCovered(t *testing.T) {
	t.Parallel()
	opt := options(t, remembering())
	opt.Flush, opt.Model = flush.Defaults(), &echo.Model{Tokens: 8000}
	s, v := start(t, opt), conversation(60)
	_, used, err := s.Compact(t.Context(), "talk", v, sidecar.Space{})
	if uncovered, ok := errors.AsType[*sidecar.UncoveredError](err); !ok || uncovered.Count != 60 || used != (llm.Usage{}) {
		t.Errorf("nothing is covered: %v, used %+v", err, used)
	}
	begun, err := s.Begin(t.Context(), flush.Request{Session: "talk", Messages: sidecar.SessionMessages(v)[:21]})
	if err == nil {
		_, err = s.Commit(t.Context(), begun.Lease, flush.Answer{})
	}
	if err != nil || begun.Uncovered > 0 {
		t.Fatalf("%+v, %v", begun, err)
	}
	made, _, err := s.Compact(t.Context(), "talk", v, sidecar.Space{})
	if err != nil || made.FirstKept != "000022" {
		t.Errorf("21 are covered: %+v, %v", made, err)
	}
	v.Messages[0], v.Compactions = session.SummaryMessage(made.Summary), 1
	v.IDs[0] = "compaction"
	if made, _, err = s.Compact(t.Context(), "talk", v, sidecar.Space{}); err != nil || made.FirstKept != "000022" {
		t.Errorf("with a summary: %+v, %v", made, err)
	}
}
