// Package hosttest has what every memory promises, whatever keeps it: one machine, or a cluster.
package hosttest

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"kioku/internal/testkit"
	"kioku/memory"
	"kioku/server"
	"kioku/store/storetest"
)

// Kept is an open memory.
type Kept struct {
	// Memory answers, and takes notes. Folder is that of the machine with the folder.
	Memory, Folder func(ctx context.Context) (server.Memory, error)
	// Sync returns when what was changed in the folder by hand counts.
	Sync func(ctx context.Context) error
	// Index is the file of the index that answers.
	Index func() string
	// Break has the n-th step of what is written fail, and all later ones, as for a process that ends there. Broken reports whether it was reached.
	Break  func(n int)
	Broken func() bool
	// Close ends all processes.
	Close func()
}

// kept is a memory of a test, and its folder.
type kept struct {
	Kept
	t      *testing.T
	folder string
}

// Run checks what a memory promises. open opens that of the agent whose name is the last part of the path of a folder; it is called again after Close,
// as by new processes.
func Run(t *testing.T, open func(t testing.TB, folder string) Kept) {
	start := func(t *testing.T, agent string) kept {
		folder := filepath.Join(t.TempDir(), agent)
		for name, text := range notes {
			write(t, filepath.Join(folder, name), text)
		}
		k := kept{open(t, folder), t, folder}
		k.sync()
		return k
	}
	for name, test := range map[string]func(t *testing.T, k kept){
		"replace": replaces, "snapshots": snapshots, "vectors and words": vectorsAndWords, "filters, dates and links": filters, "notes": takesNotes,
	} {
		t.Run(name, func(t *testing.T) {
			k := start(t, strings.Fields(strings.ReplaceAll(name, ",", ""))[0])
			defer func() { k.Close() }()
			test(t, k)
			k.same(open)
		})
	}
	t.Run("crash between any two steps", func(t *testing.T) {
		for n := 0; ; n += testkit.Rounds(1, 3) { // all of them with KIOKU_SOAK=5
			k := start(t, fmt.Sprint("crash", n))
			if !k.crash(n, open) {
				if n < 3 {
					t.Errorf("only %d steps", n)
				}
				return
			}
		}
	})
}

// notes are those that a memory begins with.
var notes = map[string]string{
	"MEMORY.md":                 "# Memory\n\n- The harbour office closes at six.\n- 青凪フェリーは四月一日に始まる。\n\nSee [[projects/weir]].\n",
	"memory/projects/weir.md":   "---\ntags: [river]\n---\n# The weir\n\nTicket HBR-423 is about the heron that nests by the weir.\n",
	"memory/2026-01-15.md":      "# 2026-01-15\n\n## 10:00 - decision\n\nThe ledger moves to PostgreSQL.\n",
	"memory/2026-02-20.md":      "# 2026-02-20\n\n## 09:00 - fact\n\nThe ferry leaves from Uno port.\n",
	"memory/projects/unread.md": "# Nothing\n\nNobody asks for this.\n",
}

