package indexer_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"kioku/indexer"
	"kioku/internal/testkit"
)

// watching starts a watch, waits for its first sync, and ends it with the test.
func (f *fixture) watching() {
	f.Helper()
	ctx, cancel := context.WithCancel(f.Context())
	ended := make(chan error, 1)
	go func() { ended <- f.x.Watch(ctx) }()
	f.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			f.Errorf("watch: %v", err)
		}
		if s := f.x.SyncState(); s.WatchMode != indexer.ModeOff || s.PendingFiles != 0 {
			f.Errorf("state after the watch: %+v", s)
		}
	})
	f.until("first sync", func() bool { return !f.x.SyncState().LastSync.IsZero() })
}

// shows waits until the index has a text for a path.
func (f *fixture) shows(path, text string) {
	f.Helper()
	f.until(fmt.Sprintf("%s holds %q", path, text), func() bool {
		got, ok := f.index.text(path)
		return ok && got == text
	})
}

func (f *fixture) gone(path string) {
	f.Helper()
	f.until(path+" is gone", func() bool {
		_, ok := f.index.text(path)
		return !ok
	})
}

// shell runs a command in memory/.
func (f *fixture) shell(script string) {
	f.Helper()
	cmd := exec.Command("sh", "-ec", script)
	cmd.Dir = f.path("memory")
	if out, err := cmd.CombinedOutput(); err != nil {
		f.Fatalf("%s: %v\n%s", script, err, out)
	}
}

// Hazard B01: however an editor saves, the new text is indexed, and once.
// Hazard B02: what it leaves beside the file on the way is not.
func TestWatchIndexesEachSaveStyleOnce(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ script, want string }{
		"append":               {"printf '\\nnew' >> note.md", "old|new"},
		"copy over":            {"cp ../other note.md", "other"},
		"move over":            {"printf new > note.md.tmp; mv note.md.tmp note.md", "new"},
		"move from outside":    {"mv ../other note.md", "other"},
		"vim":                  {"vim -u NONE -es -c '%s/old/vim/' -c wq note.md", "vim"},
		"vim backupcopy=no":    {"vim -u NONE -es --cmd 'set backupcopy=no backup' -c '%s/old/vim/' -c wq note.md", "vim"},
		"vim backupcopy=yes":   {"vim -u NONE -es --cmd 'set backupcopy=yes backup' -c '%s/old/vim/' -c wq note.md", "vim"},
		"sed":                  {"sed -i s/old/sed/ note.md", "sed"},
		"truncate, then write": {": > note.md; sleep 0.02; printf new > note.md", "new"},
		"emacs":                {"ln -s me@host.1 .#note.md; printf new > '#note.md#'; cp -p note.md note.md~; printf new > note.md; rm .#note.md '#note.md#'", "new"},
		"VS Code, atomic":      {"printf new > note.md.vsctmp; mv note.md.vsctmp note.md", "new"},
		"git checkout":         {"cp ../other note.md; git add note.md; git -c user.name=n -c user.email=e commit -qm two; git checkout -q HEAD~1; git checkout -q -", "other"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if strings.HasPrefix(name, "vim") {
				if _, err := exec.LookPath("vim"); err != nil {
					t.Skip("no vim here")
				}
			}
			f := setup(t, func(o *indexer.Options) { o.Debounce = 300 * time.Millisecond })
			f.write("memory/note.md", "old")
			f.write("other", "other")
			if strings.HasPrefix(name, "git") {
				f.shell("git init -q ..; git add note.md; git -c user.name=n -c user.email=e commit -qm one")
			}
			f.watching()
			f.shell(c.script)
			f.shows("memory/note.md", c.want)
			// A second file ends the wait for what should not come.
			f.write("memory/end.md", "end")
			f.shows("memory/end.md", "end")
			f.holds("memory/note.md", "memory/end.md")
			if n := f.index.writes("memory/note.md"); n != 2 {
				t.Errorf("written %d times, want 2", n)
			}
		})
	}
}

// Hazard B01: touch and chmod are seen and lead to nothing; a removed and a moved file go.
func TestWatchIndexesNoTouchedFiles(t *testing.T) {
	t.Parallel()
	f := setup(t, nil)
	f.write("memory/note.md", "old")
	f.write("memory/b.md", "b")
	f.write("memory/c.md", "c")
	f.watching()
	f.shell("touch note.md; chmod 600 note.md; rm b.md; mv c.md ../c.md")
	f.gone("memory/b.md")
	f.gone("memory/c.md")
	f.shell("mv note.md renamed.md")
	f.gone("memory/note.md")
	f.shows("memory/renamed.md", "old")
	if n := f.index.writes("memory/note.md"); n != 1 {
		t.Errorf("written %d times", n)
	}
}

// Hazard B08: a file whose writer paused half way ends up whole.
func TestWatchIndexesPartialWritesWhole(t *testing.T) {
	t.Parallel()
	f := setup(t, nil)
	f.watching()
	f.write("memory/note.md", "first ha")
	f.shows("memory/note.md", "first ha")
	f.write("memory/note.md", "first half\nsecond half")
	f.shows("memory/note.md", "first half|second half")
}

