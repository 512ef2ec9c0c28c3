package sidecar_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"kioku/agent/flush"
	"kioku/agent/sidecar"
	"kioku/agent/turns"
	"kioku/internal/testkit"
	"kioku/memory"
)

// recorded returns the record of a sidecar, the latest first.
func recorded(t *testing.T, s *sidecar.Sidecar) []turns.Entry {
	t.Helper()
	page, err := s.Turns().List(t.Context(), turns.Query{})
	if err != nil {
		t.Fatal(err)
	}
	return page.Entries
}

// A prompt is recorded with its layers and their tokens, what was recalled with scores, what was left out and why, and cuts; the
// text of a note never is, and a preview is not.
func TestAssembleRecordsTheTurn(t *testing.T) {
	t.Parallel()
	opt := options(t, remembering("The key is in vault 7.", strings.Repeat("Much more about keys. ", 500)))
	opt.Turns.Keep = true
	testkit.WriteFile(t, opt.Bootstrap.Workspace, "USER.md", strings.Repeat("text of USER.md\n", 400))
	s := start(t, opt)
	turn := question
	turn.Session, turn.Budget, turn.Preview = "talk", 600, true
	s.Assemble(t.Context(), turn)
	if n := len(recorded(t, s)); n != 0 {
		t.Errorf("a preview is recorded as %d turns", n)
	}
	turn.Preview = false
	p := s.Assemble(t.Context(), turn)
	all := recorded(t, s)
	if len(all) != 1 {
		t.Fatalf("%d turns", len(all))
	}
	e := all[0]
	if e.Kind != turns.KindPrompt || e.Session != "talk" || e.Channel != "terminal" || e.Model != "echo" || e.Tokens != p.Tokens || e.Budget != 600 ||
		len(e.Layers) != len(p.Layers) || len(e.Cuts) == 0 || len(e.Recall.Out) == 0 || e.Recall.Out[0].Reason == "" || e.Message != "" {
		t.Errorf("%+v\n%+v", e, e.Recall)
	}
	sum := 0
	for _, l := range e.Layers {
		sum += l.Tokens
	}
	if sum != e.Tokens {
		t.Errorf("the layers have %d tokens, the prompt %d", sum, e.Tokens)
	}
	text, err := os.ReadFile(filepath.Join(opt.State, "agents", "main", "turns", "turns.jsonl"))
	if err != nil || strings.Contains(string(text), "vault") || strings.Contains(string(text), "Where is") {
		t.Errorf("%v: the record has text:\n%s", err, text)
	}
}

// Recall alone is recorded too, and a sidecar that may write nothing records nothing.
func TestRecallIsRecorded(t *testing.T) {
	t.Parallel()
	opt := options(t, remembering("The key is in vault 7."))
	opt.Turns.Keep, opt.Turns.Messages = true, true
	s := start(t, opt)
	s.Recall(t.Context(), question)
	all := recorded(t, s)
	if len(all) != 1 || all[0].Kind != turns.KindRecall || all[0].Message != question.Message || len(all[0].Recall.In) != 1 || all[0].Recall.In[0].Score == 0 {
		t.Errorf("%+v", all)
	}
	opt.State, opt.ReadOnly = t.TempDir(), true
	s = start(t, opt)
	s.Recall(t.Context(), question)
	s.Assemble(t.Context(), question)
	if files, err := os.ReadDir(opt.State); err != nil || len(files) > 0 {
		t.Errorf("a read-only sidecar has written %v, %v", files, err)
	}
}

// A flush that an agent commits is recorded with the places of its notes and its session.
func TestCommitIsRecorded(t *testing.T) {
	t.Parallel()
	opt := flushing(t)
	opt.Turns.Keep = true
	s := start(t, opt)
	begun, err := s.Begin(t.Context(), flush.Request{Session: "talk", Messages: talk(40)})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Commit(t.Context(), begun.Lease, flush.Answer{Notes: []flush.Note{{Text: "Ada likes secret tea."}}}); err != nil {
		t.Fatal(err)
	}
	all := recorded(t, s)
	if len(all) != 1 || all[0].Kind != turns.KindFlush || all[0].Session != "talk" || all[0].Flush.Covered == 0 || len(all[0].Flush.Notes) != 1 {
		t.Fatalf("%+v", all)
	}
}

// BenchmarkAssembleRecorded compares turns with and without the record in one run; the record may take a millisecond of a turn.
func BenchmarkAssembleRecorded(b *testing.B) {
	opt := options(b, remembering("The key is in vault 7."))
	plain := start(b, opt)
	opt.State, opt.Turns.Keep = b.TempDir(), true
	opt.Memories = func(string) memory.Service { return remembering("The key is in vault 7.") }
	kept := start(b, opt)
	var without, with time.Duration
	for b.Loop() {
		begin := time.Now()
		plain.Assemble(b.Context(), question)
		middle := time.Now()
		kept.Assemble(b.Context(), question)
		without, with = without+middle.Sub(begin), with+time.Since(middle)
	}
	b.ReportMetric((with-without).Seconds()*1e6/float64(b.N), "record-µs")
}