func write(t testing.TB, name, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func (k kept) sync() {
	k.t.Helper()
	if err := k.Sync(k.t.Context()); err != nil {
		k.t.Fatal(err)
	}
}

// at returns the memory that answers.
func (k kept) at() server.Memory {
	k.t.Helper()
	m, err := k.Memory(k.t.Context())
	if err != nil {
		k.t.Fatal(err)
	}
	return m
}

// finds checks that a question is answered first with a passage that has a text, or, if it is empty, by nothing that has the words of the question.
func (k kept) finds(q memory.Query, want string) memory.Answer {
	k.t.Helper()
	a, err := k.at().Search(k.t.Context(), q)
	switch {
	case err != nil || slices.ContainsFunc(a.Degraded, func(d memory.Degradation) bool { return !slices.Contains(ordinary, d.Code) }):
		k.t.Errorf("%s: %v, %v", q.Text, a.Degraded, err)
	case want == "" && slices.ContainsFunc(a.Hits, func(h memory.Hit) bool { return strings.Contains(h.Snippet, q.Text) }):
		k.t.Errorf("%s: %+v", q.Text, a.Hits)
	case want != "" && (len(a.Hits) == 0 || !strings.Contains(a.Hits[0].Snippet, want)):
		k.t.Errorf("%s: %+v, want %q first", q.Text, a.Hits, want)
	}
	return a
}

// ordinary are the codes of what an answer tells of where nothing is wrong: a note that was just written has no vector yet.
var ordinary = []string{memory.VectorsMissing, memory.IndexStale, memory.NoMatch, memory.WordsUnknown, memory.FilterExcludes}

// same checks that the index has exactly what another memory makes of a copy of the folder.
func (k kept) same(open func(t testing.TB, folder string) Kept) {
	k.t.Helper()
	k.sync()
	k.at()
	folder := filepath.Join(k.t.TempDir(), "copy", filepath.Base(k.folder)+"-copy")
	if err := os.CopyFS(folder, os.DirFS(k.folder)); err != nil {
		k.t.Fatal(err)
	}
	c := kept{open(k.t, folder), k.t, folder}
	defer c.Close()
	c.sync()
	c.at()
	if diff := cmp.Diff(storetest.Dump(k.t, c.Index()), storetest.Dump(k.t, k.Index())); diff != "" {
		k.t.Errorf("the index is not that of the folder (-folder +index):\n%s", diff)
	}
}

// A file that is replaced has its new passages and no old one, in one generation after the other; one that is removed has none.
func replaces(t *testing.T, k kept) {
	before := k.finds(memory.Query{Text: "when does the harbour office close?"}, "closes at six").Index
	if again := k.finds(memory.Query{Text: "heron"}, "nests").Index; again.Generation != before.Generation {
		t.Errorf("a generation without a change: %d, %d", before.Generation, again.Generation)
	}
	write(t, filepath.Join(k.folder, "MEMORY.md"), "# Memory\n\n- The harbour office closes at seven.\n")
	if err := os.Remove(filepath.Join(k.folder, "memory/2026-02-20.md")); err != nil {
		t.Fatal(err)
	}
	k.sync()
	after := k.finds(memory.Query{Text: "when does the harbour office close?"}, "closes at seven").Index
	k.finds(memory.Query{Text: "closes at six"}, "")
	k.finds(memory.Query{Text: "Uno port"}, "")
	if after.Generation <= before.Generation || after.Files != before.Files-1 {
		t.Errorf("before %+v, after %+v", before, after)
	}
}

// A search sees a file before or after a change, never halves of both.
func snapshots(t *testing.T, k kept) {
	file := filepath.Join(k.folder, "memory/projects/twice.md")
	text := func(n int) string {
		return fmt.Sprintf("# Left\n\nThe tide is at mark%d here.\n\n# Right\n\nThe tide is at mark%d there.\n", n, n)
	}
	write(t, file, text(0))
	k.sync()
	var writer sync.WaitGroup
	defer writer.Wait()
	ended := make(chan struct{})
	writer.Go(func() {
		defer close(ended)
		for n := 1; n < 8; n++ {
			write(t, file, text(n))
			if err := k.Sync(t.Context()); err != nil {
				t.Error(err)
			}
		}
	})
	for {
		a, err := k.at().Search(t.Context(), memory.Query{Text: "where is the tide?", Filter: memory.Filter{PathPrefix: "memory/projects/twice"}})
		if err != nil {
			t.Fatal(err)
		}
		marks := map[string]bool{}
		for _, h := range a.Hits {
			for word := range strings.FieldsSeq(h.Snippet) {
				if strings.HasPrefix(word, "mark") {
					marks[word] = true
				}
			}
		}
		if len(marks) > 1 {
			t.Errorf("one search sees %v", marks)
		}
		select {
		case <-ended:
			k.finds(memory.Query{Text: "tide mark7"}, "mark7")
			return
		default:
		}
	}
}

// Every passage has its vector, and words are found as they are written, in any script.
func vectorsAndWords(t *testing.T, k kept) {
	st, err := k.at().Status(t.Context())
	if err != nil || st.Embedded != st.Index.Chunks || st.Index.Chunks < len(notes) {
		t.Errorf("%d of %d passages have vectors, %v", st.Embedded, st.Index.Chunks, err)
	}
	for _, h := range k.finds(memory.Query{Text: "HBR-423"}, "heron").Hits[:1] {
		if h.VectorScore == 0 || h.TextScore == 0 {
			t.Errorf("%+v", h)
		}
	}
	k.finds(memory.Query{Text: "青凪フェリー"}, "四月一日")
}

// Paths, fields, days and links narrow a search down, and lines are those of the file.
func filters(t *testing.T, k kept) {
	k.finds(memory.Query{Text: "ferry", Filter: memory.Filter{Since: "2026-02-01", Until: "2026-02-28"}}, "Uno port")
	k.finds(memory.Query{Text: "Uno port", Filter: memory.Filter{Until: "2026-01-31"}}, "")
	k.finds(memory.Query{Text: "weir", Filter: memory.Filter{PathPrefix: "memory/projects/"}}, "heron")
	k.finds(memory.Query{Text: "heron", Filter: memory.Filter{Where: []memory.Condition{{Field: "tags", Values: []string{"river"}}}}}, "heron")
	links, err := k.at().Links(t.Context(), "memory/projects/weir.md")
	if err != nil || len(links.In) != 1 || links.In[0].From != "MEMORY.md" {
		t.Errorf("%+v, %v", links, err)
	}
	got, err := k.at().Get(t.Context(), memory.GetRequest{Path: "memory/2026-01-15.md", From: 5, Lines: 1})
	if err != nil || !strings.Contains(got.Text, "The ledger moves to PostgreSQL.") {
		t.Errorf("%+v, %v", got, err)
	}
	days, err := k.at().Activity(t.Context(), "2026-01-01", "2026-01-31")
	if err != nil || len(days.Days) != 1 {
		t.Errorf("%+v, %v", days, err)
	}
}

// A note is there once, however often it is written with its key, and found at once; updates and what was forgotten count everywhere.
func takesNotes(t *testing.T, k kept) {
	for range 3 {
		if _, err := k.at().Append(t.Context(), memory.Note{Text: "The gallery is closed on Mondays.", Key: "k1"}); err != nil {
			t.Fatal(err)
		}
	}
	k.finds(memory.Query{Text: "when is the gallery closed?"}, "on Mondays")
	folder, err := k.Folder(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := folder.Update(t.Context(), memory.Update{OldText: "closes at six", NewText: "closes at nine"}); err != nil {
		t.Fatal(err)
	}
	k.sync()
	k.finds(memory.Query{Text: "when does the harbour office close?"}, "closes at nine")
	found, err := folder.Forget(t.Context(), memory.Forget{Text: "The ferry leaves from Uno port."})
	if err != nil || len(found.Places) == 0 {
		t.Fatalf("%+v, %v", found, err)
	}
	if _, err := folder.Forget(t.Context(), memory.Forget{Places: []string{found.Places[0].Place}}); err != nil {
		t.Fatal(err)
	}
	k.sync()
	k.finds(memory.Query{Text: "Uno port"}, "")
	if n := k.count("The gallery is closed on Mondays."); n != 1 {
		t.Errorf("the note is there %d times", n)
	}
}

// count returns how often a text is in the folder.
func (k kept) count(text string) (n int) {
	k.t.Helper()
	if err := filepath.WalkDir(k.folder, func(name string, d os.DirEntry, err error) error {
		if err == nil && strings.HasSuffix(name, ".md") {
			data, err := os.ReadFile(name)
			n += strings.Count(string(data), text)
			return err
		}
		return err
	}); err != nil {
		k.t.Fatal(err)
	}
	return n
}

// crash has the processes end at the n-th step of an edit and a note, and reports whether there were as many. New ones have the edit, and the note once
// if it was acknowledged; it may be said again.
func (k kept) crash(n int, open func(t testing.TB, folder string) Kept) bool {
	k.t.Helper()
	note := memory.Note{Text: "The gate code hangs in the shed.", Key: "k1"}
	k.at()
	k.Break(n)
	write(k.t, filepath.Join(k.folder, "MEMORY.md"), "# Memory\n\n- The harbour office closes at eight.\n")
	_ = k.Sync(k.t.Context())
	m, err := k.Memory(k.t.Context())
	if err == nil {
		_, err = m.Append(k.t.Context(), note)
	}
	acknowledged, broken := err == nil, k.Broken()
	k.Break(-1)
	k.Close()
	k.Kept = open(k.t, k.folder)
	defer k.Close()
	k.sync()
	if there := k.count(note.Text); there > 1 || acknowledged && there != 1 {
		k.t.Errorf("step %d: acknowledged %v, and there %d times", n, acknowledged, there)
	}
	if _, err := k.at().Append(k.t.Context(), note); err != nil {
		k.t.Errorf("step %d: said again: %v", n, err)
	}
	k.sync()
	k.finds(memory.Query{Text: "where is the gate code?"}, "in the shed")
	k.finds(memory.Query{Text: "when does the harbour office close?"}, "closes at eight")
	if there := k.count(note.Text); there != 1 {
		k.t.Errorf("step %d: said again, and there %d times", n, there)
	}
	k.same(open)
	return broken
}
