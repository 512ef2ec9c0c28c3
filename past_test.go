package kioku

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"kioku/memory"
)

// october returns noon of a day of October 2026.
func october(n int) time.Time { return time.Date(2026, 10, n, 12, 0, 0, 0, time.UTC) }

// commitNotes commits a folder, which becomes a repository, at a time. It skips the test if there is no git.
func commitNotes(t *testing.T, ws string, at time.Time, subject string) {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("the program git is not installed")
	}
	for _, args := range [][]string{{"init", "-q", "-b", "main"}, {"add", "-A"}, {"commit", "-q", "-m", subject}} {
		cmd := exec.CommandContext(t.Context(), "git", args...)
		cmd.Dir = ws
		date := at.Format(time.RFC3339)
		cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=/nonexistent", "GIT_CONFIG_NOSYSTEM=1", "GIT_AUTHOR_NAME=Ana", "GIT_AUTHOR_EMAIL=ana@example.org",
			"GIT_COMMITTER_NAME=Ana", "GIT_COMMITTER_EMAIL=ana@example.org", "GIT_AUTHOR_DATE=" + date, "GIT_COMMITTER_DATE=" + date}
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git %s: %v\n%s", args[0], err, out)
		}
	}
}

// inPorto is a folder of which git has two versions: Ines moves from Porto to Lisbon.
func inPorto(t *testing.T) string {
	t.Helper()
	ws := workspace(t, map[string]string{
		"MEMORY.md": "# Memory\n\n- Ines lives in Porto. <!-- kioku from=agent -->\n", "memory/garden.md": "# Garden\n\nThe roses need water.\n",
		"private/secret.md": "Ines has a secret in Porto.\n", "memory/house.txt": "no note",
	})
	commitNotes(t, ws, october(1), "first")
	writeFile(t, filepath.Join(ws, "MEMORY.md"), "# Memory\n\n- Ines lives in Lisbon. <!-- kioku from=agent -->\n")
	if err := os.Rename(filepath.Join(ws, "memory/garden.md"), filepath.Join(ws, "memory/roses.md")); err != nil {
		t.Fatal(err)
	}
	commitNotes(t, ws, october(20), "move")
	writeFile(t, filepath.Join(ws, "MEMORY.md"), "# Memory\n\n- Ines lives in Faro.\n")
	return ws
}

func TestLogOfNotesHasOnlyWhatIsIndexed(t *testing.T) {
	t.Parallel()
	m := openMemory(t, Options{Workspace: inPorto(t)})
	got, err := m.Log(t.Context(), memory.LogQuery{})
	var lines []string
	for _, c := range got {
		lines = append(lines, fmt.Sprintf("%s %s %s %s", c.Subject, c.Change, c.OldPath, c.Path))
	}
	slices.Sort(lines)
	want := []string{"first added  MEMORY.md", "first added  memory/garden.md", "move changed  MEMORY.md", "move renamed memory/garden.md memory/roses.md"}
	if diff := cmp.Diff(want, lines); diff != "" || err != nil {
		t.Errorf("Log: %v\n%s", err, diff)
	}
	for _, bad := range []string{"../x.md", "/etc/passwd.md", "a/../../b.md", "..", "a\nb.md"} {
		if _, err := m.Log(t.Context(), memory.LogQuery{Path: bad}); !errors.As(err, new(*memory.InputError)) {
			t.Errorf("Log of %q: %v", bad, err)
		}
	}
}

// (H02)
func TestShowReturnsANoteAsItWas(t *testing.T) {
	t.Parallel()
	m := openMemory(t, Options{Workspace: inPorto(t)})
	for name, c := range map[string]struct {
		path string
		at   memory.Moment
		want memory.PastFile
		err  error
	}{
		"then":      {"MEMORY.md", memory.Moment{Time: october(2)}, memory.PastFile{Path: "MEMORY.md", Text: "# Memory\n\n- Ines lives in Porto.\n"}, nil},
		"last":      {"./MEMORY.md", memory.Moment{}, memory.PastFile{Path: "MEMORY.md", Text: "# Memory\n\n- Ines lives in Lisbon.\n"}, nil},
		"renamed":   {"memory/roses.md", memory.Moment{Time: october(2)}, memory.PastFile{Path: "memory/garden.md", Text: "# Garden\n\nThe roses need water.\n"}, nil},
		"old name":  {"memory/garden.md", memory.Moment{Revision: "HEAD~1"}, memory.PastFile{Path: "memory/garden.md", Text: "# Garden\n\nThe roses need water.\n"}, nil},
		"no note":   {"private/secret.md", memory.Moment{}, memory.PastFile{}, memory.ErrNotFound},
		"no file":   {"memory/none.md", memory.Moment{}, memory.PastFile{}, memory.ErrNoVersion},
		"too early": {"MEMORY.md", memory.Moment{Time: october(1).Add(-time.Hour)}, memory.PastFile{}, memory.ErrNoVersion},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := m.Show(t.Context(), c.path, c.at, nil)
			got.Version = memory.FolderVersion{}
			if diff := cmp.Diff(c.want, got); diff != "" || !errors.Is(err, c.err) {
				t.Errorf("Show: %v\n%s", err, diff)
			}
		})
	}
}

