package indexer_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"kioku/indexer"
	"kioku/internal/testkit"
	"kioku/memory"
)

func TestSyncSkipsUnchangedFiles(t *testing.T) {
	t.Parallel()
	f := setup(t, nil)
	n := testkit.Rounds(2000, 200)
	for i := range n {
		f.write(fmt.Sprintf("memory/%02d/%04d.md", i%50, i), fmt.Sprint("note ", i))
	}
	if rep := f.sync(); rep.Read != n || rep.Files != n {
		t.Fatalf("first sync: %+v", rep)
	}
	if rep := f.sync(); rep.Read != 0 || rep.Files != 0 || f.split.runs != n {
		t.Errorf("second sync: %+v, %d files cut", rep, f.split.runs)
	}
	// Nor by a new process, which knows only the index.
	f.x = indexer.New(f.split, f.index, indexer.Options{Workspace: f.dir, Now: f.now})
	if rep := f.sync(); rep.Read != 0 || rep.Files != 0 {
		t.Errorf("sync after a restart: %+v", rep)
	}
}

func TestSyncReadsFilesWrittenJustBeforeLastScan(t *testing.T) {
	t.Parallel()
	f := setup(t, nil)
	f.advance(-time.Hour)
	f.write("memory/a.md", "one")
	f.sync()
	info, err := os.Stat(f.path("memory/a.md"))
	f.must(err)
	// A coarse clock gives a second edit of the same size the time of the first.
	f.write("memory/a.md", "two")
	f.must(os.Chtimes(f.path("memory/a.md"), info.ModTime(), info.ModTime()))
	f.sync()
	f.has("memory/a.md", "two")
	f.advance(time.Hour)
	f.sync()
	if rep := f.sync(); rep.Read != 0 {
		t.Errorf("read again although it has rested: %+v", rep)
	}
}

// Hazard K11: a file that takes the place of another one is read, even if it has the same size and time.
func TestSyncReadsWhatHasTheSameSizeAndTime(t *testing.T) {
	t.Parallel()
	for name, replace := range map[string]func(f *fixture, file string, old time.Time){
		"rename": func(f *fixture, file string, old time.Time) {
			f.write("other", "two")
			f.must(os.Chtimes(f.path("other"), old, old))
			f.must(os.Rename(f.path("other"), f.path(file)))
		},
		"in place": func(f *fixture, file string, old time.Time) {
			f.write(file, "two")
			f.must(os.Chtimes(f.path(file), old, old))
		},
	} {
		t.Run(name, func(t *testing.T) {
			f := setup(t, nil)
			old := f.now().Add(-time.Hour)
			f.write("memory/a.md", "one")
			f.must(os.Chtimes(f.path("memory/a.md"), old, old))
			f.sync()
			replace(f, "memory/a.md", old)
			f.sync()
			f.has("memory/a.md", "two")
		})
	}
}

// Hazard A23: an edit that leaves size and time unchanged is found by a sync that verifies, if the file system tells no other time.
func TestSyncVerifyFindsEditsThatHide(t *testing.T) {
	t.Parallel()
	f := setup(t, nil)
	f.index.blind = true
	f.write("memory/a.md", "one")
	f.sync()
	info, err := os.Stat(f.path("memory/a.md"))
	f.must(err)
	f.write("memory/a.md", "two")
	f.must(os.Chtimes(f.path("memory/a.md"), info.ModTime(), info.ModTime()))
	if f.sync(); f.index.writes("memory/a.md") != 1 {
		t.Error("found without Verify: the test shows nothing")
	}
	f.syncWith(indexer.SyncOptions{Verify: true})
	f.has("memory/a.md", "two")
}

// Hazard B01: touch and chmod change no content, so nothing is split, embedded, written or reported.
func TestSyncReadsTouchedFilesOnceAndWritesNone(t *testing.T) {
	t.Parallel()
	f := setup(t, nil)
	f.write("memory/a.md", "one")
	f.sync()
	later := time.Now().Add(time.Minute)
	f.must(os.Chtimes(f.path("memory/a.md"), later, later))
	f.must(os.Chmod(f.path("memory/a.md"), 0o600))
	if rep := f.sync(); rep.Read != 1 || rep.Files != 0 || f.split.runs != 1 || f.index.writes("memory/a.md") != 1 || f.count(indexer.FileIndexed, "") != 1 {
		t.Errorf("after a touch: %+v", rep)
	}
	if rep := f.sync(); rep.Read != 0 {
		t.Errorf("read again: %+v", rep)
	}
}

