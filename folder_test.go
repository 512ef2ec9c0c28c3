package kioku_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"kioku"
	"kioku/indexer"
	"kioku/internal/testkit"
	"kioku/memory"
)

// folder writes files, path and text in turn, into a new folder and returns it.
func folder(t *testing.T, files ...string) string {
	t.Helper()
	dir := t.TempDir()
	for i := 0; i < len(files); i += 2 {
		testkit.WriteFile(t, dir, files[i], files[i+1])
	}
	return dir
}

// open opens the memory of a folder with settings of the index.
func open(t *testing.T, dir, state string, index kioku.IndexOptions) *kioku.Memory {
	t.Helper()
	m, err := kioku.Open(t.Context(), kioku.Options{Workspace: dir, StateDir: state, Index: index})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { m.Close() })
	return m
}

// syncOf syncs and fails the test if that fails.
func syncOf(t *testing.T, m *kioku.Memory, opt kioku.SyncOptions) kioku.SyncReport {
	t.Helper()
	r, err := m.Sync(t.Context(), opt, nil)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// findsOf returns the paths that a search finds, and the texts of its degradations by their code.
func findsOf(t *testing.T, m *kioku.Memory, query string) ([]string, map[string]string) {
	t.Helper()
	a, err := m.Search(t.Context(), memory.Query{Text: query})
	if err != nil {
		t.Fatal(err)
	}
	var paths []string
	for _, h := range a.Hits {
		paths = append(paths, h.Path)
	}
	slices.Sort(paths)
	degraded := map[string]string{}
	for _, d := range a.Degraded {
		degraded[d.Code] = d.Text
	}
	return slices.Compact(paths), degraded
}

// Hazard B25: Append in a folder without MEMORY.md and memory/ makes memory/YYYY-MM-DD.md, which does not hide the rest afterwards: not in this
// process, not in the next one, and not in an index that is made anew.
func TestAppendInAWholeFolderHidesNothing(t *testing.T) {
	t.Parallel()
	dir, state := folder(t, "Places/Kyoto.md", "# Kyoto\n\nThe harbor crane.\n"), t.TempDir()
	m := open(t, dir, state, kioku.IndexOptions{})
	syncOf(t, m, kioku.SyncOptions{})
	a, err := m.Append(t.Context(), memory.Note{Text: "The harbor is closed."})
	if err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(a.Path, "memory/") {
		t.Errorf("path %q", a.Path)
	}
	want := []string{"Places/Kyoto.md", a.Path}
	for _, how := range []string{"the same process", "the next process", "a new index"} {
		switch how {
		case "the next process":
			m.Close()
			m = open(t, dir, state, kioku.IndexOptions{})
		case "a new index":
			m.Close()
			m = open(t, dir, t.TempDir(), kioku.IndexOptions{})
		}
		syncOf(t, m, kioku.SyncOptions{})
		if got, degraded := findsOf(t, m, "harbor"); !slices.Equal(got, want) || len(degraded) > 0 {
			t.Errorf("%s: found %q, degraded %q", how, got, degraded)
		}
	}
	settings, err := os.ReadFile(filepath.Join(dir, indexer.SettingsFile))
	if err != nil || !strings.HasSuffix(string(settings), "include: [\"**/*.md\"]\n") {
		t.Errorf("settings %q, %v", settings, err)
	}
	if _, err := m.Append(t.Context(), memory.Note{Text: "Another note.", Target: memory.TargetLongTerm}); err != nil {
		t.Fatal(err)
	}
	if again, _ := os.ReadFile(filepath.Join(dir, indexer.SettingsFile)); string(again) != string(settings) {
		t.Errorf("written again: %q", again)
	}
}

// A settings file is made only if something would be hidden without it.
func TestAppendRecordsOnlyWhatItMust(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		files []string
		index kioku.IndexOptions
	}{
		"an empty folder":   {},
		"a curated folder":  {files: []string{"MEMORY.md", "x", "README.md", "x"}},
		"ignored files":     {files: []string{".gitignore", "README.md", "README.md", "x", "node_modules/a.md", "x"}},
		"settings say what": {files: []string{"README.md", "x"}, index: kioku.IndexOptions{Include: []string{"docs"}}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := folder(t, c.files...)
			m := open(t, dir, t.TempDir(), c.index)
			if _, err := m.Append(t.Context(), memory.Note{Text: "A note."}); err != nil {
				t.Fatal(err)
			}
			if _, err := os.Lstat(filepath.Join(dir, indexer.SettingsFile)); !errors.Is(err, os.ErrNotExist) {
				t.Errorf("settings: %v", err)
			}
		})
	}
}