func TestDiffComparesWithNow(t *testing.T) {
	t.Parallel()
	m := openMemory(t, Options{Workspace: inPorto(t)})
	got, err := m.Diff(t.Context(), memory.DiffQuery{From: memory.Moment{Time: october(2)}})
	want := []memory.FileDiff{
		{Path: "MEMORY.md", Change: memory.FileChanged, Added: 1, Removed: 1, Text: "@@ -1,3 +1,3 @@\n # Memory\n \n-- Ines lives in Porto.\n+- Ines lives in Faro.\n"},
		{Path: "memory/garden.md", Change: memory.FileRemoved, Removed: 3, Text: "@@ -1,3 +0,0 @@\n-# Garden\n-\n-The roses need water.\n"},
		{Path: "memory/roses.md", Change: memory.FileAdded, Added: 3, Text: "@@ -0,0 +1,3 @@\n+# Garden\n+\n+The roses need water.\n"},
	}
	if diff := cmp.Diff(want, got.Files); diff != "" || err != nil || got.From.Subject != "first" || got.To.ID != "" {
		t.Errorf("Diff: %+v %v\n%s", got.From, err, diff)
	}
	got, err = m.Diff(t.Context(), memory.DiffQuery{Path: "memory", From: memory.Moment{Revision: "HEAD"}, To: &memory.Moment{Revision: "HEAD"}})
	if err != nil || len(got.Files) != 0 {
		t.Errorf("Diff of a version with itself: %+v, %v", got, err)
	}
}

// Nothing of now is in an answer of the past, and nothing that the settings of today leave out. (H02)
func TestSearchPastFindsNothingOfNow(t *testing.T) {
	t.Parallel()
	m := openMemory(t, Options{Workspace: inPorto(t)})
	find := func(text string, at memory.Moment) []string {
		t.Helper()
		a, err := m.SearchPast(t.Context(), memory.Query{Text: text}, at)
		if err != nil {
			t.Fatal(err)
		}
		var found []string
		for _, h := range a.Hits {
			found = append(found, h.Path+": "+strings.TrimSpace(h.Snippet))
		}
		return found
	}
	for name, c := range map[string]struct {
		text string
		at   memory.Moment
		want string
	}{
		"then":     {"where does Ines live", memory.Moment{Time: october(2)}, "Ines lives in Porto."},
		"last":     {"where does Ines live", memory.Moment{}, "Ines lives in Lisbon."},
		"revision": {"where does Ines live", memory.Moment{Revision: "HEAD~1"}, "Ines lives in Porto."},
		"path":     {"roses water", memory.Moment{Time: october(2)}, "memory/garden.md"},
	} {
		t.Run(name, func(t *testing.T) {
			all := strings.Join(find(c.text, c.at), "\n")
			if !strings.Contains(all, c.want) || strings.Contains(all, "Faro") || strings.Contains(all, "secret") || strings.Contains(all, "kioku from") {
				t.Errorf("found:\n%s", all)
			}
		})
	}
	if got := find("Faro", memory.Moment{Time: october(21)}); len(got) > 0 {
		t.Errorf("a word that is not committed is found: %s", got)
	}
	if a, err := m.SearchPast(t.Context(), memory.Query{Text: "Ines"}, memory.Moment{Time: october(2)}); err != nil || len(a.Degraded) > 0 || a.Version.Subject != "first" {
		t.Errorf("answer: %+v %+v, %v", a.Version, a.Degraded, err)
	}
	if _, err := m.SearchPast(t.Context(), memory.Query{}, memory.Moment{}); err == nil {
		t.Error("a blank query is answered")
	}
}

