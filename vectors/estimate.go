package vectors

import (
	"context"
	"time"

	"kioku/embed"
	"kioku/internal/text"
)

// sampleTexts is the maximum number of texts that a model in this process embeds to find out how fast it is.
const sampleTexts = 32

// Estimate is what it takes to embed the chunks without a vector.
type Estimate struct {
	// Space of the vectors, zero without a provider; then all else is 0, too.
	Space embed.Space `json:"space"`
	// Chunks counts the chunks of which the cache lacks something; equal ones count once.
	Chunks int `json:"chunks"`
	// Windows counts the windows that are missing.
	Windows int `json:"windows"`
	// Texts counts the different texts that the provider gets.
	Texts int `json:"texts"`
	// Tokens is about how many tokens these texts have.
	Tokens int `json:"tokens"`
	// Requests is the number of requests that the provider gets; 0 for a model in this process.
	Requests int `json:"requests"`
	// Took is about how long it takes; 0 if the speed of the provider is not known.
	Took time.Duration `json:"took,omitzero"`
}

// Estimate returns what a run would take. It makes no request; of a model in this process it measures the speed.
func (f *Fill) Estimate(ctx context.Context, client *embed.Client) (e Estimate, err error) {
	if e.Space, err = f.cache.Resolve(ctx, client.Space()); err != nil || !client.Enabled() {
		return e, err
	}
	_, isLocal := client.Local()
	isLocal = isLocal || e.Space.Provider == "hash"
	c := counter{Estimate: &e, seen: map[Key]bool{}}
	c.mostItems, c.mostTokens = client.BatchLimits()
	for place, more := (Place{}), true; more; {
		texts, _, err := f.index.Backlog(ctx, e.Space, place, backlogPage)
		if err != nil {
			return e, err
		}
		tasks := make([]*task, len(texts))
		for i, t := range texts {
			tasks[i], place = &task{Text: t}, t.At
		}
		if err := f.cache.complete(ctx, e.Space, tasks); err != nil {
			return e, err
		}
		for _, t := range tasks {
			c.addTask(t)
		}
		more = len(texts) > 0
	}
	if isLocal {
		e.Requests = 0
	}
	return e, f.measure(ctx, client, &e, c.sample, isLocal)
}

// measure sets the time from the rate of a run under way, or else from how long a model in this process takes for a sample.
func (f *Fill) measure(ctx context.Context, client *embed.Client, e *Estimate, sample []string, isLocal bool) error {
	if perSecond := f.State().PerSecond; perSecond > 0 {
		e.Took = time.Duration(float64(e.Chunks) / perSecond * float64(time.Second))
		return nil
	}
	if !isLocal || len(sample) == 0 {
		return nil
	}
	tokens := 0
	for _, s := range sample {
		tokens += text.EstimateTokens(s)
	}
	start := time.Now()
	if _, err := client.Documents(ctx, sample); err != nil {
		return err
	}
	e.Took = time.Duration(float64(time.Since(start)) * float64(e.Tokens) / float64(max(tokens, 1)))
	return nil
}

// counter adds up what a run would send.
type counter struct {
	*Estimate
	seen   map[Key]bool
	sample []string
	// items and tokens are those of the request that is not full yet, and the other two what a request may have.
	items, tokens         int
	mostItems, mostTokens int
}

// addTask counts a chunk of which something is missing, once.
func (c *counter) addTask(t *task) {
	if len(t.missing) == 0 || c.isSeen(Key{Document, t.Hash}) {
		return
	}
	c.Chunks++
	for _, p := range t.missing {
		if p.key.Kind == Document {
			c.addText(p.text)
			continue
		}
		if c.isSeen(p.key) {
			continue
		}
		c.Windows++
		if first := t.missing[0]; first.key.Kind == Window || first.text != p.text { // a document that is its own window is sent once
			c.addText(p.text)
		}
	}
}

// isSeen reports whether a key was asked for before.
func (c *counter) isSeen(k Key) bool {
	was := c.seen[k]
	c.seen[k] = true
	return was
}

// addText counts a text that is sent.
func (c *counter) addText(s string) {
	n := text.EstimateTokens(s)
	if c.items == 0 || c.items == c.mostItems || c.tokens+n > c.mostTokens {
		c.Requests, c.items, c.tokens = c.Requests+1, 0, 0
	}
	c.items, c.tokens = c.items+1, c.tokens+n
	c.Texts, c.Tokens = c.Texts+1, c.Tokens+n
	if len(c.sample) < sampleTexts {
		c.sample = append(c.sample, s)
	}
}
