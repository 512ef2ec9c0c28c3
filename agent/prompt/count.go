package prompt

import (
	"sync"

	"kioku/internal/text"
)

// Estimate counts with [text.EstimateTokens].
type Estimate struct{}

// Count implements Counter.
func (Estimate) Count(s string) int { return text.EstimateTokens(s) }

// rememberedBytes bounds the texts that a Remembering keeps.
const rememberedBytes = 4 << 20

// Remembering is a Counter that counts each text once, so that a prompt of which little has changed is counted quickly. It
// may be used concurrently.
type Remembering struct {
	counter Counter

	mu    sync.Mutex
	known map[string]int
	bytes int
}

// Remember returns a Counter that remembers what c has counted. c is asked by one goroutine at a time.
func Remember(c Counter) *Remembering {
	return &Remembering{counter: c, known: map[string]int{}}
}

// Count implements Counter.
func (r *Remembering) Count(text string) int {
	r.mu.Lock()
	defer r.mu.Unlock()
	if n, ok := r.known[text]; ok {
		return n
	}
	if r.bytes += len(text); r.bytes > rememberedBytes {
		clear(r.known)
		r.bytes = len(text)
	}
	n := r.counter.Count(text)
	r.known[text] = n
	return n
}
