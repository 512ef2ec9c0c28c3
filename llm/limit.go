package llm

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"kioku/internal/modelhttp"
	"kioku/internal/text"
)

// Limits bound what a process spends. The zero value bounds nothing.
type Limits struct {
	// TokensPerDay is the maximum number of tokens of prompts and answers together in a calendar day; 0 means no bound.
	TokensPerDay int
}

// Prices are in US dollars per million tokens.
type Prices struct {
	// Input and Output are the prices of a prompt and of an answer.
	Input, Output float64
	// CacheRead and CacheWrite are the prices of tokens read from and written to the provider's cache; 0 means Input.
	CacheRead, CacheWrite float64
}

// Cost returns what u costs in US dollars.
func (p Prices) Cost(u Usage) float64 {
	read, written := cmp.Or(p.CacheRead, p.Input), cmp.Or(p.CacheWrite, p.Input)
	return (float64(u.Input)*p.Input + float64(u.Output)*p.Output + float64(u.CacheRead)*read + float64(u.CacheWrite)*written) / 1e6
}

// limited is a model with bounds.
type limited struct {
	Model
	limits Limits
	now    func() time.Time

	mu       sync.Mutex // guards the fields below
	day      string     // the day of today
	today    int        // tokens
	inFlight int        // estimated tokens of the prompts of the calls under way
}

// Limit returns m with bounds, or m itself if there are none. now is the clock; nil means time.Now. The estimated tokens of
// calls under way count as spent. Once a bound is reached, Generate returns an *Error of KindBudget and makes no request;
// the call that reaches it still gets its answer. If a provider does not say what a call used, an estimate counts. The error
// is of limits that make no sense.
func Limit(m Model, limits Limits, now func() time.Time) (Model, error) {
	if limits.TokensPerDay < 0 {
		return nil, errors.New("llm.limits: a bound is negative")
	}
	if limits.TokensPerDay == 0 {
		return m, nil
	}
	if now == nil {
		now = time.Now
	}
	return &limited{Model: m, limits: limits, now: now}, nil
}

// WindowSource returns the source of Window; see the function of this name.
func (l *limited) WindowSource() string { return WindowSource(l.Model) }

// Generate implements Model.
func (l *limited) Generate(ctx context.Context, req Request, stream func(Event)) (Response, error) {
	estimate := Usage{Input: RequestTokens(req)}
	if err := l.enter(estimate); err != nil {
		return Response{}, err
	}
	streamed := 0 // tokens
	onProgress := stream
	if stream != nil {
		onProgress = func(e Event) {
			streamed += text.EstimateTokens(e.Text)
			stream(e)
		}
	}
	resp, err := l.Model.Generate(ctx, req, onProgress)
	l.leave(estimate, usageOf(resp, err, estimate, streamed))
	return resp, err
}

// usageOf returns what a call has used, by an estimate if the provider does not say. A call that failed before the provider
// had begun to answer used nothing.
func usageOf(resp Response, err error, estimate Usage, streamed int) Usage {
	e, failed := errors.AsType[*modelhttp.Error](err)
	switch {
	case resp.Usage != (Usage{}):
		return resp.Usage
	case err == nil:
		return Usage{Input: estimate.Input, Output: MessageTokens(nil, resp.Message)}
	case streamed > 0 || failed && e.Begun:
		return Usage{Input: estimate.Input, Output: streamed}
	}
	return Usage{}
}

// enter counts a call as under way, or refuses it.
func (l *limited) enter(estimate Usage) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.startDay()
	if l.today+l.inFlight >= l.limits.TokensPerDay {
		return &Error{Kind: KindBudget, Message: fmt.Sprintf("the model is not asked: the bound of %d tokens a day (llm.limits.tokensPerDay) is reached", l.limits.TokensPerDay)}
	}
	l.inFlight += estimate.Input
	return nil
}

// leave counts a call as done.
func (l *limited) leave(estimate, used Usage) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.startDay()
	l.inFlight -= estimate.Input
	l.today += used.Prompt() + used.Output
}

// startDay resets the counters of a day after midnight. The caller holds l.mu.
func (l *limited) startDay() {
	if day := l.now().Format(time.DateOnly); day != l.day {
		l.day, l.today = day, 0
	}
}
