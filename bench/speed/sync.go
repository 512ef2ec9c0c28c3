package speed

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"kioku"
	"kioku/indexer"
	"kioku/memory"
)

const (
	// manyFiles and fewFiles are the workspaces of the benches of files that change.
	manyFiles, fewFiles = 20_000, 200
	// editRest is how long a file of the bench rests before it is indexed; the time counts without it.
	editRest = 20 * time.Millisecond
	// startFiles of startLines lines are cut into a little more than 10,000 chunks.
	startFiles, startLines = 1000, 120
	// startLimit is the yardstick of a cold start, in milliseconds.
	startLimit = 150.0
)

// syncBenches measure what happens after the first index: a sync that finds nothing new, the way of one edit into the
// index, and the first answer of a new process.
func syncBenches() []Bench {
	return []Bench{
		{Name: "re-sync of 20,000 unchanged files / lstat of each", Unit: "ms", Goal: 2, Run: benchResync},
		{Name: "one edit among 20,000 files / among 200", Unit: "ms", Goal: 2, Run: benchEdit},
		{Name: "cold start to the first answer, 10,000 chunks / limit", Unit: "ms", Goal: 1, Run: benchStart},
	}
}

// noteTree writes n notes of some lines each, a hundred a folder, and returns their paths. Their time is long past, so
// that equal times prove that nothing changed.
func noteTree(workspace string, n, lines int) ([]string, error) {
	r := rand.New(rand.NewPCG(1, 2))
	words := rand.NewZipf(r, 1.1, 4, 20_000)
	past := time.Date(2024, 5, 1, 12, 0, 0, 0, time.UTC)
	paths := make([]string, n)
	var text bytes.Buffer
	for i := range paths {
		paths[i] = filepath.Join(workspace, "memory", fmt.Sprintf("%03d", i/100), fmt.Sprintf("note-%05d.md", i))
		if err := os.MkdirAll(filepath.Dir(paths[i]), 0o755); err != nil {
			return nil, err
		}
		text.Reset()
		for range lines {
			for range 12 {
				fmt.Fprintf(&text, "w%d ", words.Uint64())
			}
			text.WriteByte('\n')
		}
		if err := errors.Join(os.WriteFile(paths[i], text.Bytes(), 0o644), os.Chtimes(paths[i], past, past)); err != nil {
			return nil, err
		}
	}
	return paths, nil
}

// indexTree makes a tree of notes below dir and opens a memory of it, which is in step with it.
func indexTree(ctx context.Context, dir string, files, lines int) (*kioku.Memory, []string, error) {
	workspace := filepath.Join(dir, "workspace")
	paths, err := noteTree(workspace, files, lines)
	if err != nil {
		return nil, nil, fmt.Errorf("write notes: %w", err)
	}
	m, err := kioku.Open(ctx, kioku.Options{
		Workspace: workspace, State: filepath.Join(dir, "state"), Index: kioku.IndexOptions{Debounce: editRest},
	})
	if err != nil {
		return nil, nil, err
	}
	if _, err := m.Sync(ctx, kioku.SyncOptions{}, nil); err != nil {
		return nil, nil, errors.Join(err, m.Close())
	}
	return m, paths, nil
}

// benchResync compares a sync of an unchanged tree with an lstat of each of its files, whose paths are known.
func benchResync(ctx context.Context, e *Env) (ours, yardstick float64, err error) {
	m, paths, err := indexTree(ctx, e.Dir, manyFiles, 4)
	if err != nil {
		return 0, 0, err
	}
	defer m.Close()
	resync := func() error {
		rep, err := m.Sync(ctx, kioku.SyncOptions{}, nil)
		if err == nil && rep.Read+rep.Files+rep.Removed > 0 {
			err = fmt.Errorf("the tree is unchanged, but %d files were read", rep.Read)
		}
		return err
	}
	if err := resync(); err != nil {
		return 0, 0, err
	}
	return medians(15, resync, func() error {
		for _, p := range paths {
			if _, err := os.Lstat(p); err != nil {
				return err
			}
		}
		return nil
	})
}

// benchEdit compares how long an edit takes until a search can find it in a workspace of many files with the same in
// one of few. Both are watched.
func benchEdit(ctx context.Context, e *Env) (ours, yardstick float64, err error) {
	ctx, cancel := context.WithCancel(ctx)
	g, ctx := errgroup.WithContext(ctx)
	defer func() {
		cancel()
		err = errors.Join(err, g.Wait())
	}()
	var trees [2]*watchedTree
	for i, n := range []int{manyFiles, fewFiles} {
		m, paths, err := indexTree(ctx, filepath.Join(e.Dir, fmt.Sprint(n)), n, 4)
		if err != nil {
			return 0, 0, err
		}
		defer m.Close()
		trees[i] = &watchedTree{m: m, paths: paths, events: m.Subscribe(ctx)}
		g.Go(func() error { return m.Watch(ctx) })
		if err := trees[i].await(ctx, indexer.SyncDone, ""); err != nil {
			return 0, 0, err
		}
	}
	const rounds = 25
	var times [2][]time.Duration
	for round := range rounds {
		e.Step(round, rounds)
		for i, t := range trees {
			took, err := t.edit(ctx, round)
			if err != nil {
				return 0, 0, err
			}
			times[i] = append(times[i], took)
		}
	}
	return median(times[0]), median(times[1]), nil
}

