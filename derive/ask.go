package derive

import (
	"context"
	"errors"
	"fmt"
	"time"

	"kioku/derive/contract"
	"kioku/internal/secrets"
	"kioku/internal/text"
	"kioku/llm"
	"kioku/llm/ask"
	"kioku/memory"
)

const (
	// maxAnswerBytes bounds an answer that is read; what is longer cannot be valid.
	maxAnswerBytes = 64 << 10
	// keptAnswerBytes bounds the answer that is kept with a parked job.
	keptAnswerBytes = 2 << 10
)

// used are the tokens of calls.
type used struct{ in, out int }

// plus returns the sum of u and v.
func (u used) plus(v used) used { return used{u.in + v.in, u.out + v.out} }

// invalidError is an answer that is invalid also after a correction was asked for, or a question that is too long.
type invalidError struct {
	class, answer string
	err           error
	// episodes are the UIDs of those that failed; none if the whole task has.
	episodes []string
}

// Error implements error.
func (e *invalidError) Error() string { return e.err.Error() }

// Unwrap returns the cause.
func (e *invalidError) Unwrap() error { return e.err }

// errBudget is wrapped by the error of a question that was not asked because the budget is used up.
var errBudget = errors.New("the budget for derivation is used up")

// askModel asks the model, once more if the answer is invalid. It returns what was said with the text of the answer, an *invalidError if the answer
// still is invalid, an error that wraps errBudget, or the error of the call.
func askModel[T any](ctx context.Context, s *Service, q contract.Question[T]) (said T, answer string, total used, err error) {
	l := &ledger{s: s, ctx: context.WithoutCancel(ctx), now: s.opt.Now(), purpose: q.Purpose}
	err = ask.Ask(ctx, ask.Question{
		Request: q.Request(),
		Call: func(ctx context.Context, req llm.Request) (resp llm.Response, err error) {
			if err := checkBody(req); err != nil {
				return resp, err
			}
			if s.opt.Turns != nil && (q.Purpose == jobExtract || q.Purpose == jobSummary) { // a search cannot wait for a turn
				leave, err := enter(ctx, s.opt.Turns)
				if err != nil {
					return resp, err
				}
				defer leave()
			}
			return ask.Call(ctx, l, req, s.generateAnswer)
		},
		Read: func(resp llm.Response) (err error) {
			var report contract.Report
			answer = resp.Message.Text
			said, report, err = q.Read(answer, resp.Stop)
			s.countRejected(ctx, report)
			return err
		},
		Shown: keptAnswer,
	})
	if invalid, ok := errors.AsType[*ask.InvalidError](err); ok {
		err = &invalidError{class: classContract, answer: keptAnswer(invalid.Answer), err: invalid.Err}
	} else if llm.KindOf(err) == llm.KindOverflow {
		err = &invalidError{class: classTooLong, err: err}
	}
	return said, answer, l.used, errors.Join(err, l.err)
}

// ledger counts the tokens of the calls for one question, also if that is given up.
type ledger struct {
	s       *Service
	ctx     context.Context
	now     time.Time
	purpose string
	used    used
	err     error // of settling
}

// Reserve implements ask.Ledger. Its error is errBudget if the budget is used up.
func (l *ledger) Reserve(tokens int) (string, error) {
	ok, err := l.s.store.Reserve(l.ctx, l.now, l.s.opt.Model.Name(), l.purpose, tokens, l.s.opt.MaxTokensPerDay, l.s.opt.MaxCallsPerHour)
	if err == nil && !ok {
		err = errBudget
	}
	return "", err
}

// Settle implements ask.Ledger.
func (l *ledger) Settle(_ string, reserved int, u llm.Usage) {
	now := used{u.Prompt(), u.Output}
	l.used = l.used.plus(now)
	l.err = errors.Join(l.err, l.s.store.Settle(l.ctx, l.now, l.s.opt.Model.Name(), l.purpose, reserved, now.in, now.out))
}

