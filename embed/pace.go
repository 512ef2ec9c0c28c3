package embed

import (
	"context"
	"fmt"
	"sync"
	"time"

	"kioku/internal/modelhttp"
	"kioku/internal/text"
)

// burstShare is the part of a minute's allowance that may be used at once.
const burstShare = 20

// pace keeps requests and tokens below what a provider allows in a minute. It is safe for concurrent use.
type pace struct {
	now func() time.Time

	mu       sync.Mutex // guards the fields below
	requests bucket
	tokens   bucket
	queries  int // that wait
}

func newPace(cfg Config) *pace {
	return &pace{now: cfg.Now, requests: newBucket(cfg.RequestsPerMinute, cfg.Now()), tokens: newBucket(cfg.TokensPerMinute, cfg.Now())}
}

// wait waits until a request for texts may be sent, and counts it. Documents wait while queries do. It returns an error at once
// if ctx would end before.
func (p *pace) wait(ctx context.Context, kind textKind, texts []string) error {
	tokens := 0
	for _, t := range texts {
		tokens += text.EstimateTokens(t)
	}
	if kind == query {
		p.countQueries(1)
		defer p.countQueries(-1)
	}
	for {
		pause := p.take(kind, float64(tokens))
		if pause == 0 {
			return nil
		}
		if end, ok := ctx.Deadline(); ok && time.Until(end) < pause {
			return modelhttp.Errorf(modelhttp.RateLimited, "requestsPerMinute or tokensPerMinute is used up for the next %s", pause.Round(time.Second))
		}
		if err := modelhttp.Sleep(ctx, pause); err != nil {
			return fmt.Errorf("wait for requestsPerMinute: %w", err)
		}
	}
}

func (p *pace) countQueries(n int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.queries += n
}

// take counts a request and returns 0, or returns how long to wait for it.
func (p *pace) take(kind textKind, tokens float64) time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	now := p.now()
	p.requests.fill(now)
	p.tokens.fill(now)
	pause := max(p.requests.pause(1), p.tokens.pause(tokens))
	if kind == document && p.queries > 0 {
		pause = max(pause, 10*time.Millisecond)
	}
	if pause == 0 {
		p.requests.level--
		p.tokens.level -= tokens
	}
	return pause
}

// bucket is a token bucket: its level grows steadily up to its size. In no minute is more taken from it than its allowance,
// except by one request that needs more than its size.
type bucket struct {
	perMinute   float64 // how fast the level grows; 0 means no bound
	size, level float64
	filled      time.Time
}

func newBucket(perMinute int, now time.Time) bucket {
	size := max(float64(perMinute)/burstShare, 1)
	return bucket{perMinute: max(float64(perMinute)-size+1, 0), size: size, level: size, filled: now}
}

func (b *bucket) fill(now time.Time) {
	b.level = min(b.size, b.level+b.perMinute*now.Sub(b.filled).Minutes())
	b.filled = now
}

// pause returns how long to wait for n, or for a full bucket if it cannot contain so much.
func (b *bucket) pause(n float64) time.Duration {
	missing := min(n, b.size) - b.level
	if b.perMinute == 0 || missing <= 1e-9 {
		return 0
	}
	return time.Duration(missing/b.perMinute*float64(time.Minute)) + time.Millisecond
}
