package embed

import (
	"cmp"
	"context"
	"errors"
	"iter"
	"slices"
	"strings"

	"kioku/internal/text"
)

// sharedTexts is the number of texts that a stream remembers, so that an equal one is not sent again.
const sharedTexts = 1024

// Documents embeds texts that are to be found. It returns one Embedding a text, in their order; equal texts share a vector. A
// text that the provider refuses has its own Err and does not affect the others. Of a text that is too long for the model, the
// beginning is embedded, cut at the end of a word if one is near; Embedding.Bytes tells its length. The error is for all texts:
// ErrDisabled, the cause of ctx, or one that wraps ErrUnavailable; the slice then still contains what was embedded before, and
// the error as the Err of every other text.
func (c *Client) Documents(ctx context.Context, texts []string) ([]Embedding, error) {
	out := make([]Embedding, len(texts))
	err := c.Stream(ctx, slices.Values(texts), func(outcomes []Outcome) {
		for _, o := range outcomes {
			out[o.Number] = o.Embedding
		}
	})
	for i, e := range out {
		if e.Err == nil && (e.Vector == nil || errors.Is(err, errLeft)) {
			out[i] = Embedding{Err: err}
		}
	}
	return out, err
}

// Outcome is the outcome for one text of a stream.
type Outcome struct {
	// Number is the number of the text in the sequence, from 0.
	Number int
	Embedding
}

// Stream embeds texts as Documents does, as many as the sequence yields. It cuts them into requests and has several of them
// under way, the first alone until it has succeeded. It calls done with the outcomes of each request as soon as it ends, so not
// in the order of the sequence. Of equal texts that follow each other closely, one is sent. The sequence and done run on the
// goroutine of the caller. After an error, the rest of the sequence is not read, and texts that have no outcome are not reported.
// If the provider changes the dimension of its vectors, the stream ends with an error before the first of another dimension.
func (c *Client) Stream(ctx context.Context, texts iter.Seq[string], done func([]Outcome)) error {
	if !c.Enabled() {
		return ErrDisabled
	}
	next, stop := iter.Pull(texts)
	defer stop()
	s := stream{client: c, next: next, done: done, limit: 1, known: map[string]*streamText{}, finished: make(chan *batch)}
	return s.run(ctx)
}

// stream embeds a sequence of texts. Its fields belong to the goroutine of the caller.
type stream struct {
	client *Client
	next   func() (string, bool)
	done   func([]Outcome)
	// read is the number of texts that were read, and ahead is one that was too much for the last batch; nil if none was.
	read  int
	ahead *streamText
	// known are texts that were sent.
	known map[string]*streamText
	// dims is the number of dimensions of its vectors; 0 until it is known.
	dims int
	// running is the number of batches under way, and limit how many may be.
	running, limit int
	finished       chan *batch
}

// streamText is a text of a stream. numbers are its places in the sequence that wait for its outcome.
type streamText struct {
	text    string
	numbers []int
	outcome Embedding
}

// batch is the texts of one request.
type batch struct {
	texts []*streamText
	probe bool // the provider had failed, so that the batch is one text
	out   []Embedding
	err   error
}

// run sends batches until the sequence ends or a batch fails, and waits for those under way.
func (s *stream) run(ctx context.Context) (err error) {
	for {
		for err == nil && ctx.Err() == nil && s.running < s.limit {
			b := s.cutBatch()
			if len(b.texts) == 0 {
				break
			}
			s.running++
			go s.send(ctx, b)
		}
		if s.running == 0 {
			if err == nil && ctx.Err() != nil {
				err = s.client.ended(ctx)
			}
			return err
		}
		b := <-s.finished
		s.running--
		err = cmp.Or(err, s.report(b))
	}
}

// cutBatch reads the texts of one request. It returns none at the end of the sequence, and while other requests are under way
// to a provider that is to be probed.
func (s *stream) cutBatch() *batch {
	b := &batch{probe: s.client.circuit.isOpen()}
	if b.probe && s.running > 0 {
		return b
	}
	items, most := s.client.BatchLimits()
	if b.probe {
		items = 1
	}
	for tokens := 0; len(b.texts) < items; {
		t := s.readText()
		if t == nil {
			break
		}
		if tokens += text.EstimateTokens(t.text); tokens > most && len(b.texts) > 0 {
			s.ahead = t
			break
		}
		b.texts = append(b.texts, t)
	}
	return b
}

// BatchLimits returns how many texts, and how many tokens by estimate, a request has at most now.
func (c *Client) BatchLimits() (items, tokens int) {
	c.mu.Lock()
	items = c.items
	c.mu.Unlock()
	tokens = services[c.cfg.Provider].batchTokens()
	if left, bounded := c.budget.left(document); bounded {
		tokens = min(tokens, left)
	}
	return items, tokens
}

// readText returns the next text that is to be sent, nil at the end of the sequence.
func (s *stream) readText() *streamText {
	if t := s.ahead; t != nil {
		s.ahead = nil
		return t
	}
	for {
		text, ok := s.next()
		if !ok {
			return nil
		}
		i := s.read
		s.read++
		t := s.known[text]
		switch {
		case strings.TrimSpace(text) == "":
			s.done([]Outcome{{i, Embedding{Err: ErrBlank}}})
		case t == nil:
			if len(s.known) == sharedTexts {
				clear(s.known)
			}
			t = &streamText{text: text, numbers: []int{i}}
			s.known[text] = t
			return t
		case t.outcome.Vector != nil || t.outcome.Err != nil:
			s.done([]Outcome{{i, t.outcome}})
		default:
			t.numbers = append(t.numbers, i)
		}
	}
}

// send embeds a batch, once the client has room for one more request, and hands it back with its outcome.
func (s *stream) send(ctx context.Context, b *batch) {
	texts := make([]string, len(b.texts))
	for i, t := range b.texts {
		texts[i] = t.text
	}
	select {
	case s.client.slots <- struct{}{}:
		b.out, b.err = s.client.embed(ctx, document, texts)
		<-s.client.slots
	case <-ctx.Done():
		b.err = s.client.ended(ctx)
	}
	s.finished <- b
}

// report hands on the outcomes of a batch, and returns why the stream ends with it, nil if it goes on. Once a batch that was no
// probe has succeeded, others may be under way beside it.
func (s *stream) report(b *batch) error {
	switch {
	case b.probe:
		s.limit = 1
	case b.err == nil:
		s.limit = cap(s.client.slots)
	}
	var outcomes []Outcome
	for i, e := range b.out {
		if e.Vector != nil && s.dims == 0 {
			s.dims = len(e.Vector)
		}
		if e.Vector != nil && len(e.Vector) != s.dims {
			return unavailable(errLeft)
		}
		t := b.texts[i]
		t.outcome = e
		for _, number := range t.numbers {
			outcomes = append(outcomes, Outcome{number, e})
		}
		t.numbers = nil
	}
	if len(outcomes) > 0 {
		s.done(outcomes)
	}
	return b.err
}