// Hazard B25: the line is added to settings that are there already, and if it cannot be added, no note is written and the error says what to do.
func TestAppendKeepsTheSettingsOfAWholeFolder(t *testing.T) {
	t.Parallel()
	for settings, works := range map[string]bool{
		"timezone: Europe/Berlin": true, "exclude:\n- old\n": true, "# nothing yet\n": true,
		"{timezone: UTC}\n": false, "include: []\n": false, ": [\n": false, "- a list\n": false,
	} {
		t.Run(settings, func(t *testing.T) {
			t.Parallel()
			dir := folder(t, "README.md", "x", indexer.SettingsFile, settings)
			m := open(t, dir, t.TempDir(), kioku.IndexOptions{})
			_, err := m.Append(t.Context(), memory.Note{Text: "A note."})
			got, readErr := os.ReadFile(filepath.Join(dir, indexer.SettingsFile))
			if readErr != nil || !strings.HasPrefix(string(got), settings) {
				t.Errorf("settings %q, %v", got, readErr)
			}
			if (err == nil) != works {
				t.Fatalf("append: %v", err)
			}
			if works {
				if globs := indexer.RecordedInclude(dir); !slices.Equal(globs, indexer.WholeFolder) {
					t.Errorf("recorded %q", globs)
				}
				return
			}
			if _, statErr := os.Lstat(filepath.Join(dir, "memory")); !errors.Is(statErr, os.ErrNotExist) || string(got) != settings {
				t.Errorf("memory/: %v, settings %q", statErr, got)
			}
			if !strings.Contains(err.Error(), "include: [\"**/*.md\"]") {
				t.Errorf("the error does not say what to do: %v", err)
			}
		})
	}
}

// Notes that several processes append first record it once.
func TestIncludeAllAtTheSameTime(t *testing.T) {
	t.Parallel()
	dir := folder(t, "README.md", "x")
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			if err := kioku.IncludeAll(t.Context(), dir); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if globs := indexer.RecordedInclude(dir); !slices.Equal(globs, indexer.WholeFolder) {
		t.Errorf("recorded %q", globs)
	}
}

// Hazard B24: what the settings do not include any more is not found, and comes back with them; nothing of it is paid for again.
func TestFilesComeBackWithTheirSettings(t *testing.T) {
	t.Parallel()
	dir, state := folder(t, "MEMORY.md", "The harbor opens at six.\n", "docs/a.md", "The harbor closes at nine.\n"), t.TempDir()
	with := kioku.IndexOptions{Include: []string{"docs"}}
	for _, c := range []struct {
		opt  kioku.IndexOptions
		want []string
	}{
		{with, []string{"MEMORY.md", "docs/a.md"}}, {kioku.IndexOptions{}, []string{"MEMORY.md"}}, {with, []string{"MEMORY.md", "docs/a.md"}},
	} {
		m := open(t, dir, state, c.opt)
		syncOf(t, m, kioku.SyncOptions{NoRebuild: true})
		got, degraded := findsOf(t, m, "harbor")
		slices.Sort(got)
		if !slices.Equal(got, c.want) || len(degraded) > 0 {
			t.Errorf("found %q, degraded %q", got, degraded)
		}
		if len(c.want) == 1 {
			st, err := m.Status(t.Context())
			if err != nil || st.Index.Files != 1 || st.Beside != (indexer.Beside{Files: 1}) {
				t.Errorf("status: %d files, beside %+v, %v", st.Index.Files, st.Beside, err)
			}
		}
		m.Close()
	}
}