// watchedTree is a tree of notes that a memory watches.
type watchedTree struct {
	m      *kioku.Memory
	paths  []string
	events <-chan kioku.Event
}

// edit writes a note anew and returns the time from before that to the event after the commit, less the time for which
// files have to rest. A search must find the edit then.
func (t *watchedTree) edit(ctx context.Context, round int) (time.Duration, error) {
	path := t.paths[round*7919%len(t.paths)]
	name, err := filepath.Rel(t.m.Workspace(), path)
	if err != nil {
		return 0, err
	}
	word := fmt.Sprintf("edited%dth", round)
	start := time.Now()
	if err := os.WriteFile(path, []byte("# Edit\n\nThis note was "+word+".\n"), 0o644); err != nil {
		return 0, err
	}
	if err := t.await(ctx, indexer.FileIndexed, filepath.ToSlash(name)); err != nil {
		return 0, err
	}
	took := time.Since(start) - editRest
	a, err := t.m.Search(ctx, memory.Query{Text: word})
	if err == nil && (len(a.Hits) == 0 || a.Hits[0].Path != filepath.ToSlash(name)) {
		err = fmt.Errorf("%s is not found by %q", name, word)
	}
	return took, err
}

// await waits for an event of a kind, of any path where path is empty.
func (t *watchedTree) await(ctx context.Context, kind, path string) error {
	for {
		select {
		case ev, ok := <-t.events:
			if !ok {
				return errors.New("the events ended")
			}
			if ev.Kind == kind && (path == "" || ev.Path == path) {
				return nil
			}
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// benchStart measures a new process of kioku search over an unchanged workspace: from its start to its end, with the look
// at every file that comes before the answer. The files lie in the system's cache. In another program than kioku, where
// no such process can be started, it is the same steps in this process: open, sync, search, close.
func benchStart(ctx context.Context, e *Env) (ours, yardstick float64, err error) {
	m, paths, err := indexTree(ctx, e.Dir, startFiles, startLines)
	if err != nil {
		return 0, 0, err
	}
	st, err := m.State(ctx)
	if err := errors.Join(err, m.Close()); err != nil {
		return 0, 0, err
	}
	if st.Chunks < 10_000 || len(paths) != st.Files {
		return 0, 0, fmt.Errorf("%d files and %d chunks are not the workspace of this bench", st.Files, st.Chunks)
	}
	start := func() error { return searchInProcess(ctx, e.Dir) }
	if info, ok := debug.ReadBuildInfo(); ok && info.Path == "kioku/cmd/kioku" {
		self, err := os.Executable()
		if err != nil {
			return 0, 0, err
		}
		start = func() error { return searchInChild(ctx, self, e.Dir) }
	}
	took, _, err := medians(11, start, func() error { return nil })
	return took, startLimit, err
}

// startQuestion is what a cold start answers.
const startQuestion = "what did w150 say about w420 and w1234?"

// searchInChild runs kioku search with its defaults, whatever the settings of this machine are.
func searchInChild(ctx context.Context, kioku, dir string) error {
	cmd := exec.CommandContext(ctx, kioku, "search", "--no-daemon", "--provider", "none", "--min-score", "0",
		"--workspace", filepath.Join(dir, "workspace"), "--state", filepath.Join(dir, "state"), startQuestion)
	cmd.Env = slices.DeleteFunc(cmd.Environ(), func(v string) bool { return strings.HasPrefix(v, "KIOKU_") })
	cmd.Env = append(cmd.Env, "HOME="+dir, "XDG_CONFIG_HOME="+dir)
	cmd.Dir = dir
	var out, trouble bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &trouble
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("kioku search: %w: %s", err, &trouble)
	}
	if !strings.Contains(out.String(), "note-") {
		return fmt.Errorf("kioku search found nothing: %s%s", &out, &trouble)
	}
	return nil
}

// searchInProcess does in this process what kioku search does.
func searchInProcess(ctx context.Context, dir string) error {
	m, err := kioku.Open(ctx, kioku.Options{Workspace: filepath.Join(dir, "workspace"), State: filepath.Join(dir, "state")})
	if err != nil {
		return err
	}
	defer m.Close()
	if _, err := m.Sync(ctx, kioku.SyncOptions{NoRebuild: true}, nil); err != nil {
		return err
	}
	a, err := m.Search(ctx, memory.Query{Text: startQuestion, MinScore: new(0.0)})
	if err == nil && len(a.Hits) == 0 {
		err = errors.New("the search found nothing")
	}
	return err
}
