package speed

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"path/filepath"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"kioku"
	"kioku/embed"
)

const (
	// backfillRounds is how often a backfill is measured.
	backfillRounds = 3
	// backfillNotes of at least backfillNoteBytes are what it embeds.
	backfillNotes, backfillNoteBytes = 1000, 4_000
	// backfillDims is the length of the vectors of a small model.
	backfillDims = 384
	// latency is the time of a request, and concurrency how many are under way.
	latency, concurrency = 20 * time.Millisecond, 4
)

// distant is a provider whose requests take a while, and are recorded.
type distant struct {
	provider
	mu       sync.Mutex
	requests [][]byte // guarded by mu: their bodies
}

// RoundTrip implements http.RoundTripper.
func (d *distant) RoundTrip(r *http.Request) (*http.Response, error) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	r.Body.Close()
	r.Body = io.NopCloser(bytes.NewReader(body))
	d.mu.Lock()
	d.requests = append(d.requests, body)
	d.mu.Unlock()
	answered := time.NewTimer(latency)
	resp, err := d.provider.RoundTrip(r) // the time to compute the answer is part of the latency
	<-answered.C
	return resp, err
}

// sent returns the number of requests.
func (d *distant) sent() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return len(d.requests)
}

// replay sends the requests to a new provider, as many at a time as a backfill does, and reads the answers.
func (d *distant) replay(ctx context.Context) error {
	to := &distant{provider: d.provider}
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(concurrency)
	for _, body := range d.requests {
		g.Go(func() error {
			r, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://localhost/v1/embeddings", bytes.NewReader(body))
			if err != nil {
				return err
			}
			resp, err := to.RoundTrip(r)
			if err != nil {
				return err
			}
			_, err = io.Copy(io.Discard, resp.Body)
			return err
		})
	}
	return g.Wait()
}

// open opens a memory of a workspace, without syncing it, and the provider.
func (d *distant) open(ctx context.Context, workspace, state string) (*kioku.Memory, error) {
	client, err := embed.New(embed.Config{Provider: "openai", Model: model, BaseURL: "http://localhost", Dims: d.dims, Concurrency: concurrency,
		Transport: d})
	if err != nil {
		return nil, err
	}
	return kioku.Open(ctx, kioku.Options{Workspace: workspace, StateDir: state, Embedder: client})
}

// backfillLatency compares the time of a backfill with that of its requests alone, which is what latency, batches and concurrency
// allow.
func backfillLatency(ctx context.Context, e *Env) (ours, yardstick float64, err error) {
	workspace := filepath.Join(e.Dir, "workspace")
	if _, err := writeNotes(ctx, workspace, backfillNotes, backfillNoteBytes); err != nil {
		return 0, 0, err
	}
	var whole, alone times
	for round := range backfillRounds {
		e.Step(round, backfillRounds)
		d := &distant{provider: provider{backfillDims}}
		took, err := d.backfill(ctx, workspace, filepath.Join(e.Dir, fmt.Sprint("state-", round)))
		if err == nil {
			whole = append(whole, took)
			err = alone.measure(func() error { return d.replay(ctx) })
		}
		if err != nil {
			return 0, 0, err
		}
	}
	return whole.median(), alone.median(), nil
}

// backfill returns the time that it takes to embed all texts of a workspace, whose words are indexed before.
func (d *distant) backfill(ctx context.Context, workspace, state string) (took time.Duration, err error) {
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
	if err == nil && (r.Unembedded > 0 || r.Embedded < e.Chunks || d.sent() < 40) {
		err = fmt.Errorf("%d of %d chunks were embedded with %d requests", r.Embedded, e.Chunks, d.sent())
	}
	return took, err
}
