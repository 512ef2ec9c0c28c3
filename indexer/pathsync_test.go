package indexer_test

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"kioku/indexer"
)

// Hazard B01: what changes while the folder is watched reaches the index, without a look at everything unless a folder has gone.
func TestWatchIndexesChangesByPath(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		script string
		want   map[string]string
	}{
		"create":           {"printf new > new.md", map[string]string{"memory/new.md": "new"}},
		"create in folder": {"mkdir -p x/y; printf new > x/y/new.md", map[string]string{"memory/x/y/new.md": "new"}},
		"edit":             {"printf edited > a.md", map[string]string{"memory/a.md": "edited"}},
		"atomic replace":   {"printf newer > a.md.tmp; mv a.md.tmp a.md", map[string]string{"memory/a.md": "newer"}},
		"delete":           {"rm a.md", map[string]string{"memory/a.md": ""}},
		"rename":           {"mv a.md b.md", map[string]string{"memory/a.md": "", "memory/b.md": "a"}},
		"rename a folder": {"mv d e", map[string]string{
			"memory/d/one.md": "", "memory/d/deep/two.md": "", "memory/e/one.md": "one", "memory/e/deep/two.md": "two"}},
		"delete a folder":      {"rm -r d", map[string]string{"memory/d/one.md": "", "memory/d/deep/two.md": ""}},
		"folder becomes file":  {"rm -r d; printf file > d.md; mkdir n.md", map[string]string{"memory/d/one.md": "", "memory/d.md": "file"}},
		"replace by a link":    {"ln -sf d/one.md a.md", map[string]string{"memory/a.md": ""}},
		"file of another name": {"mv d/deep/two.md .; printf 2 >> two.md", map[string]string{"memory/d/deep/two.md": "", "memory/two.md": "two2"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := setup(t, nil)
			f.write("memory/a.md", "a")
			f.write("memory/d/one.md", "one")
			f.write("memory/d/deep/two.md", "two")
			f.write("memory/other/still.md", "still")
			f.watching()
			before := f.index.lists()
			f.shell(c.script)
			for path, text := range c.want {
				f.until(fmt.Sprintf("%s holds %q", path, text), func() bool { got, _ := f.index.text(path); return got == text })
			}
			f.has("memory/other/still.md", "still")
			if n := f.index.lists() - before; n != 0 && !slices.Contains([]string{"rename a folder", "delete a folder", "folder becomes file"}, name) {
				t.Errorf("everything was looked at %d times", n)
			}
		})
	}
}

// Hazard B09: edits of this file and of others while a sync of a path runs are indexed after it.
func TestWatchIndexesEditsDuringSync(t *testing.T) {
	t.Parallel()
	f := setup(t, nil)
	f.write("memory/a.md", "a")
	f.write("memory/b.md", "b")
	f.split.during = func(src []byte) {
		switch string(src) {
		case "first":
			f.must(os.WriteFile(f.path("memory/b.md"), []byte("during"), 0o644))
			f.must(os.WriteFile(f.path("memory/new.md"), []byte("made"), 0o644))
			f.must(os.WriteFile(f.path("memory/a.md"), []byte("second"), 0o644))
		case "made":
			_ = os.Rename(f.path("memory/new.md"), f.path("memory/newer.md")) // cut again under its new name
		}
	}
	f.watching()
	before := f.index.lists()
	f.write("memory/a.md", "first")
	f.shows("memory/a.md", "second")
	f.shows("memory/b.md", "during")
	f.shows("memory/newer.md", "made")
	f.gone("memory/new.md")
	if n := f.index.lists() - before; n != 0 {
		t.Errorf("everything was looked at %d times", n)
	}
}

func TestIndexPendingIndexesDebouncedPaths(t *testing.T) {
	t.Parallel()
	f := setup(t, func(o *indexer.Options) { o.Debounce, o.MaxWait = time.Hour, time.Hour })
	f.write("memory/a.md", "old")
	if f.x.IndexPending() {
		t.Error("nobody watches, and yet changes are pending")
	}
	f.watching()
	before := f.index.lists()
	f.write("memory/a.md", "new")
	f.until("the change is known", func() bool { return f.x.SyncState().PendingFiles == 1 })
	if !f.x.IndexPending() {
		t.Error("the watch was not told")
	}
	f.shows("memory/a.md", "new")
	// The system may report a write twice, the second time after the path was indexed.
	f.until("nothing waits", func() bool { return f.x.IndexPending() && !f.x.SyncState().Dirty })
	if n := f.index.lists() - before; n != 0 {
		t.Errorf("everything was looked at %d times", n)
	}
}

