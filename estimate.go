package kioku

import (
	"context"
	"crypto/sha256"
	"time"

	"kioku/chunker"
	"kioku/embed"
	"kioku/indexer"
	"kioku/internal/text"
)

// sampleTexts is the maximum number of texts that a model in this process embeds to find out how fast it is.
const sampleTexts = 32

// Estimate is what it takes to embed the texts without a vector.
type Estimate struct {
	// Space of the vectors, zero without a provider; then all else is 0, too.
	Space embed.Space
	// Chunks counts the chunks without a vector, in the index and in the cache, or without its windows; equal ones count once.
	Chunks int
	// Windows counts their windows.
	Windows int
	// Texts counts the different texts that the provider gets for them.
	Texts int
	// Tokens is about how many tokens these texts have.
	Tokens int
	// Requests is the number of requests that the provider gets; 0 for a model in this process.
	Requests int
	// Took is about how long it takes; 0 if the speed of the provider is not known.
	Took time.Duration
}

// Estimate returns what it takes to embed the texts without a vector. It indexes the words of changed files first, and makes no
// request. Of a model in this process it measures the speed.
func (m *Memory) Estimate(ctx context.Context) (Estimate, error) {
	if err := m.enter(); err != nil {
		return Estimate{}, err
	}
	defer m.leave()
	if !m.opt.Embedder.Enabled() {
		return Estimate{}, nil
	}
	space := m.opt.Embedder.Space()
	if m.opt.Mode == Own {
		if _, _, err := m.syncWords(ctx, SyncOptions{NoRebuild: true}, nil); err != nil {
			return Estimate{}, err
		}
		if _, err := m.store.AttachKnown(ctx, space); err != nil {
			return Estimate{}, err
		}
	}
	c := newEstimator(m.opt.Embedder)
	if err := m.store.ForEachUnembedded(ctx, space, c.add); err != nil {
		return Estimate{}, err
	}
	c.endRequest()
	c.Space = space
	return c.Estimate, c.measure(ctx, m.backfill.State().PerSecond)
}

// estimator adds up what it takes to embed texts.
type estimator struct {
	Estimate
	embedder *embed.Client
	seen     map[[sha256.Size]byte]bool
	sample   []string
	// items and tokens are those of the request that is not full yet, and the other two what a request may have.
	items, tokens         int
	mostItems, mostTokens int
}

func newEstimator(e *embed.Client) *estimator {
	c := &estimator{embedder: e, seen: map[[sha256.Size]byte]bool{}}
	c.mostItems, c.mostTokens = e.BatchLimits()
	return c
}

// add counts a text of the backlog.
func (c *estimator) add(t indexer.Text) {
	c.Chunks++
	for part := range indexer.TextsToEmbed(t) {
		c.addText(part)
	}
	c.Windows += len(chunker.Windows(t.Body))
}

// addText counts a text that is sent, once.
func (c *estimator) addText(s string) {
	key := sha256.Sum256([]byte(s))
	if c.seen[key] {
		return
	}
	c.seen[key] = true
	if len(c.sample) < sampleTexts {
		c.sample = append(c.sample, s)
	}
	n := text.EstimateTokens(s)
	if c.items == c.mostItems || c.items > 0 && c.tokens+n > c.mostTokens {
		c.endRequest()
	}
	c.items, c.tokens = c.items+1, c.tokens+n
	c.Texts, c.Tokens = c.Texts+1, c.Tokens+n
}

// endRequest counts a request that is full, or the last one. A model in this process needs none.
func (c *estimator) endRequest() {
	if c.items > 0 && !inProcess(c.embedder) {
		c.Requests++
	}
	c.items, c.tokens = 0, 0
}

// measure sets the time from the rate of a run under way, or else from how long a model in this process takes for the sample.
func (c *estimator) measure(ctx context.Context, chunksPerSecond float64) error {
	if chunksPerSecond > 0 {
		c.Took = time.Duration(float64(c.Chunks) / chunksPerSecond * float64(time.Second))
		return nil
	}
	if !inProcess(c.embedder) || len(c.sample) == 0 {
		return nil
	}
	tokens := 0
	for _, s := range c.sample {
		tokens += text.EstimateTokens(s)
	}
	start := time.Now()
	if _, err := c.embedder.Documents(ctx, c.sample); err != nil {
		return err
	}
	c.Took = time.Duration(float64(time.Since(start)) * float64(c.Tokens) / float64(max(tokens, 1)))
	return nil
}

// inProcess reports whether this process computes the vectors.
func inProcess(e *embed.Client) bool {
	_, local := e.Local()
	return local || e.Space().Provider == "hash"
}
