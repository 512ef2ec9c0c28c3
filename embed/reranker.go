package embed

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"kioku/embed/local"
	"kioku/internal/modelhttp"
)

// RerankConfig says which re-ranker to use and how. The zero value is none.
type RerankConfig struct {
	// Provider is "none", "local" for a cross-encoder in a folder, or "http" for a server; empty means "none".
	Provider string
	// Model is its name at the server; empty names none, for servers that have only one.
	Model string
	// ModelDir is the folder of the cross-encoder of the provider "local".
	ModelDir string
	// ModelThreads is the number of threads that compute with the provider "local"; 0 means one for each processor.
	ModelThreads int
	// BaseURL of the server, with or without the version of its interface.
	BaseURL string
	// SendSecrets sends passwords and keys in texts to a server on another machine too. Otherwise references take their places.
	SendSecrets bool
	// APIKey is sent as a bearer token; empty sends none.
	APIKey string
	// Now is the clock; nil means time.Now.
	Now func() time.Time
	// Transport sends the requests; nil means a network of this re-ranker's own.
	Transport http.RoundTripper
}

// check returns an error for a setting that cannot be used.
func (cfg RerankConfig) check() error {
	switch {
	case cfg.ModelThreads < 0:
		return errors.New("ModelThreads is negative: use 0 for the default")
	case strings.ContainsAny(strings.TrimSpace(cfg.APIKey), "\r\n\x00"):
		return errors.New("the API key has a line break: check how it was copied")
	}
	return nil
}

// name returns the name of the model, or the address of its server without a secret.
func (cfg RerankConfig) name() string {
	if cfg.ModelDir != "" {
		return filepath.Base(cfg.ModelDir)
	}
	return cmp.Or(cfg.Model, withoutSecrets(cfg.BaseURL))
}

// Reranker scores passages by reading each together with the query. It stops asking a server that is down. It is safe for
// concurrent use.
type Reranker struct {
	provider, model string
	now             func() time.Time
	scorer          scorer
	circuit         *breaker
}

// scorer is one model or service.
type scorer interface {
	// score returns one score a passage, of which there is at least one, and NaN for each that was not reached. err is why any was
	// not.
	score(ctx context.Context, query string, passages []string) ([]float64, error)
}

// NewReranker returns the re-ranker of cfg, nil for the provider "none". It makes no request, and loads a local model only
// for the first Score. One that cannot be opened is no error: every Score returns the reason. The error names the setting that is wrong.
func NewReranker(cfg RerankConfig) (*Reranker, error) {
	if err := cfg.check(); err != nil {
		return nil, fmt.Errorf("rerank: %w", err)
	}
	cfg.APIKey = strings.TrimSpace(cfg.APIKey)
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	r := &Reranker{provider: cfg.Provider, model: cfg.name(), now: cfg.Now, circuit: newBreaker(cfg.Now, minFailures)}
	var err error
	switch cfg.Provider {
	case "", "none":
		return nil, nil
	case "local":
		r.scorer = openCrossEncoder(cfg)
	case "http":
		r.scorer, err = newRerankServer(cfg)
	default:
		err = fmt.Errorf("unknown provider %q: choose one of none, local, http", cfg.Provider)
	}
	if err != nil {
		return nil, fmt.Errorf("rerank: %w", err)
	}
	return r, nil
}

