package speed

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"path/filepath"
	"sync/atomic"
	"time"

	"kioku"
	"kioku/embed"
	"kioku/memory"
)

const (
	// backfillRounds is how often a backfill is measured.
	backfillRounds = 3
	// backfillNotes of at least backfillNoteBytes are what it embeds.
	backfillNotes, backfillNoteBytes = 400, 4_000
	// backfillDims is the length of the vectors of a small model.
	backfillDims = 384
	// latency is the time of a request, and concurrency how many are under way.
	latency, concurrency = 20 * time.Millisecond, 4
)

// distant is a provider whose requests take a while, and are counted.
type distant struct {
	provider
	requests *atomic.Int64
}

// RoundTrip implements http.RoundTripper.
func (d distant) RoundTrip(r *http.Request) (*http.Response, error) {
	d.requests.Add(1)
	answered := time.NewTimer(latency)
	resp, err := d.provider.RoundTrip(r) // the time to compute the answer is part of the latency
	<-answered.C
	return resp, err
}

// open opens a memory of a workspace, without syncing it, and the provider.
func (d distant) open(ctx context.Context, workspace, state string) (*kioku.Memory, error) {
	client, err := embed.New(embed.Config{Provider: "openai", Model: model, BaseURL: "http://localhost", Dims: d.dims, Concurrency: concurrency,
		Transport: d})
	if err != nil {
		return nil, err
	}
	return kioku.Open(ctx, kioku.Options{Workspace: workspace, StateDir: state, Embedder: client})
}

// backfillLatency compares the time of a backfill with what the latency of its requests and their concurrency allow.
func backfillLatency(ctx context.Context, e *Env) (ours, yardstick float64, err error) {
	workspace := filepath.Join(e.Dir, "workspace")
	if _, err := writeNotes(ctx, workspace, backfillNotes, backfillNoteBytes); err != nil {
		return 0, 0, err
	}
	var took times
	for round := range backfillRounds {
		e.Step(round, backfillRounds)
		d := distant{provider{backfillDims}, new(atomic.Int64)}
		whole, err := d.backfill(ctx, workspace, filepath.Join(e.Dir, fmt.Sprint("state-", round)))
		if err != nil {
			return 0, 0, err
		}
		took = append(took, whole)
		yardstick = float64(d.requests.Load()) / concurrency * float64(latency.Milliseconds())
	}
	return took.median(), yardstick, nil
}

// backfill returns the time that it takes to embed all texts of a workspace, whose words are indexed before.
func (d distant) backfill(ctx context.Context, workspace, state string) (took time.Duration, err error) {
	m, err := d.open(ctx, workspace, state)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, m.Close()) }()
	e, err := m.Estimate(ctx) // it indexes the words
	if err != nil {
		return 0, err
	}
	start := time.Now()
	r, err := m.Sync(ctx, kioku.SyncOptions{}, nil)
	took = time.Since(start)
	if err == nil && (r.Unembedded > 0 || r.Embedded < e.Chunks || d.requests.Load() < 40) {
		err = fmt.Errorf("%d of %d chunks were embedded with %d requests", r.Embedded, e.Chunks, d.requests.Load())
	}
	return took, err
}

// idleRequests compares the requests of syncs that find nothing new and of repeated queries, which need none, with those of the
// first ones.
func idleRequests(ctx context.Context, e *Env) (ours, yardstick float64, err error) {
	workspace := filepath.Join(e.Dir, "workspace")
	if _, err := writeNotes(ctx, workspace, backfillNotes/10, backfillNoteBytes); err != nil {
		return 0, 0, err
	}
	d := distant{provider{backfillDims}, new(atomic.Int64)}
	m, err := d.open(ctx, workspace, filepath.Join(e.Dir, "state"))
	if err != nil {
		return 0, 0, err
	}
	defer func() { err = errors.Join(err, m.Close()) }()
	var sent [4]float64
	for i := range sent {
		before := d.requests.Load()
		_, err := m.Sync(ctx, kioku.SyncOptions{}, nil)
		if err == nil {
			_, err = m.Search(ctx, memory.Query{Text: questions(1)[0]})
		}
		if err != nil {
			return 0, 0, err
		}
		sent[i] = float64(d.requests.Load() - before)
	}
	return sent[1] + sent[2] + sent[3], sent[0], nil
}

// windowSize compares the bytes of the windows of a chunk with those of its vector, of a small model.
func windowSize(ctx context.Context, e *Env) (ours, yardstick float64, err error) {
	workspace := filepath.Join(e.Dir, "workspace")
	if _, err := writeNotes(ctx, workspace, backfillNotes/10, backfillNoteBytes); err != nil {
		return 0, 0, err
	}
	client, err := provider{backfillDims}.client("http://localhost")
	if err != nil {
		return 0, 0, err
	}
	m, _, err := openIndexed(ctx, kioku.Options{Workspace: workspace, StateDir: filepath.Join(e.Dir, "state"), Embedder: client})
	if err != nil {
		return 0, 0, err
	}
	defer func() { err = errors.Join(err, m.Close()) }()
	db, err := readIndex(ctx, m)
	if err != nil {
		return 0, 0, err
	}
	defer db.Close()
	err = db.QueryRowContext(ctx, "SELECT avg(length(codes)) FROM windows").Scan(&ours)
	return ours, 4 * backfillDims, err
}
