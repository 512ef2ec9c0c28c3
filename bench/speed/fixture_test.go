package speed

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"kioku"
	"kioku/chunker"
)

// fixtures are the indexes in a folder that the benches of one run share. Each is built when it is used for the first time.
// One goroutine uses them.
type fixtures struct {
	dir      string
	memories map[fixtureKey]*kioku.Memory
}

// fixtureKey identifies a fixture.
type fixtureKey struct{ chunks, dims int }

func newFixtures(dir string) *fixtures {
	return &fixtures{dir: dir, memories: make(map[fixtureKey]*kioku.Memory)}
}

// close closes the indexes.
func (f *fixtures) close() error {
	var errs []error
	for _, m := range f.memories {
		errs = append(errs, m.Close())
	}
	return errors.Join(errs...)
}

// index returns the memory of a workspace with exactly so many chunks, with vectors of dims numbers, or without vectors if
// dims is 0. All benches of the run share it: they neither change nor close it.
func (f *fixtures) index(ctx context.Context, chunks, dims int) (*kioku.Memory, error) {
	key := fixtureKey{chunks, dims}
	if m := f.memories[key]; m != nil {
		return m, nil
	}
	m, err := indexLogs(ctx, f.workspace(chunks), f.state(chunks, dims), chunks, dims)
	if err != nil {
		return nil, fmt.Errorf("make fixture: %w", err)
	}
	f.memories[key] = m
	return m, nil
}

// workspace returns the workspace of a fixture.
func (f *fixtures) workspace(chunks int) string {
	return filepath.Join(f.dir, fmt.Sprintf("ws-%d", chunks))
}

// state returns the folder of the index of a fixture.
func (f *fixtures) state(chunks, dims int) string {
	return filepath.Join(f.dir, fmt.Sprintf("state-%d-%d", chunks, dims))
}

// logChunking makes a chunk of each entry of a log, because made-up words have many tokens.
var logChunking = chunker.Options{Tokens: 2000, Overlap: 80}

// indexLogs writes daily logs with so many entries into a workspace, and returns a memory in which each entry is a chunk.
func indexLogs(ctx context.Context, workspace, state string, chunks, dims int) (*kioku.Memory, error) {
	if _, err := os.Stat(workspace); err != nil { // another fixture may have written it
		if err := writeLogs(ctx, workspace, chunks, logSeed); err != nil {
			return nil, err
		}
	}
	opt := kioku.Options{Workspace: workspace, StateDir: state, Chunking: logChunking}
	var err error
	if opt.Embedder, err = (provider{dims}).client("http://localhost"); err != nil {
		return nil, err
	}
	m, report, err := openIndexed(ctx, opt)
	if err != nil {
		return nil, err
	}
	if report.Chunks != chunks {
		return nil, errors.Join(fmt.Errorf("the index has %d chunks, not %d", report.Chunks, chunks), m.Close())
	}
	return m, nil
}

// openIndexed opens a memory whose index is in step with its workspace. It returns an error if a text was not embedded.
func openIndexed(ctx context.Context, opt kioku.Options) (*kioku.Memory, kioku.SyncReport, error) {
	m, err := kioku.Open(ctx, opt)
	if err != nil {
		return nil, kioku.SyncReport{}, err
	}
	report, err := m.Sync(ctx, kioku.SyncOptions{}, nil)
	if err = errors.Join(err, report.EmbedErr); err != nil {
		return nil, report, errors.Join(err, m.Close())
	}
	return m, report, nil
}
