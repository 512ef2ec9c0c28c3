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
)

const (
	// maxAnswerBytes bounds an answer that is read; what is longer cannot be valid.
	maxAnswerBytes = 64 << 10
	// keptAnswerBytes bounds the answer that is kept with a parked job.
	keptAnswerBytes = 2 << 10
)

// question is what a model is asked.
type question struct {
	// purpose of the call, for the budget.
	purpose string
	prompt  contract.Prompt
	// read reads an answer that ended for the reason stop. Its error is a *contract.Error for one that is invalid.
	read func(answer, stop string) (contract.Report, error)
}

// used are the tokens of calls.
type used struct{ in, out int }

// plus returns the sum of u and v.
func (u used) plus(v used) used { return used{u.in + v.in, u.out + v.out} }

// invalidError is an answer that is invalid also after a correction was asked for, or a question that is too long.
type invalidError struct {
	class, answer string
	err           error
}

// Error implements error.
func (e *invalidError) Error() string { return e.err.Error() }

// Unwrap returns the cause.
func (e *invalidError) Unwrap() error { return e.err }

// errBudget is wrapped by the error of a question that was not asked because the budget is used up.
var errBudget = errors.New("the budget for derivation is used up")

// ask asks the model, once more if the answer is invalid. It returns an *invalidError if it still is, an error that wraps errBudget,
// or the error of the call.
func (s *Service) ask(ctx context.Context, q question) (total used, err error) {
	req := q.prompt.Request()
	for try := range 2 {
		answer, stop, tokens, err := s.callModel(ctx, q.purpose, req)
		total = total.plus(tokens)
		if llm.KindOf(err) == llm.KindOverflow {
			return total, &invalidError{class: classTooLong, err: err}
		}
		if err != nil {
			return total, err
		}
		report, err := q.read(answer, stop)
		s.countRejected(ctx, report)
		var invalid *contract.Error
		if err == nil || !errors.As(err, &invalid) {
			return total, err
		}
		if try == 1 {
			return total, &invalidError{classContract, keptAnswer(answer), err}
		}
		redacted, _ := secrets.Redact(answer)
		req = q.prompt.Retry(redacted, invalid.Problems)
	}
	return total, nil
}

// callModel makes one call within the budget, and returns the text of the answer as it came.
func (s *Service) callModel(ctx context.Context, purpose string, req llm.Request) (answer, stop string, tokens used, err error) {
	if err := checkBody(req); err != nil {
		return "", "", used{}, err
	}
	model, now := s.opt.Model.Name(), s.opt.Now()
	input := llm.RequestTokens(req)
	reserved := input + req.MaxTokens
	ok, err := s.store.Reserve(ctx, now, model, purpose, reserved, s.opt.MaxTokensPerDay, s.opt.MaxCallsPerHour)
	if err != nil {
		return "", "", used{}, err
	}
	if !ok {
		return "", "", used{}, errBudget
	}
	if s.opt.Turns != nil && (purpose == jobExtract || purpose == jobSummary) { // a search cannot wait for a turn
		leave, err := enter(ctx, s.opt.Turns)
		if err != nil {
			return "", "", used{}, errors.Join(err, s.settleBudget(ctx, now, model, purpose, reserved, used{}))
		}
		defer leave()
	}
	answer, resp, err := s.generateAnswer(ctx, req)
	tokens = usedBy(resp, err, input, answer)
	if failed := s.settleBudget(ctx, now, model, purpose, reserved, tokens); err == nil {
		err = failed
	}
	return answer, resp.Stop, tokens, err
}

// settleBudget replaces a reservation by what was used, also if ctx has ended.
func (s *Service) settleBudget(ctx context.Context, now time.Time, model, purpose string, reserved int, u used) error {
	return s.store.Settle(context.WithoutCancel(ctx), now, model, purpose, reserved, u.in, u.out)
}

// generateAnswer asks the model. An answer without end is cut off, and counts as one that has reached its length.
func (s *Service) generateAnswer(ctx context.Context, req llm.Request) (answer string, resp llm.Response, err error) {
	asking, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	bytes := 0
	resp, err = s.opt.Model.Generate(asking, req, func(e llm.Event) {
		if bytes += len(e.Text); bytes > maxAnswerBytes {
			stop(errEndless)
		}
	})
	if errors.Is(context.Cause(asking), errEndless) {
		return "", llm.Response{Stop: llm.StopLength, Usage: llm.Usage{Output: bytes / 4}}, nil
	}
	return resp.Message.Text, resp, err
}

// errEndless is the cause of the end of an answer that is too long.
var errEndless = errors.New("the answer is longer than any that is valid")

// usedBy returns what a call has used, by an estimate if the provider does not say. A call that failed before an answer began has
// used nothing.
func usedBy(resp llm.Response, err error, input int, answer string) used {
	switch {
	case resp.Usage != llm.Usage{}:
		return used{resp.Usage.Prompt(), resp.Usage.Output}
	case err != nil && answer == "":
		return used{}
	}
	return used{input, text.EstimateTokens(answer)}
}

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