// Hazard H02: A search of the past has the ceiling of sensitivity that other searches have.
func TestSearchPastLeavesOutWhatLiesAboveTheCeiling(t *testing.T) {
	t.Parallel()
	byWord := func(f memory.SourceFile) []memory.Episode {
		e := memory.Episode{StartLine: 1, EndLine: 100}
		if strings.Contains(string(f.Data), "Porto") {
			e.Sensitivity = memory.Private
		}
		return []memory.Episode{e}
	}
	m := openMemory(t, Options{Workspace: inPorto(t), Episodes: byWord})
	syncWhole(t, m)
	normal, private := memory.Normal, memory.Private
	for _, c := range []struct {
		ceiling  *memory.Sensitivity
		withheld int
	}{{&normal, 1}, {&private, 0}, {nil, 0}} {
		a, err := m.SearchPast(t.Context(), memory.Query{Text: "where does Ines live", MaxSensitivity: c.ceiling}, memory.Moment{Time: october(2)})
		if err != nil || a.Withheld != c.withheld || len(a.Hits) != 1-c.withheld {
			t.Errorf("up to %v: %d hits, %d withheld, %v", c.ceiling, len(a.Hits), a.Withheld, err)
		}
	}
}

// (H03)
func TestSearchPastKeepsFewIndexes(t *testing.T) {
	t.Parallel()
	ws, now := inPorto(t), october(30)
	m := openMemory(t, Options{Workspace: ws, Now: func() time.Time { now = now.Add(time.Hour); return now }})
	for i := range 7 {
		writeFile(t, filepath.Join(ws, "MEMORY.md"), fmt.Sprintf("- Ines has %d dogs.\n", i))
		commitNotes(t, ws, october(21+i), "dogs")
		if _, err := m.SearchPast(t.Context(), memory.Query{Text: "dogs"}, memory.Moment{}); err != nil {
			t.Fatal(err)
		}
	}
	entries, err := os.ReadDir(m.stateOf("past"))
	if err != nil || len(entries) != 4 {
		t.Errorf("%d indexes of the past are kept, %v; want %d", len(entries), err, 4)
	}
	p, err := m.PurgeHistory(t.Context(), "")
	if entries, _ := os.ReadDir(m.stateOf("past")); err != nil || p.Indexes != 4 || len(entries) > 0 {
		t.Errorf("PurgeHistory = %+v, %v", p, err)
	}
}

// Searches at once make one index, and none sees half of it.
func TestSearchPastOfManyCallersAtOnce(t *testing.T) {
	t.Parallel()
	m := openMemory(t, Options{Workspace: inPorto(t)})
	failed := make(chan error)
	for range 8 {
		go func() {
			a, err := m.SearchPast(t.Context(), memory.Query{Text: "where does Ines live"}, memory.Moment{Time: october(2)})
			if err == nil && (len(a.Hits) == 0 || !strings.Contains(a.Hits[0].Snippet, "Porto")) {
				err = fmt.Errorf("found %+v", a.Hits)
			}
			failed <- err
		}()
	}
	for range 8 {
		if err := <-failed; err != nil {
			t.Error(err)
		}
	}
}

func TestJournalAnswersWithoutGit(t *testing.T) {
	t.Parallel()
	ws, state, now := workspace(t, map[string]string{"MEMORY.md": "- Ines lives in Porto.\n"}), t.TempDir(), october(1)
	clock := func() time.Time { return now }
	without := openMemory(t, Options{Workspace: ws, Now: clock})
	syncWhole(t, without)
	_, err := without.Log(t.Context(), memory.LogQuery{})
	if !errors.Is(err, memory.ErrNoHistory) || !strings.Contains(err.Error(), "kioku config set history.journal true") {
		t.Errorf("Log without a history: %v", err)
	}
	if _, err := os.Stat(without.stateOf("journal.git")); err == nil {
		t.Error("a journal is kept that nobody asked for")
	}
	m := openMemory(t, Options{Workspace: ws, StateDir: state, Now: clock, History: HistoryOptions{Journal: true}})
	syncWhole(t, m)
	now = october(20)
	writeFile(t, filepath.Join(ws, "MEMORY.md"), "- Ines lives in Lisbon.\n")
	syncWhole(t, m)
	got, err := m.Log(t.Context(), memory.LogQuery{Path: "MEMORY.md"})
	if err != nil || len(got) != 2 || len(got[0].ID) != 40 || got[0].Change != memory.FileChanged {
		t.Fatalf("Log: %+v, %v", got, err)
	}
	a, err := m.SearchPast(t.Context(), memory.Query{Text: "where does Ines live"}, memory.Moment{Time: october(2)})
	if err != nil || len(a.Hits) != 1 || !strings.Contains(a.Hits[0].Snippet, "Porto") || a.Version.History != memory.HistoryJournal {
		t.Errorf("SearchPast: %+v, %v", a, err)
	}
	if p, err := m.PurgeHistory(t.Context(), "MEMORY.md"); err != nil || p != (memory.Purged{Versions: 2, Indexes: 1}) {
		t.Errorf("PurgeHistory = %+v, %v", p, err)
	}
	if _, err := m.Show(t.Context(), "MEMORY.md", memory.Moment{Time: october(2)}, nil); err == nil {
		t.Error("what was purged is shown")
	}
}

