package turns_test

import (
	"bytes"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"kioku/agent/turns"
)

var noon = time.Date(2026, 3, 2, 12, 0, 0, 0, time.UTC)

// newLog returns a record whose clock goes on by a minute for each entry.
func newLog(t testing.TB, opt turns.Options) *turns.Log {
	t.Helper()
	if opt.Folder == "" {
		opt.Folder = filepath.Join(t.TempDir(), "agents", "main", "turns")
	}
	var mu sync.Mutex
	now := noon
	opt.Now = func() time.Time {
		mu.Lock()
		defer mu.Unlock()
		now = now.Add(time.Minute)
		return now
	}
	return turns.New(opt)
}

func list(t *testing.T, l *turns.Log, q turns.Query) turns.Page {
	t.Helper()
	q.Location = time.UTC
	page, err := l.List(t.Context(), q)
	if err != nil {
		t.Fatal(err)
	}
	return page
}

// prompt is an entry with all that one has.
func prompt(session, message string) turns.Entry {
	return turns.Entry{
		Kind: turns.KindPrompt, Session: session, Channel: "terminal", Message: message, Tokens: 30, Budget: 100,
		Layers: []turns.Layer{{Name: "identity", Chars: 40, Tokens: 10}, {Name: "memory", Chars: 80, Tokens: 20}},
		Cuts:   []turns.Cut{{Part: "USER.md", From: 90, To: 10}},
		Recall: &turns.Recall{Query: message, Took: time.Millisecond,
			In:       []turns.Passage{{Agent: "main", Path: "memory/2026-03-01.md", Start: 3, End: 5, Score: 0.7, Vector: 0.8, Words: 0.2, Date: "2026-03-01"}},
			Out:      []turns.Passage{{Agent: "main", Path: "MEMORY.md", Start: 1, End: 2, Score: 0.4, Reason: "no room within the budget"}},
			Searches: []turns.Search{{Agent: "main", Hits: 2, Mode: "hybrid"}}},
	}
}

// What went into the last prompts is listed as it was recorded, the latest first, with the sessions.
func TestListReturnsWhatWasRecorded(t *testing.T) {
	t.Parallel()
	l := newLog(t, turns.Options{Messages: true})
	first, flush := prompt("a", "Where is the key?"), turns.Entry{Kind: turns.KindFlush, Session: "b", Flush: &turns.Flush{Outcome: "done", Covered: 4, Notes: []turns.Note{{Path: "memory/2026-03-02.md", Line: 7}}}}
	compaction := turns.Entry{Kind: turns.KindCompaction, Session: "a", Compaction: &turns.Compaction{Before: 900, After: 200}}
	for _, e := range []turns.Entry{first, flush, compaction} {
		l.Record(e)
	}
	page := list(t, l, turns.Query{})
	if len(page.Entries) != 3 || page.Next != "" {
		t.Fatalf("%d entries, next %q", len(page.Entries), page.Next)
	}
	first.Recall.Query = "" // that of the message
	for i, want := range []turns.Entry{compaction, flush, first} {
		want.ID, want.Time = page.Entries[i].ID, noon.Add(time.Duration(3-i)*time.Minute)
		if diff := cmp.Diff(want, page.Entries[i]); diff != "" {
			t.Error(diff)
		}
	}
	want := []turns.Session{
		{Name: "a", Turns: 1, First: noon.Add(time.Minute), Last: noon.Add(3 * time.Minute), Channel: "terminal"},
		{Name: "b", First: noon.Add(2 * time.Minute), Last: noon.Add(2 * time.Minute)},
	}
	if diff := cmp.Diff(want, page.Sessions); diff != "" {
		t.Error(diff)
	}
}

// The user's message is recorded only if messages are kept, or if a transcript contains it.
func TestRecordKeepsMessagesOnlyIfToldTo(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		opt        turns.Options
		transcript bool
		want       bool
	}{"default": {}, "transcript": {transcript: true, want: true}, "messages": {opt: turns.Options{Messages: true}, want: true}} {
		c.opt.Folder = filepath.Join(t.TempDir(), "turns")
		l := newLog(t, c.opt)
		e := prompt("a", "my secret question")
		e.Transcript = c.transcript
		l.Record(e)
		text, err := os.ReadFile(filepath.Join(c.opt.Folder, "turns.jsonl"))
		if err != nil || bytes.Contains(text, []byte("secret")) != c.want {
			t.Errorf("%s: %v\n%s", name, err, text)
		}
		if e.Recall.Query == "" {
			t.Errorf("%s: the caller's entry was changed", name)
		}
	}
}

// The record is for the user only: the folder is 0700 and the file 0600.
func TestRecordIsForTheUserOnly(t *testing.T) {
	t.Parallel()
	folder := filepath.Join(t.TempDir(), "agents", "main", "turns")
	newLog(t, turns.Options{Folder: folder}).Record(prompt("a", ""))
	for path, want := range map[string]os.FileMode{folder: 0o700, filepath.Join(folder, "turns.jsonl"): 0o600} {
		if info, err := os.Stat(path); err != nil || info.Mode().Perm() != want {
			t.Errorf("%s: %v, %v", path, info.Mode(), err)
		}
	}
}

// Off records nothing, and what was recorded before can be listed.
func TestOffRecordsNothing(t *testing.T) {
	t.Parallel()
	folder := filepath.Join(t.TempDir(), "turns")
	off := newLog(t, turns.Options{Folder: folder, Off: true})
	off.Record(prompt("a", ""))
	if _, err := os.Stat(folder); err == nil {
		t.Error("the folder was made")
	}
	newLog(t, turns.Options{Folder: folder}).Record(prompt("a", ""))
	if page := list(t, off, turns.Query{}); len(page.Entries) != 1 {
		t.Errorf("%d entries", len(page.Entries))
	}
}

