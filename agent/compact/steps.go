package compact

import (
	"cmp"
	"errors"
	"fmt"
	"iter"

	"kioku/agent/session"
	"kioku/llm"
)

// errStopped ends the steps of a compaction that nobody continues.
var errStopped = errors.New("the compaction was stopped")

// Answer is what a model made of a request.
type Answer struct {
	// Text of the model.
	Text string
	// Cut says that the answer ended before the summary did.
	Cut bool
	// Err says why there is no answer; nil if there is one. After an error of llm.KindOverflow shorter requests follow; every other
	// one ends the compaction, unless a usable summary is there already.
	Err error
	// Window of the model in tokens, if it is known by now; 0 keeps what was known.
	Window int
}

// Steps is a compaction under way, request by request. Its methods must not be called concurrently.
type Steps struct {
	// at is the index of the first message that stays.
	at int
	// next and stop are those of a coroutine that asks the questions.
	next func() (llm.Request, bool)
	stop func()
	// request is the one to answer, unless the compaction has ended.
	request llm.Request
	more    bool
	answer  Answer
	made    session.Compaction
	err     error
}

// Begin begins a compaction as Compact does, but for a model that somebody else asks. Stop must be called in the end. Begin returns
// ErrNothing if there is nothing to summarise.
func (c *Compactor) Begin(v session.View, free int) (*Steps, error) {
	w := c.newWriter()
	at := Cut(v, c.KeepTokens, free)
	if at == 0 || at == 1 && v.Compactions > 0 {
		return nil, ErrNothing
	}
	limit := min(cmp.Or(c.SummaryTokens, defaultSummary), tokensOf(v, at)*3/4-llm.MessageTokens(c.Count, session.SummaryMessage("")))
	if limit <= 0 {
		return nil, ErrNothing
	}
	s := &Steps{at: at}
	s.next, s.stop = iter.Pull(func(yield func(llm.Request) bool) {
		w.ask = func(req llm.Request) (Answer, error) {
			if !yield(req) {
				return Answer{}, errStopped
			}
			w.window = cmp.Or(s.answer.Window, w.window)
			return s.answer, s.answer.Err
		}
		s.made, s.err = c.compaction(w, v, at, limit)
	})
	s.request, s.more = s.next()
	return s, nil
}

// compaction has the first messages summarised and returns the compaction.
func (c *Compactor) compaction(w *writer, v session.View, at, limit int) (session.Compaction, error) {
	summary, err := w.summariseShorter(v, at, limit)
	if err != nil {
		return session.Compaction{}, fmt.Errorf("compact %d messages: %w", at, err)
	}
	out := session.Compaction{Summary: summary, FirstKept: v.IDs[at], TokensBefore: v.Tokens}
	out.TokensAfter = llm.MessageTokens(c.Count, session.SummaryMessage(summary)) + tokensOf(v, len(v.Counts)) - tokensOf(v, at)
	if out.TokensAfter >= out.TokensBefore {
		return session.Compaction{}, ErrNothing
	}
	return out, nil
}

// Request returns the request to send to the model. It reports false if the compaction has ended.
func (s *Steps) Request() (req llm.Request, more bool) { return s.request, s.more }

// Answer takes the answer to the request. It has no effect after the end.
func (s *Steps) Answer(a Answer) {
	if s.more {
		s.answer = a
		s.request, s.more = s.next()
	}
}

// Result returns the compaction after the last request, or the errors of Compact.
func (s *Steps) Result() (session.Compaction, error) { return s.made, s.err }

// Stop ends the compaction and frees what it holds.
func (s *Steps) Stop() { s.stop() }