// An empty answer says how many Markdown files beside MEMORY.md and memory/ are not indexed, and the command that takes them in.
func TestSearchSaysWhatIsNotIndexed(t *testing.T) {
	t.Parallel()
	m := open(t, folder(t, "MEMORY.md", "Nothing here.\n", "docs/a.md", "The harbor.\n", "docs/b.md", "x\n"), t.TempDir(), kioku.IndexOptions{})
	syncOf(t, m, kioku.SyncOptions{})
	got, degraded := findsOf(t, m, "harbor")
	if text := degraded[memory.FilesBeside]; len(got) > 0 || !strings.Contains(text, "that the settings do not include: 2;") || !strings.Contains(text, "kioku index --all") {
		t.Errorf("found %q, degraded %q", got, degraded)
	}
}

// Hazard B26: the same note is found under a path that is composed in another way, as macOS does, if there is only one.
func TestGetFindsPathsOfAnotherComposition(t *testing.T) {
	t.Parallel()
	const nfc, nfd = "caf\u00e9", "cafe\u0301"
	m := open(t, folder(t, nfd+"/"+nfd+".md", "decomposed\n", "both/"+nfc+".md", "one\n", "both/"+nfd+".md", "other\n",
		"case/A.md", "upper\n", "case/a.md", "lower\n"), t.TempDir(), kioku.IndexOptions{})
	syncOf(t, m, kioku.SyncOptions{})
	for path, want := range map[string]string{
		nfc + "/" + nfc + ".md": "decomposed\n", nfd + "/" + nfd + ".md": "decomposed\n", nfc + "/" + nfd + ".md": "decomposed\n",
		"both/" + nfc + ".md": "one\n", "both/" + nfd + ".md": "other\n", "case/A.md": "upper\n", "case/a.md": "lower\n",
	} {
		ex, err := m.Get(t.Context(), memory.GetRequest{Path: path})
		if err != nil || ex.Text != want {
			t.Errorf("Get(%+q) = %q, %v; want %q", path, ex.Text, err, want)
		}
	}
	if ex, err := m.Get(t.Context(), memory.GetRequest{Path: nfc + "/" + nfc + ".md"}); ex.Path != nfd+"/"+nfd+".md" {
		t.Errorf("path %+q, %v", ex.Path, err)
	}
	ex, err := m.Explain(t.Context(), memory.Query{Text: "decomposed"}, nfc+"/"+nfc+".md", 1)
	if err != nil || ex.Outcome == memory.NotIndexed {
		t.Errorf("explained %q %q, %v", ex.Outcome, ex.Text, err)
	}
	if links, err := m.Links(t.Context(), nfc+"/"+nfc+".md"); err != nil || links.Path != nfd+"/"+nfd+".md" {
		t.Errorf("links of %+q, %v", links.Path, err)
	}
	for _, path := range []string{"Both/x.md", "cafe/cafe.md"} {
		if _, err := m.Get(t.Context(), memory.GetRequest{Path: path}); !errors.Is(err, memory.ErrNotFound) {
			t.Errorf("Get(%q): %v", path, err)
		}
	}
}

// Hazard B25: a kill between the settings and the note leaves a folder that is still indexed whole.
func TestAppendKilledBetweenItsStepsHidesNothing(t *testing.T) {
	t.Parallel()
	dir := folder(t, "README.md", "The harbor.\n")
	if err := kioku.IncludeAll(t.Context(), dir); err != nil { // the first step of Append
		t.Fatal(err)
	}
	for _, step := range []string{"", "memory/", "memory/2026-01-01.md"} {
		if strings.HasSuffix(step, "/") {
			if err := os.Mkdir(filepath.Join(dir, step), 0o755); err != nil {
				t.Fatal(err)
			}
		} else if step != "" {
			testkit.WriteFile(t, dir, step, "")
		}
		m := open(t, dir, t.TempDir(), kioku.IndexOptions{})
		syncOf(t, m, kioku.SyncOptions{})
		if got, degraded := findsOf(t, m, "harbor"); !slices.Equal(got, []string{"README.md"}) || len(degraded) > 0 {
			t.Errorf("with %q: found %q, degraded %q", step, got, degraded)
		}
	}
}
