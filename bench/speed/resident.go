package speed

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"

	"kioku"
	"kioku/embed"
	kiokuv1 "kioku/proto/kioku/v1"
)

const (
	// residentDims is the length of the vectors that a daemon holds.
	residentDims = 768
	// residentBase is how many MB a daemon may take besides the vectors and the caches.
	residentBase = 60
	// pageCaches is how many MB of SQLite's pages a daemon is configured to keep that only reads: 2,000 KiB in each of the
	// two connections of a search.
	pageCaches = 2 * 2_000 * 1024 / 1e6
	// residentQuestions are asked of a daemon while its memory is watched.
	residentQuestions = 50

	// indexingLimit is how many MB a daemon may take while it indexes 20 MB of text in indexingChunks chunks.
	indexingLimit  = 200
	indexingChunks = 20_000
)

// benchMemory measures how much memory a daemon takes that opens an index with vectors and answers questions.
func benchMemory(ctx context.Context, e *Env) (ours, yardstick float64, err error) {
	base, end, err := serveProvider(provider{residentDims})
	if err != nil {
		return 0, 0, err
	}
	defer func() { err = errors.Join(err, end()) }()
	workspace, state := filepath.Join(e.Dir, "ws"), filepath.Join(e.Dir, "state")
	vectors, err := e.indexFor(ctx, workspace, state, base)
	if err != nil {
		return 0, 0, fmt.Errorf("make the index: %w", err)
	}
	ours, held, err := e.peakOf(ctx, workspace, state, "--provider", "openai", "--model", "speed", "--base-url", base,
		"--dims", strconv.Itoa(residentDims))
	if err == nil && held < int64(vectors)*residentDims*4 {
		err = fmt.Errorf("the daemon holds %d bytes of %d vectors in memory", held, vectors)
	}
	return ours, float64(held)/1e6 + residentBase + pageCaches, err
}

// indexFor indexes as many entries as the size of e says, as a daemon would that gets its vectors from the server at base,
// and returns how many vectors there are.
func (e *Env) indexFor(ctx context.Context, workspace, state, base string) (vectors int, err error) {
	if err := writeWorkspace(ctx, workspace, e.Size); err != nil {
		return 0, err
	}
	client, err := embed.New(embed.Config{Provider: "openai", Model: "speed", BaseURL: base, Dims: residentDims,
		Transport: provider{residentDims}})
	if err != nil {
		return 0, err
	}
	m, err := kioku.Open(ctx, kioku.Options{Workspace: workspace, State: state, Embedder: client})
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, m.Close()) }()
	r, err := m.Sync(ctx, kioku.SyncOptions{}, nil)
	if err = errors.Join(err, r.EmbedErr); err != nil {
		return 0, err
	}
	st, err := m.Status(ctx)
	return st.Embedded, err
}

// benchIndexMemory measures how much memory a daemon takes while it indexes without vectors, and answers questions then.
func benchIndexMemory(ctx context.Context, e *Env) (ours, yardstick float64, err error) {
	workspace := filepath.Join(e.Dir, "ws")
	if err := writeWorkspace(ctx, workspace, indexingChunks); err != nil {
		return 0, 0, fmt.Errorf("make the workspace: %w", err)
	}
	ours, _, err = e.peakOf(ctx, workspace, filepath.Join(e.Dir, "state"))
	return ours, indexingLimit, err
}

// peakOf returns the most memory in MB that a daemon takes from its start until it has answered residentQuestions, and
// how many bytes of vectors it holds then.
func (e *Env) peakOf(ctx context.Context, workspace, state string, args ...string) (mb float64, held int64, err error) {
	d, err := e.startDaemon(ctx, workspace, state, args...)
	if err != nil {
		return 0, 0, err
	}
	defer func() { err = errors.Join(err, d.end()) }()
	if err := d.ask(ctx, residentQuestions, e.Step); err != nil {
		return 0, 0, err
	}
	st, err := d.client.Status(ctx, &kiokuv1.StatusRequest{Agent: "main"})
	if err != nil {
		return 0, 0, fmt.Errorf("ask the daemon what it holds: %w", err)
	}
	return d.peak, st.GetHeldBytes(), nil
}

// ownMemory returns the MB of memory that a process holds for itself, also what of it was swapped out. The pages of files
// that it maps are the kernel's, which takes them back at will; they are counted only where the system does not tell them
// apart.
func ownMemory(pid int) (float64, error) {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err == nil {
		return kilobytes(status, "RssAnon:", "VmSwap:"), nil
	}
	out, err := exec.Command("ps", "-o", "rss=", "-p", strconv.Itoa(pid)).Output()
	if err != nil {
		return 0, fmt.Errorf("read how much memory process %d takes: %w", pid, err)
	}
	kb, err := strconv.ParseFloat(strings.TrimSpace(string(out)), 64)
	if err != nil {
		return 0, fmt.Errorf("read how much memory process %d takes: %w", pid, err)
	}
	return kb * 1024 / 1e6, nil
}

// kilobytes sums up fields of /proc/<pid>/status in MB; one that is not there is 0.
func kilobytes(status []byte, fields ...string) (mb float64) {
	for line := range bytes.Lines(status) {
		f := strings.Fields(string(line))
		for _, name := range fields {
			if len(f) == 3 && f[0] == name {
				kb, _ := strconv.ParseFloat(f[1], 64)
				mb += kb * 1024 / 1e6
			}
		}
	}
	return mb
}