// syncWhole syncs or fails the test.
func syncWhole(t *testing.T, m *Memory) {
	t.Helper()
	if _, err := m.Sync(t.Context(), SyncOptions{}, nil); err != nil {
		t.Fatal(err)
	}
}

// (I03) Show and Diff give lines up to the ceiling only, of old notes and of those of now; if nobody knows what is private, they
// refuse.
func TestShowAndDiffLeaveOutWhatLiesAboveTheCeiling(t *testing.T) {
	t.Parallel()
	byLine := func(f memory.SourceFile) (all []memory.Episode) {
		for i, line := range strings.Split(string(f.Data), "\n") {
			if strings.Contains(line, "Porto") {
				all = append(all, memory.Episode{StartLine: i + 1, EndLine: i + 1, Sensitivity: memory.Private})
			}
			if strings.Contains(line, "Lisbon") {
				all = append(all, memory.Episode{StartLine: i + 1, EndLine: i + 1, Sensitivity: memory.Secret})
			}
		}
		return all
	}
	m := openMemory(t, Options{Workspace: inPorto(t), Episodes: byLine})
	normal, private, secret := memory.Normal, memory.Private, memory.Secret
	for name, c := range map[string]struct {
		ceiling    *memory.Sensitivity
		then, last string
	}{
		"normal":     {&normal, "[withheld]", "[withheld]"},
		"private":    {&private, "- Ines lives in Porto.", "[withheld]"},
		"by default": {nil, "- Ines lives in Porto.", "[withheld]"},
		"secret":     {&secret, "- Ines lives in Porto.", "- Ines lives in Lisbon."},
	} {
		then, err := m.Show(t.Context(), "MEMORY.md", memory.Moment{Time: october(2)}, c.ceiling)
		if want := "# Memory\n\n" + c.then + "\n"; then.Text != want || err != nil {
			t.Errorf("%s: then %q, %v; want %q", name, then.Text, err, want)
		}
		last, err := m.Show(t.Context(), "MEMORY.md", memory.Moment{}, c.ceiling)
		if want := "# Memory\n\n" + c.last + "\n"; last.Text != want || err != nil {
			t.Errorf("%s: last %q, %v; want %q", name, last.Text, err, want)
		}
		d, err := m.Diff(t.Context(), memory.DiffQuery{Path: "MEMORY.md", From: memory.Moment{Time: october(2)}, To: &memory.Moment{}, MaxSensitivity: c.ceiling})
		var shown strings.Builder
		for _, f := range d.Files {
			shown.WriteString(f.Text)
		}
		if err != nil || strings.Contains(shown.String(), "Porto") != strings.Contains(c.then, "Porto") || strings.Contains(shown.String(), "Lisbon") != strings.Contains(c.last, "Lisbon") {
			t.Errorf("%s: the difference is %s, %v", name, shown.String(), err)
		}
	}
	without := openMemory(t, Options{Workspace: inPorto(t)})
	if _, err := without.Show(t.Context(), "MEMORY.md", memory.Moment{}, &normal); !errors.As(err, new(*memory.InputError)) {
		t.Errorf("Show without derivation: %v", err)
	}
	if _, err := without.Diff(t.Context(), memory.DiffQuery{MaxSensitivity: &normal}); !errors.As(err, new(*memory.InputError)) {
		t.Errorf("Diff without derivation: %v", err)
	}
	if _, err := without.SearchPast(t.Context(), memory.Query{Text: "where does Ines live", MaxSensitivity: &normal}, memory.Moment{}); !errors.As(err, new(*memory.InputError)) {
		t.Errorf("SearchPast without derivation: %v", err)
	}
	if got, err := without.Show(t.Context(), "MEMORY.md", memory.Moment{}, nil); err != nil || !strings.Contains(got.Text, "Lisbon") {
		t.Errorf("Show without derivation and ceiling: %+v, %v", got, err)
	}
}