// Hazard B03: files written into new nested folders at once are all found.
func TestWatchFindsNewNestedFolders(t *testing.T) {
	t.Parallel()
	f := setup(t, nil)
	f.watching()
	n := testkit.Rounds(2000, 200)
	for i := range n {
		f.write(fmt.Sprintf("memory/%d/%d/%d/x.md", i%10, i%100, i), fmt.Sprint("note ", i))
	}
	f.until("all files are indexed", func() bool { paths, _ := f.index.list(); return len(paths) == n })
	last := fmt.Sprintf("memory/9/99/%d/x.md", n-1)
	f.write(last, "edited")
	f.shows(last, "edited")
}

func TestWatchFollowsRenamedFolders(t *testing.T) {
	t.Parallel()
	f := setup(t, nil)
	f.write("memory/a/deep/x.md", "x")
	f.watching()
	f.shell("mv a b")
	f.shows("memory/b/deep/x.md", "x")
	f.gone("memory/a/deep/x.md")
	f.write("memory/b/deep/x.md", "edited")
	f.shows("memory/b/deep/x.md", "edited")
	f.shell("mv b ../b")
	f.gone("memory/b/deep/x.md")
	if n := f.index.writes("memory/a/deep/x.md"); n != 1 {
		t.Errorf("written under the old name %d times", n)
	}
}

// Hazard B06: a workspace that is removed and made again is watched again, and causes events.
func TestWatchOfRemadeWorkspace(t *testing.T) {
	t.Parallel()
	f := setup(t, nil)
	f.write("memory/a.md", "a")
	f.watching()
	f.must(os.RemoveAll(f.dir))
	f.until("unavailable", func() bool { return len(f.x.SyncState().Unavailable) == 1 })
	f.holds("memory/a.md")
	f.write("memory/b.md", "b")
	f.shows("memory/b.md", "b")
	f.gone("memory/a.md")
	f.until("available", func() bool { return len(f.x.SyncState().Unavailable) == 0 })
	f.write("memory/b.md", "edited")
	f.shows("memory/b.md", "edited")
	if f.count(indexer.RootUnavailable, f.dir) != 1 || f.count(indexer.RootAvailable, f.dir) != 1 {
		t.Errorf("events %+v", f.events)
	}
}

// Hazard B06: so is one that another folder took the place of.
func TestWatchOfReplacedWorkspace(t *testing.T) {
	t.Parallel()
	f := setup(t, nil)
	f.write("memory/a.md", "a")
	f.write("../next/memory/b.md", "b")
	f.watching()
	f.must(os.Rename(f.dir, f.dir+".old"))
	f.must(os.Rename(filepath.Join(filepath.Dir(f.dir), "next"), f.dir))
	f.shows("memory/b.md", "b")
	f.gone("memory/a.md")
	f.write("memory/b.md", "edited")
	f.shows("memory/b.md", "edited")
}

func TestWatchObeysChangedIgnoreFiles(t *testing.T) {
	t.Parallel()
	f := setup(t, func(o *indexer.Options) { o.Include = indexer.WholeFolder })
	f.write("a.md", "a")
	f.write("sub/b.md", "b")
	f.watching()
	f.write("sub/.gitignore", "b.md\n")
	f.gone("sub/b.md")
	f.write(".gitignore", "a.md\n")
	f.gone("a.md")
	f.must(os.Remove(f.path("sub/.gitignore")))
	f.shows("sub/b.md", "b")
}

func TestWatchOfExtraPaths(t *testing.T) {
	t.Parallel()
	out := t.TempDir()
	f := setup(t, func(o *indexer.Options) { o.ExtraPaths = []string{"notes", out + "/one.md", out + "/docs"} })
	f.must(os.Mkdir(out+"/docs", 0o755))
	f.write("notes/n.md", "n")
	f.watching()
	f.write("notes/n.md", "n2")
	f.must(os.WriteFile(out+"/one.md", []byte("1"), 0o644))
	f.must(os.WriteFile(out+"/docs/d.md", []byte("d"), 0o644))
	f.shows("notes/n.md", "n2")
	f.shows(out+"/one.md", "1")
	f.shows(out+"/docs/d.md", "d")
}

// Hazard B06: folders that are moved away and removed in one go leave watches behind that the system ended already.
func TestWatchSurvivesFoldersThatGoAtOnce(t *testing.T) {
	t.Parallel()
	f := setup(t, nil)
	f.watching()
	for i := range 5 {
		f.write("memory/d/deep/x.md", fmt.Sprint("round ", i))
		f.shows("memory/d/deep/x.md", fmt.Sprint("round ", i))
		f.shell("mv d ../away; rm -r ../away; mkdir -p e/e; mv e ../away; rm -r ../away")
		f.gone("memory/d/deep/x.md")
	}
}

func TestWatchRunsOnce(t *testing.T) {
	t.Parallel()
	f := setup(t, nil)
	f.watching()
	if err := f.x.Watch(t.Context()); err == nil {
		t.Error("a second watch ran")
	}
}