// Pages go on where the one before has ended, also while turns are recorded; a session and days select.
func TestListPages(t *testing.T) {
	t.Parallel()
	l := newLog(t, turns.Options{})
	for i := range 10 {
		l.Record(prompt(fmt.Sprint(i%2), ""))
	}
	seen := map[string]bool{}
	for q := (turns.Query{Limit: 3}); ; {
		page := list(t, l, q)
		for _, e := range page.Entries {
			if seen[e.ID] {
				t.Errorf("%s is there twice", e.ID)
			}
			seen[e.ID] = true
		}
		if (len(page.Sessions) > 0) != (q.After == "") {
			t.Errorf("%d sessions on the page after %q", len(page.Sessions), q.After)
		}
		if q.After = page.Next; page.Next == "" {
			break
		}
		l.Record(prompt("later", ""))
	}
	if len(seen) != 10 {
		t.Errorf("%d of 10 were listed", len(seen))
	}
	if page := list(t, l, turns.Query{Session: "1"}); len(page.Entries) != 5 {
		t.Errorf("%d entries of a session", len(page.Entries))
	}
	if page := list(t, l, turns.Query{Until: "2026-03-01"}); len(page.Entries) != 0 || len(page.Sessions) == 0 {
		t.Errorf("%d entries of a day without any", len(page.Entries))
	}
	if page := list(t, l, turns.Query{Since: "2026-03-02", Until: "2026-03-02"}); len(page.Entries) < 10 {
		t.Errorf("%d entries of the day", len(page.Entries))
	}
}

// A full file is put aside, and the one before it is dropped: the record has a maximum size, and the last turns are in it.
func TestRecordRotates(t *testing.T) {
	t.Parallel()
	folder := filepath.Join(t.TempDir(), "turns")
	l := newLog(t, turns.Options{Folder: folder, MaxBytes: 4000})
	var all sync.WaitGroup
	for range 2 {
		all.Go(func() {
			other := newLog(t, turns.Options{Folder: folder, MaxBytes: 4000}) // as another process
			for range 50 {
				other.Record(prompt("a", ""))
			}
		})
	}
	all.Wait()
	for range 3 {
		l.Record(prompt("last", ""))
	}
	files, err := os.ReadDir(folder)
	if err != nil || len(files) != 2 {
		t.Fatalf("%v %v", files, err)
	}
	for _, f := range files {
		if info, err := f.Info(); err != nil || info.Size() > 5000 {
			t.Errorf("%s has %d bytes, %v", f.Name(), info.Size(), err)
		}
	}
	page := list(t, l, turns.Query{Limit: 1000})
	if len(page.Entries) < 6 || page.Entries[0].Session != "last" || page.Entries[2].Session != "last" {
		t.Errorf("%d entries", len(page.Entries))
	}
}

// A line that a process could not finish, and any other text, costs nothing but itself.
func TestListSkipsTornLines(t *testing.T) {
	t.Parallel()
	folder := filepath.Join(t.TempDir(), "turns")
	l := newLog(t, turns.Options{Folder: folder})
	l.Record(prompt("before", ""))
	f, err := os.OpenFile(filepath.Join(folder, "turns.jsonl"), os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	fmt.Fprint(f, "not JSON\n[1]\n\x00\xff\n", `{"id":"1","time":"2026-03-`)
	f.Close()
	l.Record(prompt("after", ""))
	page := list(t, l, turns.Query{})
	if len(page.Entries) != 2 || page.Entries[0].Session != "after" || page.Entries[1].Session != "before" {
		t.Errorf("%+v", page.Entries)
	}
}

// A record that cannot be written fails nothing, and is logged once.
func TestRecordFailsNothing(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	var logged bytes.Buffer
	l := newLog(t, turns.Options{Folder: filepath.Join(file, "turns"), Log: slog.New(slog.NewTextHandler(&logged, nil))})
	for range 3 {
		l.Record(prompt("a", ""))
	}
	if n := strings.Count(logged.String(), "not recorded"); n != 1 {
		t.Errorf("logged %d times: %s", n, &logged)
	}
}

// A day has its turns, the passages that were recalled on it, and how often its own notes were.
func TestDaysCountTurnsAndRecalls(t *testing.T) {
	t.Parallel()
	l := newLog(t, turns.Options{})
	e := prompt("a", "")
	e.Recall.In = append(e.Recall.In, turns.Passage{Agent: "other", Path: "x.md", Date: "2026-03-01"})
	l.Record(e)
	l.Record(e)
	l.Record(turns.Entry{Kind: turns.KindFlush, Flush: &turns.Flush{Outcome: "done"}})
	days, err := l.Days(t.Context(), time.UTC, func(p turns.Passage) bool { return p.Agent == "main" })
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]turns.Day{"2026-03-02": {Turns: 2, Used: 2}, "2026-03-01": {Recalled: 2}}
	if diff := cmp.Diff(want, days); diff != "" {
		t.Error(diff)
	}
}

// BenchmarkRecord records a turn; the goal is far less than the millisecond that a turn may lose by it.
func BenchmarkRecord(b *testing.B) {
	l := newLog(b, turns.Options{})
	e := prompt("a", "Where is the key?")
	for b.Loop() {
		l.Record(e)
	}
}
