package embed

import (
	"context"
	"errors"
	"strings"
	"sync"
)

// inFlight lets callers share the vectors of equal texts: those that are being embedded, and cached ones of queries.
type inFlight struct {
	mu      sync.Mutex // guards the fields below
	pending map[textKey]*pendingText
	queries queryCache
}

type textKey struct {
	kind textKind
	text string
}

// pendingText is a text that one caller is embedding. The outcome is set before done is closed.
type pendingText struct {
	key     textKey
	done    chan struct{}
	outcome Embedding
	err     error // why there is no outcome; nil if there is one
}

func (p *pendingText) isDone() bool {
	select {
	case <-p.done:
		return true
	default:
		return false
	}
}

// claim looks up the texts without an outcome in out: it writes cached vectors to out, and returns the pending text of each
// other index. Those that nobody is embedding it registers for this caller (own).
func (f *inFlight) claim(kind textKind, texts []string, out []Embedding) (pending map[int]*pendingText, own []*pendingText) {
	f.mu.Lock()
	defer f.mu.Unlock()
	pending = map[int]*pendingText{}
	for i, text := range texts {
		if out[i].hasOutcome() {
			continue
		}
		key := textKey{kind, text}
		if kind == query {
			if out[i].Vector = f.queries.lookup(text); out[i].Vector != nil {
				continue
			}
		}
		if f.pending[key] == nil {
			f.pending[key] = &pendingText{key: key, done: make(chan struct{})}
			own = append(own, f.pending[key])
		}
		pending[i] = f.pending[key]
	}
	return pending, own
}

// finish tells the callers that wait for p its outcome, or the error for which there is none.
func (f *inFlight) finish(p *pendingText, outcome Embedding, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	p.outcome, p.err = outcome, err
	delete(f.pending, p.key)
	if p.key.kind == query && outcome.Vector != nil {
		f.queries.insert(p.key.text, outcome.Vector)
	}
	close(p.done)
}

// embed returns the outcomes for the texts of one request. After an error some texts have none.
func (c *Client) embed(ctx context.Context, b *bisector, texts []string) (out []Embedding, err error) {
	out = make([]Embedding, len(texts))
	for i, text := range texts {
		if strings.TrimSpace(text) == "" {
			out[i].Err = ErrBlank
		}
	}
	if !c.Enabled() {
		err = ErrDisabled
	}
	for again := true; again && err == nil; {
		pending, own := c.requests.claim(b.kind, texts, out)
		err = c.embedOwn(ctx, b, own)
		again, err = c.join(ctx, pending, out, err)
	}
	return out, err
}

func (e Embedding) hasOutcome() bool { return e.Vector != nil || e.Err != nil }

// embedOwn embeds the texts that this caller has registered, and finishes them all.
func (c *Client) embedOwn(ctx context.Context, b *bisector, own []*pendingText) (err error) {
	if len(own) == 0 {
		return nil
	}
	texts := make([]string, len(own))
	for i, p := range own {
		texts[i] = p.key.text
	}
	var out []Embedding
	err = context.Canceled // after a panic, so that other callers do not wait forever
	defer func() {
		for i, p := range own {
			if i < len(out) {
				c.requests.finish(p, out[i], nil)
			} else {
				c.requests.finish(p, Embedding{}, err)
			}
		}
	}()
	if err = c.enterSlot(ctx, b.kind); err != nil {
		return err
	}
	defer c.leaveSlot(b.kind)
	out, err = b.embed(ctx, texts)
	return err
}

// enterSlot waits until the client has room for one more request for documents. Queries do not wait for documents.
func (c *Client) enterSlot(ctx context.Context, kind textKind) error {
	if kind == query {
		return nil
	}
	select {
	case c.slots <- struct{}{}:
		return nil
	case <-ctx.Done():
		return c.ended(ctx)
	}
}

func (c *Client) leaveSlot(kind textKind) {
	if kind == document {
		<-c.slots
	}
}

// join waits for pending texts and writes their outcomes to out; after an error it waits no longer. It reports whether
// texts are left whose caller gave up, which are to be claimed again. The error is err, or why others have no outcome: the
// provider is down or ctx has ended.
func (c *Client) join(ctx context.Context, pending map[int]*pendingText, out []Embedding, err error) (again bool, _ error) {
	for i, p := range pending {
		if err == nil && !p.isDone() {
			select {
			case <-ctx.Done():
				err = c.ended(ctx)
			case <-p.done:
			}
		}
		switch {
		case !p.isDone():
		case p.err == nil:
			out[i] = p.outcome
		case err == nil && errors.Is(p.err, ErrUnavailable):
			err = p.err
		default:
			again = true
		}
	}
	return again, err
}
