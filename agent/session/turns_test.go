package session_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"kioku/agent/prune"
	"kioku/agent/session"
	"kioku/llm"
)

// exchange appends a message of the user with a block, and an answer with what it has used, and returns the id of the message.
func exchange(t *testing.T, s *session.Session, text, block string, at time.Time, used *llm.Usage) string {
	t.Helper()
	put := func(e session.Entry) string {
		e.Time = at
		kept, err := s.Append(e)
		if err != nil {
			t.Fatal(err)
		}
		return kept.ID
	}
	id := put(session.Entry{Kind: session.KindMessage, Message: &llm.Message{Role: llm.RoleUser, Text: text}})
	put(session.Entry{Kind: session.KindTurn, Turn: &session.Turn{Message: id, Text: block, Shown: []string{"of " + text}}})
	put(session.Entry{Kind: session.KindMessage, Message: &llm.Message{Role: llm.RoleAssistant, Text: "answer to " + text}, Usage: used})
	return id
}

// What a message is sent with is no message: it is sent byte by byte the same after a restart, until a prune or a compaction takes
// it away, and it is never what was said.
func TestTurnsAreSentUntilTheyEnd(t *testing.T) {
	t.Parallel()
	folder, noon := t.TempDir(), time.Date(2026, 3, 2, 12, 0, 0, 0, time.UTC)
	open := func() *session.Session {
		t.Helper()
		s, _, err := session.Open(folder, "s", session.Options{})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { s.Close() })
		return s
	}
	s := open()
	bare := s.View().Tokens
	exchange(t, s, "one", "It is noon.", noon, nil)
	exchange(t, s, "two", "It is one.", noon, nil)
	third := exchange(t, s, "three", "It is two.", noon, nil)
	before := s.View()
	s.Close()
	s = open()
	v := s.View()
	if diff := cmp.Diff(before.Sent(), v.Sent()); diff != "" || v.Tokens != before.Tokens || v.Tokens <= bare {
		t.Errorf("after a restart: %d and %d tokens, %s", before.Tokens, v.Tokens, diff)
	}
	if m := v.Sent(); len(m) != 6 || m[0].Turn != "It is noon." || m[2].Turn != "It is one." || m[4].Turn != "It is two." || v.Messages[0].Turn != "" {
		t.Errorf("sent %+v", m)
	}
	if diff := cmp.Diff([]string{"of one", "of three", "of two"}, v.Shown()); diff != "" {
		t.Error(diff)
	}
	if _, err := s.Append(v.PruneEntry([]prune.Edit{}, []int{0})); err != nil {
		t.Fatal(err)
	}
	if m := s.View(); m.Sent()[0].Turn != "" || m.Sent()[2].Turn != "It is one." || m.Tokens >= v.Tokens || len(m.Edits) > 0 {
		t.Errorf("after an end: %d of %d tokens, %+v", m.Tokens, v.Tokens, m.Sent())
	}
	if _, err := s.Append(session.Entry{Kind: session.KindCompaction, Compaction: &session.Compaction{Summary: "They spoke.", FirstKept: third}}); err != nil {
		t.Fatal(err)
	}
	m := s.View()
	if got := m.Sent(); len(got) != 3 || got[0].Turn != "" || got[1].Turn != "It is two." || len(m.Shown()) != 1 {
		t.Errorf("after a compaction: %+v", got)
	}
	sum := 0
	for _, n := range m.Counts {
		sum += n
	}
	if sum != m.Tokens {
		t.Errorf("counts of %d, tokens %d", sum, m.Tokens)
	}
	if text, _ := session.Spoken([]byte(`{"id":"1","kind":"turn","turn":{"message":"0","text":"It is noon."}}`)); text != "" {
		t.Errorf("indexed as said: %q", text)
	}
}

// Usage of the answers says what was cached: two answers in sequence without any cache mean that there is none, and a pause after
// which most of the prompt was read means that it lasts so long.
func TestCacheIsWhatTheUsageOfAnswersSays(t *testing.T) {
	t.Parallel()
	noon := time.Date(2026, 3, 2, 12, 0, 0, 0, time.UTC)
	s, _, err := session.Open(t.TempDir(), "s", session.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for i, c := range []struct {
		minutes  int
		used     *llm.Usage
		uncached bool
		lasted   time.Duration
	}{
		{0, &llm.Usage{Input: 100, CacheWrite: 900, CacheKnown: true}, false, 0},
		{4, &llm.Usage{Input: 100, CacheRead: 900, CacheKnown: true}, false, 4 * time.Minute},
		{24, &llm.Usage{Input: 900, CacheRead: 100, CacheKnown: true}, false, 4 * time.Minute}, // only the system prompt, for another conversation
		{44, &llm.Usage{Input: 100, CacheRead: 900, CacheKnown: true}, false, 20 * time.Minute},
		{45, &llm.Usage{Input: 1000, CacheKnown: true}, false, 20 * time.Minute},
		{46, &llm.Usage{Input: 1000, CacheKnown: true}, true, 20 * time.Minute},
		{47, &llm.Usage{Input: 1000}, false, 20 * time.Minute}, // another provider, which does not say
		{48, nil, false, 20 * time.Minute},
	} {
		exchange(t, s, "question", "", noon.Add(time.Duration(c.minutes)*time.Minute), c.used)
		if st := s.View().PruneState(8000); st.Uncached != c.uncached || st.Lasted != c.lasted {
			t.Errorf("answer %d: %+v", i, st)
		}
	}
	if used := s.View().Cache.Used; used.CacheRead != 1900 || used.CacheWrite != 900 || !used.CacheKnown {
		t.Errorf("%+v", used)
	}
}
