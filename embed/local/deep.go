package local

import (
	"context"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"kioku/embed/local/encoder"
)

// batchTokens is about how many tokens are computed at a time. A query waits for no more documents than these.
const batchTokens = 1024

// threads returns the number of threads to compute with.
func (o Options) threads() int {
	if o.Threads > 0 {
		return o.Threads
	}
	return runtime.GOMAXPROCS(0)
}

// searchTime is how long after a query documents leave the processors to searches.
const searchTime = 10 * time.Second

// gate lets queries go before documents: documents begin only while no query is under way.
type gate struct {
	mu      sync.Mutex
	queries int
	idle    chan struct{} // closed when queries becomes 0; nil while it is 0
	asked   time.Time     // when the last query began
}

// threads returns with how many threads of most documents are computed: with one while searches run.
func (g *gate) threads(most int) int {
	g.mu.Lock()
	defer g.mu.Unlock()
	if !g.asked.IsZero() && time.Since(g.asked) < searchTime {
		return 1
	}
	return most
}

// enterQuery makes documents wait until the function that it returns is called.
func (g *gate) enterQuery() (leave func()) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.asked = time.Now()
	if g.queries++; g.queries == 1 {
		g.idle = make(chan struct{})
	}
	return func() {
		g.mu.Lock()
		defer g.mu.Unlock()
		if g.queries--; g.queries == 0 {
			close(g.idle)
			g.idle = nil
		}
	}
}

// waitForQueries waits until no query is under way.
func (g *gate) waitForQueries(ctx context.Context) error {
	for {
		g.mu.Lock()
		idle := g.idle
		g.mu.Unlock()
		if idle == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-idle:
		}
	}
}

// tokenized is a text that is to be computed.
type tokenized struct {
	at    int // its place among the texts
	input encoder.Input
}

// embedDeep embeds texts with a transformer. Texts of similar length are computed together.
func (m *Model) embedDeep(ctx context.Context, task Task, prefix string, texts []string) ([]Embedding, error) {
	if task == Query {
		defer m.gate.enterQuery()()
	}
	out := make([]Embedding, len(texts))
	var pending []tokenized
	for i, text := range texts {
		input, err := m.tokenize(prefix, text, &out[i])
		if err != nil {
			out[i] = Embedding{Err: err}
			continue
		}
		pending = append(pending, tokenized{i, input})
	}
	slices.SortStableFunc(pending, func(a, b tokenized) int { return len(a.input.IDs) - len(b.input.IDs) })
	for len(pending) > 0 {
		n := batchOf(pending)
		if task == Document {
			if err := m.gate.waitForQueries(ctx); err != nil {
				return nil, err
			}
		}
		threads := m.threads
		if task == Document {
			threads = m.gate.threads(threads)
		}
		if err := m.encode(ctx, pending[:n], out, threads); err != nil {
			return nil, err
		}
		pending = pending[n:]
	}
	return out, nil
}

// tokenize returns the tokens of a text, and notes in e how many there are and of how much of the text.
func (m *Model) tokenize(prefix, text string, e *Embedding) (encoder.Input, error) {
	encoding, err := m.tokenizer.Encode(prefix+text, m.info.Window)
	if err != nil {
		return encoder.Input{}, err
	}
	if len(encoding.IDs) == 0 {
		return encoder.Input{}, ErrNoTokens
	}
	e.Tokens = len(encoding.IDs)
	if encoding.Truncated {
		if e.Bytes, err = m.beginning(prefix, text); err != nil {
			return encoder.Input{}, err
		}
	}
	return encoder.Input{IDs: encoding.IDs, Types: encoding.Types}, nil
}

// beginning returns the length of the longest beginning of text that fits into the window, to the end of a word if one is
// near.
func (m *Model) beginning(prefix, text string) (int, error) {
	fits, over := 0, len(text)
	for over-fits > 8 {
		middle := (fits + over) / 2
		encoding, err := m.tokenizer.Encode(prefix+strings.ToValidUTF8(text[:middle], ""), m.info.Window)
		if err != nil {
			return 0, err
		}
		if encoding.Truncated {
			over = middle
		} else {
			fits = middle
		}
	}
	if end := strings.LastIndexAny(text[:fits], " \t\n"); end > fits/2 {
		fits = end
	}
	return max(1, len(strings.ToValidUTF8(text[:fits], ""))), nil
}

// batchOf returns how many of the first texts to compute together, at least one.
func batchOf(pending []tokenized) int {
	tokens := 0
	for i, p := range pending {
		if tokens += len(p.input.IDs); tokens > batchTokens && i > 0 {
			return i
		}
	}
	return len(pending)
}

// encode computes texts and writes their vectors to out.
func (m *Model) encode(ctx context.Context, texts []tokenized, out []Embedding, threads int) error {
	inputs := make([]encoder.Input, len(texts))
	for i, t := range texts {
		inputs[i] = t.input
	}
	vectors, err := m.compute(ctx, inputs, threads)
	if err != nil {
		return err
	}
	for i, t := range texts {
		e := &out[t.at]
		if scaled := unit(vectors[i], e.Tokens); scaled.Err != nil {
			*e = scaled
		} else {
			e.Vector = scaled.Vector
		}
	}
	return nil
}

// compute runs the encoder. If the file was changed meanwhile, which makes the numbers useless, that is the error.
func (m *Model) compute(ctx context.Context, inputs []encoder.Input, threads int) ([][]float32, error) {
	out, err := m.encoder.Encode(ctx, inputs, threads)
	if changed := m.file.Check(); changed != nil && ctx.Err() == nil {
		return nil, changed
	}
	return out, err
}
