package session_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sync/errgroup"

	"kioku/agent/prune"
	"kioku/agent/session"
	"kioku/llm"
	"kioku/memory"
)

var noon = time.Date(2026, 5, 4, 12, 0, 0, 0, time.UTC)

// clock is a clock that goes on by a second each time it is read.
func clock() func() time.Time {
	now := noon
	return func() time.Time {
		now = now.Add(time.Second)
		return now
	}
}

// open opens a session and fails the test if something is amiss with the transcript.
func open(t *testing.T, folder, id string) *session.Session {
	t.Helper()
	s, report, err := session.Open(folder, id, session.Options{Now: clock(), Count: utf8.RuneCountInString})
	if err != nil {
		t.Fatal(err)
	}
	if len(report.Bad) > 0 || report.Torn > 0 {
		t.Fatalf("report %+v", report)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

// say appends a message and returns its id.
func say(t *testing.T, s *session.Session, m llm.Message) string {
	t.Helper()
	e, err := s.Append(session.Entry{Kind: session.KindMessage, Message: &m})
	if err != nil {
		t.Fatal(err)
	}
	return e.ID
}

func user(text string) llm.Message { return llm.Message{Role: llm.RoleUser, Text: text} }
func answer(text string) llm.Message {
	return llm.Message{Role: llm.RoleAssistant, Text: text}
}
func calls(ids ...string) llm.Message {
	m := llm.Message{Role: llm.RoleAssistant}
	for _, id := range ids {
		m.ToolCalls = append(m.ToolCalls, llm.ToolCall{ID: id, Name: "exec", Input: []byte(`{"q":1}`)})
	}
	return m
}
func result(id, text string) llm.Message {
	return llm.Message{Role: llm.RoleTool, ToolCallID: id, ToolName: "exec", Text: text}
}

func TestOpenAgainSendsTheSame(t *testing.T) {
	t.Parallel()
	folder := filepath.Join(t.TempDir(), "sessions")
	s := open(t, folder, "a")
	for _, m := range []llm.Message{
		user("日本語 <tag> & \u2028 \xff bad"), calls("1", "2"), result("2", strings.Repeat("x", 5000)), result("1", "ok"), answer("done"),
		{Role: llm.RoleUser, Images: []llm.Image{{MediaType: "image/png", Data: []byte{1, 2}}}},
	} {
		say(t, s, m)
	}
	edit := prune.Edit{Index: 2, CallID: "2", Text: "short"}
	if _, err := s.Append(s.View().PruneEntry([]prune.Edit{edit}, nil)); err != nil {
		t.Fatal(err)
	}
	want, size := s.View(), s.Size()
	s.Close()
	again := open(t, folder, "a")
	if diff := cmp.Diff(want, again.View()); diff != "" {
		t.Error(diff)
	}
	if again.Size() != size || size != want.Bytes {
		t.Errorf("sizes %d, %d and %d", size, again.Size(), want.Bytes)
	}
	if diff := cmp.Diff([]prune.Edit{edit}, want.Edits); diff != "" {
		t.Error(diff)
	}
	if id := say(t, again, user("next")); id != "000008" {
		t.Errorf("the eighth line has the id %s", id)
	}
}

func TestAppendCountsTokensOnce(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	counted := 0
	opt := session.Options{Count: func(text string) int { counted += len(text); return len(text) }}
	s, _, err := session.Open(folder, "a", opt)
	if err != nil {
		t.Fatal(err)
	}
	for range 100 {
		say(t, s, user("0123456789"))
		s.View()
	}
	if counted != 1000 {
		t.Errorf("%d bytes were counted for 100 messages of 10", counted)
	}
	if v := s.View(); v.Tokens != 1400 || len(v.Counts) != 100 || v.Counts[7] != 14 {
		t.Errorf("%d tokens, counts %v", v.Tokens, v.Counts)
	}
	s.Close()
	if s, _, err = session.Open(folder, "a", opt); err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if s.View().Tokens != 1400 || counted != 1000 {
		t.Errorf("reopening counted %d bytes to %d tokens", counted, s.View().Tokens)
	}
}

func TestViewAfterACompaction(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	s := open(t, folder, "a")
	say(t, s, user("old"))
	say(t, s, calls("1"))
	gone := say(t, s, result("1", "long"))
	say(t, s, answer("old answer"))
	kept := say(t, s, user("new"))
	before := s.View()
	if _, err := s.Append(before.PruneEntry([]prune.Edit{{Index: 2, CallID: "1", Text: "-"}}, nil)); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Append(session.Entry{Kind: session.KindFlush, Flush: &session.Flush{Outcome: session.FlushDone}}); err != nil {
		t.Fatal(err)
	}
	if v := s.View(); v.Flush == nil || v.Flush.Outcome != session.FlushDone {
		t.Errorf("flush %v", v.Flush)
	}
	e, err := s.Append(session.Entry{Kind: session.KindCompaction, Compaction: &session.Compaction{Summary: "要約", FirstKept: kept}})
	if err != nil {
		t.Fatal(err)
	}
	say(t, s, answer("new answer"))
	v := s.View()
	want := []llm.Message{session.SummaryMessage("要約"), user("new"), answer("new answer")}
	if diff := cmp.Diff(want, v.Messages); diff != "" {
		t.Error(diff)
	}
	if v.IDs[0] != e.ID || v.IDs[1] != kept || v.Compactions != 1 || v.Flush != nil || len(v.Edits) > 0 || v.Bytes >= s.Size()/2 {
		t.Errorf("view %+v", v)
	}
	sum := 0
	for i, m := range v.Messages {
		if want := llm.MessageTokens(utf8.RuneCountInString, m); v.Counts[i] != want {
			t.Errorf("message %d has %d tokens, want %d", i, v.Counts[i], want)
		}
		sum += v.Counts[i]
	}
	if sum != v.Tokens {
		t.Errorf("%d tokens, want %d", v.Tokens, sum)
	}
	if len(before.Messages) != 5 || before.Messages[0].Text != "old" {
		t.Error("a view that was taken before has changed")
	}
	s.Close()
	if diff := cmp.Diff(v, open(t, folder, "a").View()); diff != "" {
		t.Error(diff)
	}
	if src, _ := os.ReadFile(filepath.Join(folder, "a.jsonl")); !strings.Contains(string(src), gone) {
		t.Error("the transcript has lost an old message")
	}
}

// Hazard F07: a call that got no result, because the program ended or the turn was given up, is sent with one.
func TestViewHasAResultForEveryCall(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	s := open(t, folder, "a")
	say(t, s, user("?"))
	say(t, s, calls("1", "2", "3"))
	say(t, s, result("2", "two"))
	check := func(v session.View, n int) {
		t.Helper()
		if len(v.Messages) != n || len(v.IDs) != n || len(v.Counts) != n {
			t.Fatalf("%d messages, %d ids, %d counts; want %d", len(v.Messages), len(v.IDs), len(v.Counts), n)
		}
		for i, id := range []string{"2", "1", "3"} {
			if m := v.Messages[2+i]; m.ToolCallID != id || m.Failed != (id != "2") || m.Text == "" {
				t.Errorf("message %d: %+v", 2+i, m)
			}
		}
	}
	check(s.View(), 5)
	s.Close()
	s = open(t, folder, "a")
	check(s.View(), 5)
	say(t, s, user("go on"))
	check(s.View(), 6)
	if _, err := s.Append(session.Entry{Kind: session.KindMessage, Message: &llm.Message{Role: llm.RoleTool, ToolCallID: "1"}}); !errors.Is(err, session.ErrEntry) {
		t.Errorf("a result that comes too late: %v", err)
	}
}

func TestAppendRefusesEntriesThatDoNotFit(t *testing.T) {
	t.Parallel()
	s := open(t, t.TempDir(), "a")
	first := say(t, s, calls("1"))
	res := say(t, s, result("1", "ok"))
	size := s.Size()
	late := result("1", "again")
	for name, e := range map[string]session.Entry{
		"no kind":           {},
		"unknown kind":      {Kind: "note"},
		"no message":        {Kind: session.KindMessage},
		"unknown role":      {Kind: session.KindMessage, Message: &llm.Message{Role: "system"}},
		"second result":     {Kind: session.KindMessage, Message: &late},
		"taken id":          {ID: first, Kind: session.KindPrune},
		"no summary":        {Kind: session.KindCompaction, Compaction: &session.Compaction{FirstKept: first}},
		"kept is not there": {Kind: session.KindCompaction, Compaction: &session.Compaction{Summary: "s", FirstKept: "x"}},
		"kept loses a call": {Kind: session.KindCompaction, Compaction: &session.Compaction{Summary: "s", FirstKept: res}},
		"no flush":          {Kind: session.KindFlush},
	} {
		if _, err := s.Append(e); !errors.Is(err, session.ErrEntry) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if s.Size() != size || len(s.View().Messages) != 2 {
		t.Error("something was written")
	}
	s.Close()
	if _, err := s.Append(session.Entry{Kind: session.KindPrune}); !errors.Is(err, session.ErrClosed) {
		t.Errorf("closed: %v", err)
	}
}

func TestViewLastTouch(t *testing.T) {
	t.Parallel()
	s := open(t, t.TempDir(), "a")
	say(t, s, user("?"))
	if v := s.View(); !v.LastTouch.IsZero() {
		t.Errorf("touched at %v", v.LastTouch)
	}
	say(t, s, answer("!"))
	say(t, s, user("?"))
	if v := s.View(); !v.LastTouch.Equal(noon.Add(2 * time.Second)) {
		t.Errorf("touched at %v", v.LastTouch)
	}
	if _, err := s.Append(session.Entry{Kind: session.KindPrune}); err != nil {
		t.Fatal(err)
	}
	if v := s.View(); !v.LastTouch.Equal(noon.Add(4 * time.Second)) {
		t.Errorf("touched at %v", v.LastTouch)
	}
}

func TestViewLastUsage(t *testing.T) {
	t.Parallel()
	s := open(t, t.TempDir(), "a")
	say(t, s, user("12345"))
	if v := s.View(); v.LastUsage != nil || v.SinceUsage != 9 {
		t.Errorf("before an answer: %+v", v)
	}
	m, usage := answer("!"), llm.Usage{Input: 100, Output: 7, CacheRead: 50}
	if _, err := s.Append(session.Entry{Kind: session.KindMessage, Message: &m, Usage: &usage}); err != nil {
		t.Fatal(err)
	}
	kept := say(t, s, user("123456"))
	if v := s.View(); v.LastUsage == nil || *v.LastUsage != usage || v.SinceUsage != 10 {
		t.Errorf("after an answer: %+v", v)
	}
	if _, err := s.Append(session.Entry{Kind: session.KindCompaction, Compaction: &session.Compaction{Summary: "s", FirstKept: kept}}); err != nil {
		t.Fatal(err)
	}
	if v := s.View(); v.LastUsage != nil || v.SinceUsage != v.Tokens {
		t.Errorf("after a compaction: %+v", v)
	}
}

func TestAppendFromManyGoroutines(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	s := open(t, folder, "a")
	var all errgroup.Group
	for i := range 8 {
		all.Go(func() error {
			for j := range 10 {
				m := user(fmt.Sprint(i, "-", j, strings.Repeat("x", 3000)))
				if _, err := s.Append(session.Entry{Kind: session.KindMessage, Message: &m}); err != nil {
					return err
				}
				if v := s.View(); len(v.Messages) != len(v.Counts) {
					return fmt.Errorf("%d messages, %d counts", len(v.Messages), len(v.Counts))
				}
			}
			return nil
		})
	}
	if err := all.Wait(); err != nil {
		t.Fatal(err)
	}
	want := s.View()
	s.Close()
	if diff := cmp.Diff(want, open(t, folder, "a").View()); diff != "" || len(want.Messages) != 80 {
		t.Errorf("%d messages; %s", len(want.Messages), diff)
	}
}

// Hazard F08: what is recalled for a turn is not stored with it, so fifty rounds store what fifty users said.
func TestAppendStripsRecalledBlocks(t *testing.T) {
	t.Parallel()
	frame := func(text string) string {
		const tag = memory.RecalledTag + ` id="0123456789abcdef">`
		return fmt.Sprintf("<%s\n{\"source\":\"a.md#L1\",\"text\":%q}\n</%s", tag, text, tag)
	}
	s, _, err := session.Open(t.TempDir(), "a", session.Options{Now: clock()})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	recalled := ""
	var grown []int64
	for range 50 {
		size := s.Size()
		say(t, s, user(frame(recalled)+"\nwhat was it?"))
		say(t, s, answer(frame(recalled)+"\nit was this"))
		grown = append(grown, s.Size()-size)
		for _, m := range s.View().Messages {
			recalled += m.Text
		}
	}
	if grown[0] != grown[49] {
		t.Errorf("the first round stored %d bytes, the last %d", grown[0], grown[49])
	}
	if v := s.View(); v.Messages[98].Text != "what was it?" || v.Messages[99].Text != "it was this" {
		t.Errorf("stored %+v", v.Messages[98:])
	}
}

func TestOpenWithoutACounterEstimatesTokens(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]int{"": 4, "abcd": 5, "abcde": 6, "記憶": 6} {
		if got := llm.MessageTokens(nil, user(text)); got != want {
			t.Errorf("%q has %d tokens, want %d", text, got, want)
		}
	}
	if got := llm.MessageTokens(nil, llm.Message{Images: make([]llm.Image, 2)}); got != 4004 {
		t.Errorf("two images have %d tokens", got)
	}
}