// Score returns how well each passage answers a query: the higher the better, in a unit of the model, and NaN for a passage that was
// not reached before ctx ended. If a passage has no score, err says why; then scores may be nil. An error that is not about ctx wraps
// ErrUnavailable, and ErrLoading too if ctx ended before a local model was loaded.
func (r *Reranker) Score(ctx context.Context, query string, passages []string) (scores []float64, err error) {
	if len(passages) == 0 {
		return nil, nil
	}
	probe, err := r.circuit.enter()
	if err != nil {
		return nil, unavailable(err)
	}
	defer r.circuit.leave(probe)
	if err := r.circuit.waitRateLimit(ctx); err != nil {
		return nil, unavailable(err)
	}
	started := r.now()
	scores, err = r.scorer.score(ctx, query, passages)
	switch {
	case err == nil:
		r.circuit.record(started, nil)
		return scores, nil
	case errors.Is(ctx.Err(), context.Canceled):
		return scores, context.Cause(ctx) // no failure of the provider
	case errors.Is(err, ErrLoading): // nor is this
		return nil, unavailable(err)
	case ctx.Err() != nil:
		err = modelhttp.Errorf(modelhttp.Unavailable, "rerank: %w", errDeadline)
	}
	if !anyScore(scores) {
		r.circuit.record(started, err)
	}
	return scores, unavailable(err)
}

// anyScore reports whether any passage was scored.
func anyScore(scores []float64) bool {
	for _, s := range scores {
		if !math.IsNaN(s) {
			return true
		}
	}
	return false
}

// Name names the provider and the model for people.
func (r *Reranker) Name() string { return strings.TrimSpace(r.provider + " " + r.model) }

// Health reports whether the re-ranker answers and may be asked. One that was not asked yet is healthy.
func (r *Reranker) Health() Health { return r.circuit.health() }

// ErrLoading is wrapped by the error of a call whose time is over before a local model is loaded. Loading goes on, so a later call
// finds the model ready.
var ErrLoading = errors.New("the model is still being loaded: ask again in a few seconds")

// rerankGroup is the number of passages that a cross-encoder scores before the next ones. Within a group those of similar length are
// computed together.
const rerankGroup = 5

// crossEncoder is a model in a folder, computed by this process.
type crossEncoder struct {
	model *local.Model
	// loaded is closed once the model was read; the first call begins that.
	loaded func() <-chan struct{}
}

// newCrossEncoder returns a crossEncoder of model, which read makes ready. Reading goes on after the call that began it has ended.
func newCrossEncoder(model *local.Model, read func() error) crossEncoder {
	return crossEncoder{model, sync.OnceValue(func() <-chan struct{} {
		done := make(chan struct{})
		go func() {
			_ = read() // each text has the same error
			close(done)
		}()
		return done
	})}
}

// openCrossEncoder opens the model of the provider "local", which is read when it is first needed: most commands never search.
func openCrossEncoder(cfg RerankConfig) scorer {
	unusableFor := func(err error) scorer {
		return unusable{modelhttp.Errorf(modelhttp.Misconfigured, "rerank: %w", err)}
	}
	if cfg.ModelDir == "" {
		return unusableFor(errors.New("no model is chosen: kioku model add NAME --as reranker adds one"))
	}
	m, err := local.Open(cfg.ModelDir, local.Options{Lazy: true, Threads: cfg.ModelThreads})
	if err != nil {
		return unusableFor(err)
	}
	if info := m.Info(); info.Kind != local.CrossEncoder {
		return unusableFor(errors.Join(fmt.Errorf("%s is an embedding model, not a cross-encoder: set rerank.model to one", info.Dir), m.Close()))
	}
	return newCrossEncoder(m, m.Load)
}

// score implements scorer. The first passages are scored first, a few at a time, so that they are reached if the time is short.
func (m crossEncoder) score(ctx context.Context, query string, passages []string) ([]float64, error) {
	select {
	case <-m.loaded():
	case <-ctx.Done():
		select {
		case <-m.loaded(): // its time is over, but not because of this
		default:
			return nil, ErrLoading
		}
	}
	var all []float64
	for group := range slices.Chunk(passages, rerankGroup) {
		scores, scored, err := m.model.Score(ctx, query, group)
		for i := range scores {
			if !scored[i] {
				scores[i] = math.NaN()
			}
		}
		all = append(all, scores...)
		if err != nil && ctx.Err() == nil {
			err = modelhttp.Errorf(modelhttp.Misconfigured, "rerank: %w", err)
		}
		if err != nil {
			for len(all) < len(passages) {
				all = append(all, math.NaN())
			}
			return all, err
		}
	}
	return all, nil
}
