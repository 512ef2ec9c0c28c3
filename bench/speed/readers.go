package speed

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"time"

	"kioku"
	"kioku/memory"
)

// busyChunks is how many chunks are indexed while others search, and as many are there before.
const busyChunks = 30_000

// searchWhileIndexing compares searches while every file of a workspace is indexed anew with searches before and after,
// at the 95th percentile. Any error, a locked database among them, ends it.
func searchWhileIndexing(ctx context.Context, e *Env) (ours, yardstick float64, err error) {
	workspace := filepath.Join(e.Dir, "busy")
	if err := writeWorkspace(ctx, workspace, busyChunks); err != nil {
		return 0, 0, err
	}
	m, err := e.build(ctx, workspace, filepath.Join(e.Dir, "busy-state"), 0)
	if err != nil {
		return 0, 0, err
	}
	defer m.Close()
	list := questions(asked)
	var idle, busy []time.Duration
	ask := func(times *[]time.Duration, i int) error {
		took, err := timed(func() error { _, err := m.Search(ctx, memory.Query{Text: list[i%len(list)]}); return err })
		*times = append(*times, took)
		return err
	}
	idling := func() error {
		for i := range list {
			if err := ask(&idle, i); err != nil {
				return fmt.Errorf("search while idle: %w", err)
			}
		}
		return nil
	}
	if err := idling(); err != nil {
		return 0, 0, err
	}
	if err := shuffleLines(workspace); err != nil {
		return 0, 0, err
	}
	done := make(chan error, 1)
	go func() { done <- resync(ctx, m) }()
	for i, running := 0, true; running; i++ {
		select {
		case err := <-done:
			if err != nil {
				return 0, 0, err
			}
			running = false
		default:
			if err := ask(&busy, i); err != nil {
				<-done
				return 0, 0, fmt.Errorf("search while indexing: %w", err)
			}
		}
	}
	if err := idling(); err != nil {
		return 0, 0, err
	}
	e.Step(1, 1)
	return p95(busy), p95(idle), nil
}

// resync indexes what changed, and fails where that is not everything.
func resync(ctx context.Context, m *kioku.Memory) error {
	report, err := m.Sync(ctx, kioku.SyncOptions{}, nil)
	if err == nil && report.Read < busyChunks/perFile {
		err = fmt.Errorf("%d of %d files were read", report.Read, busyChunks/perFile)
	}
	return err
}

// shuffleLines puts the lines of each log into another order, so that all of its chunks are other ones.
func shuffleLines(workspace string) error {
	logs, err := filepath.Glob(filepath.Join(workspace, "memory", "daily", "*.jsonl"))
	if err != nil {
		return err
	}
	r := rand.New(rand.NewPCG(3, 3))
	for _, path := range logs {
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		if err := os.WriteFile(path, shuffled(r, text), 0o644); err != nil {
			return err
		}
	}
	return nil
}

// shuffled returns the lines of a text in a random order.
func shuffled(r *rand.Rand, text []byte) []byte {
	lines := bytes.SplitAfter(bytes.TrimSuffix(text, []byte("\n")), []byte("\n"))
	lines[len(lines)-1] = append(lines[len(lines)-1], '\n')
	r.Shuffle(len(lines), func(i, j int) { lines[i], lines[j] = lines[j], lines[i] })
	return bytes.Join(lines, nil)
}
