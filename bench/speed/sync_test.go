package speed

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"kioku"
	"kioku/indexer"
	"kioku/memory"
)

const (
	// manyNotes and fewNotes, of one section each, are the workspaces of benches of files that change.
	manyNotes, fewNotes = 20_000, 200
	// resyncRounds and editRounds are how often each of two things is measured.
	resyncRounds, editRounds = 15, 25
	// editRest is how long an edited note rests before it is indexed. It is not part of the figure.
	editRest = 20 * time.Millisecond
	// startNotes of at least startNoteBytes make a little more than 10,000 chunks.
	startNotes, startNoteBytes = 1000, 12_000
	// startRounds is how often a cold start is measured.
	startRounds = 11
	// startLimit is the yardstick of a cold start, in milliseconds.
	startLimit = 150.0
)

// indexNotesIn writes notes into dir/workspace and returns a memory, with its state in dir/state, that is in step with
// them.
func indexNotesIn(ctx context.Context, dir string, n, size int) (*kioku.Memory, []note, error) {
	workspace := filepath.Join(dir, "workspace")
	notes, err := writeNotes(ctx, workspace, n, size)
	if err != nil {
		return nil, nil, fmt.Errorf("write notes: %w", err)
	}
	m, _, err := openIndexed(ctx, kioku.Options{
		Workspace: workspace, StateDir: filepath.Join(dir, "state"), Index: kioku.IndexOptions{Debounce: editRest},
	})
	return m, notes, err
}

// resyncUnchanged compares a sync of unchanged notes with an lstat of each, whose paths are known.
func resyncUnchanged(ctx context.Context, e *Env) (ours, yardstick float64, err error) {
	m, notes, err := indexNotesIn(ctx, e.Dir, manyNotes, 0)
	if err != nil {
		return 0, 0, err
	}
	defer m.Close()
	resync := func() error {
		rep, err := m.Sync(ctx, kioku.SyncOptions{}, nil)
		if err == nil && rep.Read+rep.Files+rep.Removed > 0 {
			err = fmt.Errorf("nothing changed, but %d files were read", rep.Read)
		}
		return err
	}
	if err := resync(); err != nil {
		return 0, 0, err
	}
	return e.medians(resyncRounds, resync, func() error {
		for _, n := range notes {
			if _, err := os.Lstat(n.path); err != nil {
				return err
			}
		}
		return nil
	})
}

// oneEdit compares how long an edit takes until a search can find it in a workspace of many notes with the same in one of
// few. Both are watched.
func oneEdit(ctx context.Context, e *Env) (ours, yardstick float64, err error) {
	ctx, cancel := context.WithCancel(ctx)
	g, ctx := errgroup.WithContext(ctx)
	defer func() {
		cancel()
		err = errors.Join(err, g.Wait())
	}()
	var workspaces [2]*watchedNotes
	for i, n := range []int{manyNotes, fewNotes} {
		m, notes, err := indexNotesIn(ctx, filepath.Join(e.Dir, fmt.Sprint(n)), n, 0)
		if err != nil {
			return 0, 0, err
		}
		defer m.Close()
		workspaces[i] = &watchedNotes{m: m, notes: notes, events: m.Subscribe(ctx)}
		g.Go(func() error { return m.Watch(ctx) })
		if err := workspaces[i].await(ctx, indexer.SyncDone, ""); err != nil {
			return 0, 0, err
		}
	}
	var measured [2]times
	for round := range editRounds {
		e.Step(round, editRounds)
		for i, w := range workspaces {
			took, err := w.edit(ctx, round)
			if err != nil {
				return 0, 0, err
			}
			measured[i] = append(measured[i], took)
		}
	}
	return measured[0].median(), measured[1].median(), nil
}

// watchedNotes are notes that a memory watches.
type watchedNotes struct {
	m      *kioku.Memory
	notes  []note
	events <-chan kioku.Event
}

// edit rewrites a note and returns the time from before that to the event after the commit, less editRest. It returns an
// error if a search does not find the edit then.
func (w *watchedNotes) edit(ctx context.Context, round int) (time.Duration, error) {
	path := w.notes[round*7919%len(w.notes)].path
	name, err := filepath.Rel(w.m.Workspace(), path)
	if err != nil {
		return 0, err
	}
	name = filepath.ToSlash(name)
	word := fmt.Sprintf("edited%dth", round)
	start := time.Now()
	if err := writeFile(path, "# Edit\n\nThis note was "+word+".\n"); err != nil {
		return 0, err
	}
	if err := w.await(ctx, indexer.FileIndexed, name); err != nil {
		return 0, err
	}
	took := time.Since(start) - editRest
	a, err := w.m.Search(ctx, memory.Query{Text: word})
	if err == nil && (len(a.Hits) == 0 || a.Hits[0].Path != name) {
		err = fmt.Errorf("%s is not found by %q", name, word)
	}
	return took, err
}

// await waits for an event of a kind, for any path if path is empty.
func (w *watchedNotes) await(ctx context.Context, kind, path string) error {
	for {
		select {
		case ev, ok := <-w.events:
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

// coldStart measures a new process of kioku search over an unchanged workspace, from its start to its end. Before it
// answers, it looks at every file; the files lie in the system's cache.
func coldStart(ctx context.Context, e *Env) (ours, yardstick float64, err error) {
	m, notes, err := indexNotesIn(ctx, e.Dir, startNotes, startNoteBytes)
	if err != nil {
		return 0, 0, err
	}
	st, err := m.IndexStats(ctx)
	if err := errors.Join(err, m.Close()); err != nil {
		return 0, 0, err
	}
	if st.Chunks < 10_000 || len(notes) != st.Files {
		return 0, 0, fmt.Errorf("%d files and %d chunks are not the workspace of this bench", st.Files, st.Chunks)
	}
	var took times
	for i := range startRounds {
		e.Step(i, startRounds)
		if err := took.measure(func() error { return e.searchInProcess(ctx, questions(1)[0]) }); err != nil {
			return 0, 0, err
		}
	}
	return took.median(), startLimit, nil
}

// searchInProcess runs kioku search on the workspace and the state in e.Dir.
func (e *Env) searchInProcess(ctx context.Context, question string) error {
	cmd, err := e.command(ctx, "search", "--no-daemon", "--provider", "none", "--min-score", "0",
		"--workspace", filepath.Join(e.Dir, "workspace"), "--state", filepath.Join(e.Dir, "state"), question)
	if err != nil {
		return err
	}
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("kioku search: %w: %s", err, &stderr)
	}
	if !strings.Contains(stdout.String(), "memory/") {
		return fmt.Errorf("kioku search found nothing: %s%s", &stdout, &stderr)
	}
	return nil
}