func TestSyncIndexesEditsAndDeletions(t *testing.T) {
	t.Parallel()
	f := setup(t, nil)
	f.write("memory/a.md", "one\ntwo")
	f.write("memory/b.md", "bee")
	f.sync()
	f.index.learn()
	f.write("memory/a.md", "one\nthree")
	f.must(os.Remove(f.path("memory/b.md")))
	rep := f.sync()
	f.has("memory/a.md", "one|three")
	f.holds("memory/a.md")
	if rep.Files != 1 || rep.Chunks != 2 || rep.Removed != 1 || rep.Known != 1 {
		t.Errorf("report %+v", rep)
	}
	if f.count(indexer.FileRemoved, "memory/b.md") != 1 {
		t.Error("nobody was told of the removal")
	}
}

// Hazard B20: a file in another folder costs no embedding, and its old rows go in the transaction that brings the new ones.
func TestSyncOfMovedFileKeepsVectors(t *testing.T) {
	t.Parallel()
	f := setup(t, nil)
	var text strings.Builder
	for i := range 1000 {
		fmt.Fprintln(&text, "line", i)
	}
	f.write("memory/inbox/note.md", text.String())
	f.sync()
	f.index.learn()
	f.must(os.Rename(f.path("memory/inbox/note.md"), f.path("memory/note.md")))
	rep := f.sync()
	f.holds("memory/note.md")
	if rep.Known != 1000 {
		t.Errorf("report %+v", rep)
	}
	if last := f.index.commits[len(f.index.commits)-1]; !slices.Equal(last, []string{"-memory/inbox/note.md", "memory/note.md"}) {
		t.Errorf("last commit: %q", last)
	}
}

// Hazard B09: an edit between reading and commit is indexed too, in the same sync.
func TestSyncIndexesEditsDuringSync(t *testing.T) {
	t.Parallel()
	f := setup(t, nil)
	f.write("memory/a.md", "old")
	f.split.during = func(src []byte) {
		if string(src) == "old" {
			f.must(os.WriteFile(f.path("memory/a.md"), []byte("newer"), 0o644))
		}
	}
	f.sync()
	f.has("memory/a.md", "newer")
	if f.x.SyncState().Dirty {
		t.Error("dirty although everything is indexed")
	}
}

// Hazard B09: a file that changes each time it is indexed ends the sync all the same, and the state says so.
func TestSyncLeavesFilesThatKeepChanging(t *testing.T) {
	t.Parallel()
	f := setup(t, nil)
	f.write("memory/a.md", "0")
	f.write("memory/b.md", "bee")
	n := 0
	f.split.during = func(src []byte) {
		if string(src) != "bee" {
			n++
			f.must(os.WriteFile(f.path("memory/a.md"), []byte(strings.Repeat("x", n)), 0o644))
		}
	}
	f.sync()
	if n != 3 || !f.x.SyncState().Dirty {
		t.Errorf("indexed %d times, state %+v", n, f.x.SyncState())
	}
	f.split.during = nil
	f.sync()
	f.has("memory/a.md", "xxx")
	if f.x.SyncState().Dirty {
		t.Error("still dirty")
	}
}

func TestSyncWritesInOrderAndInBatches(t *testing.T) {
	t.Parallel()
	f := setup(t, nil)
	for i := range 60 {
		f.write(fmt.Sprintf("memory/%02d.md", i), strings.Repeat(fmt.Sprintf("line of %d\n", i), 20))
	}
	f.sync()
	var all []string
	for _, c := range f.index.commits {
		if len(c) > 25 {
			t.Errorf("a commit of %d files with 20 chunks each", len(c))
		}
		all = append(all, c...)
	}
	if len(all) != 60 || !slices.IsSorted(all) {
		t.Errorf("written: %q", all)
	}
	if len(f.index.commits) > 10 {
		t.Errorf("%d commits for 1200 chunks", len(f.index.commits))
	}
}

func TestSyncProgressCountsUp(t *testing.T) {
	t.Parallel()
	f := setup(t, nil)
	for i := range 30 {
		f.write(fmt.Sprintf("memory/%02d.md", i), "x\ny")
	}
	var last indexer.Progress
	seen := map[string]bool{}
	_, err := f.x.Sync(t.Context(), indexer.SyncOptions{}, func(p indexer.Progress) {
		if p.FilesDone < last.FilesDone || p.FilesDone > p.FilesTotal {
			t.Errorf("%+v after %+v", p, last)
		}
		last, seen[p.Phase] = p, true
	})
	f.must(err)
	if last.FilesDone != 30 || last.FilesTotal != 30 || last.Chunks != 60 || len(seen) != 3 {
		t.Errorf("last: %+v, phases %v", last, seen)
	}
}

func TestSyncRunsOneAtATime(t *testing.T) {
	t.Parallel()
	f := setup(t, nil)
	f.write("memory/a.md", "x")
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			if _, err := f.x.Sync(t.Context(), indexer.SyncOptions{}, nil); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	open := false
	for _, e := range f.events {
		switch e.Kind {
		case indexer.SyncStarted:
			if open {
				t.Error("two syncs at once")
			}
			open = true
		case indexer.SyncDone:
			open = false
		}
	}
	if f.index.writes("memory/a.md") != 1 || f.count(indexer.SyncDone, "") != 8 {
		t.Errorf("%d writes in %d syncs", f.index.writes("memory/a.md"), f.count(indexer.SyncDone, ""))
	}
}