func TestWatchLeavesChangesToNextSync(t *testing.T) {
	t.Parallel()
	f := setup(t, func(o *indexer.Options) { o.Debounce, o.MaxWait = time.Hour, time.Hour })
	f.write("memory/a.md", "old")
	t.Run("watch", func(t *testing.T) {
		f := &fixture{T: t, dir: f.dir, index: f.index, x: f.x}
		f.watching()
		f.write("memory/a.md", "new")
		f.until("the change is known", func() bool { return f.x.SyncState().PendingFiles == 1 })
		t.Cleanup(func() { f.write("memory/a.md", "newer") })
	})
	if !f.x.SyncState().Dirty {
		t.Error("a change is forgotten with the watch")
	}
	f.sync()
	f.has("memory/a.md", "newer")
}

// tree changes a folder at random and notes the paths that a watch would hear of.
type tree struct {
	*fixture
	touched map[string]bool
	clock   time.Time
}

func (r *tree) touch(rel string) {
	r.touched[r.path(rel)] = true
}

// change makes one change. One that the folder does not allow makes none.
func (r *tree) change(t *rapid.T) {
	place := rapid.SampledFrom([]string{"memory", "memory/d", "memory/d/e", "memory/f.md", "memory/g"})
	file := rapid.SampledFrom([]string{"a.md", "b.md", "c.txt", "f.md"})
	one := filepath.Join(place.Draw(t, "folder"), file.Draw(t, "file"))
	switch rapid.IntRange(0, 4).Draw(t, "what") {
	case 0, 1:
		if os.MkdirAll(filepath.Dir(r.path(one)), 0o755) != nil {
			return
		}
		text := rapid.SampledFrom([]string{"a.md\n", "e/\n", "text", "other text"}).Draw(t, "text")
		if os.WriteFile(r.path(one), []byte(text), 0o644) != nil {
			return
		}
		r.clock = r.clock.Add(time.Second)
		r.must(os.Chtimes(r.path(one), r.clock, r.clock))
		for up := one; up != "memory"; up = filepath.Dir(up) {
			r.touch(up)
		}
	case 2:
		if os.RemoveAll(r.path(one)) == nil {
			r.touch(one)
		}
	case 3:
		if dir := filepath.Dir(one); dir != "memory" && os.RemoveAll(r.path(dir)) == nil {
			r.touch(dir)
		}
	case 4:
		to := place.Draw(t, "to")
		if from := filepath.Dir(one); from != "memory" && os.Rename(r.path(from), r.path(to)) == nil {
			r.touch(from)
			r.touch(to)
		}
	}
}

// Whatever changes, a sync of the changed paths leaves the index as a new index of the folder is.
func TestSyncPathsEqualsFullSync(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		f := setup(t, nil)
		defer os.RemoveAll(f.dir)
		f.write("memory/anchor.md", "so that the folder is never empty")
		f.sync()
		before := f.index.lists()
		r := &tree{fixture: f, clock: time.Now().Add(-24 * time.Hour)}
		for range rapid.IntRange(1, 4).Draw(rt, "rounds") {
			r.touched = map[string]bool{}
			for range rapid.IntRange(1, 5).Draw(rt, "changes") {
				r.change(rt)
			}
			if len(r.touched) == 0 {
				continue
			}
			if _, err := f.x.SyncPaths(t.Context(), slices.Sorted(maps.Keys(r.touched))...); err != nil {
				rt.Fatal(err)
			}
			fresh := newMemIndex()
			opt := indexer.Options{Workspace: f.dir, Now: f.now}
			if _, err := indexer.New(f.split, fresh, opt).Sync(t.Context(), indexer.SyncOptions{}, nil); err != nil {
				rt.Fatal(err)
			}
			if diff := cmp.Diff(contents(fresh), contents(f.index)); diff != "" {
				rt.Fatalf("after %q: %s", slices.Sorted(maps.Keys(r.touched)), diff)
			}
		}
		if f.index.lists() != before {
			rt.Error("everything was looked at")
		}
	})
}

// contents returns the chunks of each file, or why it is skipped.
func contents(m *memIndex) map[string]string {
	out := map[string]string{}
	for path, f := range m.files {
		var text []string
		for _, c := range f.Chunks {
			text = append(text, c.Text)
		}
		out[path] = f.Skipped + strings.Join(text, "|")
	}
	return out
}
