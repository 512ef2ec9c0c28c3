package speed

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"kioku"
	"kioku/chunker"
)

// perFile is how many chunks a file of a fixture has.
const perFile = 100

// Fixtures are the indexes that the benches of one run share: each is built once. They are used by one goroutine.
type Fixtures struct {
	dir  string
	open map[fixtureKey]*kioku.Memory
}

// fixtureKey is what a fixture is known by.
type fixtureKey struct{ chunks, dims int }

// NewFixtures returns fixtures in a folder of their own under dir; nothing is built before it is asked for.
func NewFixtures(dir string) *Fixtures {
	return &Fixtures{dir: filepath.Join(dir, "fixtures"), open: make(map[fixtureKey]*kioku.Memory)}
}

// Close closes the indexes and removes their files.
func (f *Fixtures) Close() error {
	var errs []error
	for _, m := range f.open {
		errs = append(errs, m.Close())
	}
	clear(f.open)
	return errors.Join(append(errs, os.RemoveAll(f.dir))...)
}

// index returns the memory of a workspace with exactly so many chunks, a multiple of perFile, with vectors of dims numbers
// or none where dims is 0. It is open for all benches of the run: they neither change nor close it.
func (e *Env) index(ctx context.Context, chunks, dims int) (*kioku.Memory, error) {
	f, key := e.Fixtures, fixtureKey{chunks, dims}
	if m := f.open[key]; m != nil {
		return m, nil
	}
	workspace := filepath.Join(f.dir, fmt.Sprintf("ws-%d", chunks))
	if err := writeWorkspace(ctx, workspace, chunks); err != nil {
		return nil, fmt.Errorf("make fixture: %w", err)
	}
	m, err := e.build(ctx, workspace, filepath.Join(f.dir, fmt.Sprintf("state-%d-%d", chunks, dims)), dims)
	if err != nil {
		return nil, fmt.Errorf("make fixture: %w", err)
	}
	f.open[key] = m
	st, err := m.State(ctx)
	if err == nil && st.Chunks != chunks {
		err = fmt.Errorf("it has %d chunks, not %d", st.Chunks, chunks)
	}
	if err != nil {
		return nil, fmt.Errorf("make fixture: %w", err)
	}
	return m, nil
}

// build indexes a workspace.
func (e *Env) build(ctx context.Context, workspace, state string, dims int) (*kioku.Memory, error) {
	// Made-up words have many tokens; no entry is to be more than a chunk.
	opt := kioku.Options{Workspace: workspace, State: state, Chunking: chunker.Options{Tokens: 2000, Overlap: 80}}
	if dims > 0 {
		client, err := newProvider(dims)
		if err != nil {
			return nil, err
		}
		opt.Embedder = client
	}
	m, err := kioku.Open(ctx, opt)
	if err != nil {
		return nil, err
	}
	if _, err := m.Sync(ctx, kioku.SyncOptions{}, nil); err != nil {
		return nil, errors.Join(err, m.Close())
	}
	return m, nil
}

// writeWorkspace writes daily logs with so many entries, each of which is a chunk. It leaves a workspace that is there
// already.
func writeWorkspace(ctx context.Context, dir string, chunks int) error {
	if _, err := os.Stat(dir); err == nil {
		return nil
	}
	logs := filepath.Join(dir, "memory", "daily")
	if err := os.MkdirAll(logs, 0o755); err != nil {
		return err
	}
	w := newWords(42)
	day := time.Date(2020, 1, 1, 0, 0, 0, 0, time.UTC)
	for ; chunks > 0; chunks -= perFile {
		if err := ctx.Err(); err != nil {
			return err
		}
		var b strings.Builder
		name := day.Format(time.DateOnly)
		for range min(perFile, chunks) {
			w.entry(&b, name)
		}
		if err := os.WriteFile(filepath.Join(logs, name+".jsonl"), []byte(b.String()), 0o644); err != nil {
			return err
		}
		day = day.AddDate(0, 0, 1)
	}
	return nil
}