func TestSyncCancelledLeavesWholeFiles(t *testing.T) {
	t.Parallel()
	f := setup(t, nil)
	const n, lines = 250, 5 // three transactions
	for i := range n {
		f.write(fmt.Sprintf("memory/%03d.md", i), strings.Repeat(fmt.Sprintln("line of", i), lines))
	}
	ctx, cancel := context.WithCancel(t.Context())
	_, err := f.x.Sync(ctx, indexer.SyncOptions{}, func(p indexer.Progress) {
		if p.FilesDone >= n/3 {
			cancel()
		}
	})
	if !errors.Is(err, context.Canceled) {
		t.Fatalf("error %v", err)
	}
	paths, _ := f.index.list()
	if len(paths) == 0 || len(paths) >= n {
		t.Errorf("%d files written", len(paths))
	}
	for _, p := range paths {
		if len(f.index.files[p].Chunks) != lines {
			t.Errorf("%s has %d chunks", p, len(f.index.files[p].Chunks))
		}
	}
	if s := f.x.SyncState(); !s.Dirty || s.Syncing || s.LastErr != nil {
		t.Errorf("state %+v", s)
	}
	f.sync()
	if paths, _ := f.index.list(); len(paths) != n {
		t.Errorf("%d files are written by the next sync", len(paths))
	}
}

func TestSyncCancelledWhileItWaits(t *testing.T) {
	t.Parallel()
	f := setup(t, nil)
	f.write("memory/a.md", "x")
	ctx, cancel := context.WithCancel(t.Context())
	_, err := f.x.Sync(t.Context(), indexer.SyncOptions{}, func(p indexer.Progress) {
		if p.Phase == indexer.PhaseScan {
			cancel()
			if _, err := f.x.Sync(ctx, indexer.SyncOptions{}, nil); !errors.Is(err, context.Canceled) {
				t.Errorf("error %v", err)
			}
		}
	})
	f.must(err)
}

func TestSyncReportsErrorOfStore(t *testing.T) {
	t.Parallel()
	f := setup(t, nil)
	f.write("memory/a.md", "x")
	f.index.fail = errors.New("disk full")
	if _, err := f.x.Sync(t.Context(), indexer.SyncOptions{}, nil); !errors.Is(err, f.index.fail) {
		t.Errorf("error %v", err)
	}
	if s := f.x.SyncState(); s.LastErr == nil || !s.Dirty || f.count(indexer.SyncFailed, "") != 1 {
		t.Errorf("state %+v", s)
	}
	f.index.fail = nil
	f.sync()
	if s := f.x.SyncState(); s.LastErr != nil || s.Dirty || s.LastSync.IsZero() {
		t.Errorf("state %+v", s)
	}
}

func TestSyncIndexesFilesOfAnotherSourceAgain(t *testing.T) {
	t.Parallel()
	f := setup(t, func(o *indexer.Options) { o.ExtraPaths = []string{"notes"} })
	f.write("notes/a.md", "x")
	f.sync()
	f.index.mu.Lock()
	file := f.index.files["notes/a.md"]
	file.Source = memory.SourceMemory
	f.index.files["notes/a.md"] = file
	f.index.mu.Unlock()
	f.sync()
	if got := f.index.files["notes/a.md"].Source; got != memory.SourceExtra {
		t.Errorf("source %q", got)
	}
}

func TestSyncRemovesFilesOfFormerExtraPaths(t *testing.T) {
	t.Parallel()
	out := t.TempDir()
	if err := os.WriteFile(filepath.Join(out, "a.md"), []byte("x"), 0o644); err != nil {
		t.Fatal(err)
	}
	f := setup(t, func(o *indexer.Options) { o.ExtraPaths = []string{out} })
	f.write("memory/m.md", "x")
	f.sync()
	f.holds(out+"/a.md", "memory/m.md")
	f.x = indexer.New(f.split, f.index, indexer.Options{Workspace: f.dir, Now: f.now})
	f.sync()
	f.holds("memory/m.md")
}

func TestSyncAnalysesFilesBeforeWriting(t *testing.T) {
	t.Parallel()
	f := setup(t, func(o *indexer.Options) {
		o.Analyze = func(file *indexer.File) {
			for i := range file.Chunks {
				file.Chunks[i].Terms = &indexer.Terms{Text: strings.ToUpper(file.Chunks[i].Text), Count: 1}
			}
		}
	})
	f.write("memory/a.md", "one\ntwo")
	f.sync()
	for _, c := range f.index.files["memory/a.md"].Chunks {
		if c.Terms == nil || c.Terms.Text != strings.ToUpper(c.Text) {
			t.Errorf("%q has the terms %+v", c.Text, c.Terms)
		}
	}
}