// generateAnswer asks the model. An answer without end is cut off, and counts as one that has reached its length.
func (s *Service) generateAnswer(ctx context.Context, req llm.Request) (llm.Response, error) {
	asking, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	bytes := 0
	resp, err := s.opt.Model.Generate(asking, req, func(e llm.Event) {
		if bytes += len(e.Text); bytes > maxAnswerBytes {
			stop(errEndless)
		}
	})
	if errors.Is(context.Cause(asking), errEndless) {
		return llm.Response{Stop: llm.StopLength, Usage: llm.Usage{Output: bytes / 4}}, nil
	}
	if err != nil && bytes == 0 { // a call of which no answer has begun costs nothing, however often the server is away
		resp.Usage = llm.Usage{CacheKnown: true}
	}
	return resp, err
}

// errEndless is the cause of the end of an answer that is too long.
var errEndless = errors.New("the answer is longer than any that is valid")

// checkBody returns an error if a request contains a secret, which never leaves, whatever episodes it was made of.
func checkBody(req llm.Request) error {
	body := req.System
	for _, m := range req.Messages {
		body += "\n" + m.Text
	}
	if found := secrets.Find(body); len(found) > 0 {
		return &invalidError{class: classSecret, err: fmt.Errorf("nothing was sent: the text has what looks like a secret (%s)", found[0].Kind)}
	}
	return nil
}

// keptAnswer returns what is kept of an answer for people: bounded, and without secrets.
func keptAnswer(answer string) string {
	redacted, _ := secrets.Redact(answer)
	return text.HeadBytes(redacted, keptAnswerBytes)
}

// countRejected adds what was rejected of an answer to the totals.
func (s *Service) countRejected(ctx context.Context, report contract.Report) {
	if len(report.Dropped) == 0 {
		return
	}
	if err := s.store.CountDropped(context.WithoutCancel(ctx), report.Dropped); err != nil {
		s.log.Warn("count rejected items", "err", err)
	}
}

// errNoModel: no language model derives.
var errNoModel = errors.New("no language model is set for derivation; set derive.llm.model")

// mayAsk returns an error if the model is not to be asked for a search now: there is none, or it is left alone because it fails or
// its budget is used up.
func (s *Service) mayAsk() error {
	b := s.recall().breaker
	switch {
	case !s.asksModel():
		return errNoModel
	case !b.allows(s.opt.Now()):
		return fmt.Errorf("the model is not asked now: %s", b.problem)
	}
	return nil
}

// Wordings asks the model for other wordings of a message with the conversation before it. The caller bounds the time that it takes.
func (s *Service) Wordings(ctx context.Context, message string, turns []memory.Turn, now time.Time) ([]string, error) {
	if err := s.mayAsk(); err != nil {
		return nil, err
	}
	q, err := s.contracts().Expand(contract.ExpandInput{Message: message, Turns: turns, Now: now})
	if err != nil {
		return nil, err
	}
	queries, _, _, err := askModel(ctx, s, q)
	return queries, err
}

// Choose asks the model which passages answer a message with the conversation before it, and returns their places, best first.
func (s *Service) Choose(ctx context.Context, message string, turns []memory.Turn, passages []memory.Hit) ([]int, error) {
	if err := s.mayAsk(); err != nil {
		return nil, err
	}
	in := contract.RerankInput{Message: message, Turns: turns}
	for _, h := range passages {
		in.Candidates = append(in.Candidates, contract.Candidate{Date: h.Date, Path: h.Path, Text: h.Snippet})
	}
	q, err := s.contracts().Rerank(in)
	if err != nil {
		return nil, err
	}
	ranked, _, _, err := askModel(ctx, s, q)
	places := make([]int, 0, len(ranked))
	for _, r := range ranked {
		places = append(places, r.Index)
	}
	return places, err
}

// Asks reports whether a model derives.
func (s *Service) Asks() bool { return s.asksModel() }
