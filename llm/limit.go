package llm

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"
)

// Limits bound what a process spends. A bound of 0 is none.
type Limits struct {
	// Tokens, of prompts and answers together, of this process.
	Tokens int
	// TokensPerDay of this process in a calendar day.
	TokensPerDay int
	// USDPerDay of this process in a calendar day; it needs Prices.
	USDPerDay float64
	Prices    Prices
}

// Prices are in US dollars per million tokens. Where the prices of the cache are 0, cached tokens cost as much as others.
type Prices struct {
	Input, Output, CacheRead, CacheWrite float64
}

func (l Limits) none() bool { return l.Tokens == 0 && l.TokensPerDay == 0 && l.USDPerDay == 0 }

// check returns an error if the limits make no sense.
func (l Limits) check() error {
	p := l.Prices
	if l.Tokens < 0 || l.TokensPerDay < 0 || l.USDPerDay < 0 || p.Input < 0 || p.Output < 0 || p.CacheRead < 0 || p.CacheWrite < 0 {
		return errors.New("llm.limits: a bound or a price is negative")
	}
	if l.USDPerDay > 0 && (p.Input == 0 || p.Output == 0) {
		return errors.New("llm.limits: a bound in USD needs the prices of input and output")
	}
	return nil
}

// Cost returns what u costs in US dollars.
func (p Prices) Cost(u Usage) float64 {
	if p.CacheRead == 0 {
		p.CacheRead = p.Input
	}
	if p.CacheWrite == 0 {
		p.CacheWrite = p.Input
	}
	return (float64(u.Input)*p.Input + float64(u.Output)*p.Output + float64(u.CacheRead)*p.CacheRead + float64(u.CacheWrite)*p.CacheWrite) / 1e6
}

// Limited is a model that may spend so much.
type Limited struct {
	Model
	limits Limits
	now    func() time.Time

	mu     sync.Mutex
	total  int     // tokens of this process
	day    string  // that today and usd are of
	today  int     // tokens
	usd    float64 // of the day
	flying Usage   // estimates of the calls that are not back yet
}

// Limit returns m with bounds. Its methods may be called concurrently: what calls under way are estimated to need counts
// as spent.
func Limit(m Model, limits Limits, now func() time.Time) *Limited {
	return &Limited{Model: m, limits: limits, now: now}
}

// Spent is what a model has used.
type Spent struct {
	Tokens, TokensToday int
	USDToday            float64
}

// Spent returns what was used so far, without calls under way.
func (l *Limited) Spent() Spent {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.turn()
	return Spent{Tokens: l.total, TokensToday: l.today, USDToday: l.usd}
}

// Generate implements Model. It returns an *Error of KindBudget, and asks nobody, once a bound is reached. The call that
// reaches it still gets its answer. Where a provider does not say what a call used, an estimate counts.
func (l *Limited) Generate(ctx context.Context, req Request, stream func(Event)) (Response, error) {
	guess := Usage{Input: estimateRequest(req)}
	if err := l.enter(guess); err != nil {
		return Response{}, err
	}
	heard := 0
	listen := stream
	if stream != nil {
		listen = func(e Event) {
			heard += estimate(e.Text)
			stream(e)
		}
	}
	resp, err := l.Model.Generate(ctx, req, listen)
	l.leave(guess, used(resp, err, guess, heard))
	return resp, err
}

// used returns what a call has used, by an estimate where the provider does not say. A call that failed before the provider
// had begun to answer used nothing.
func used(resp Response, err error, guess Usage, heard int) Usage {
	e, failed := errors.AsType[*Error](err)
	switch {
	case resp.Usage != (Usage{}):
		return resp.Usage
	case err == nil:
		return Usage{Input: guess.Input, Output: estimateMessage(resp.Message)}
	case heard > 0 || failed && e.begun:
		return Usage{Input: guess.Input, Output: heard}
	}
	return Usage{}
}

// enter counts a call as under way, or refuses it.
func (l *Limited) enter(guess Usage) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.turn()
	flying := l.flying.Prompt()
	reached := ""
	switch b := l.limits; {
	case b.Tokens > 0 && l.total+flying >= b.Tokens:
		reached = fmt.Sprintf("%d tokens a process (llm.limits.tokens)", b.Tokens)
	case b.TokensPerDay > 0 && l.today+flying >= b.TokensPerDay:
		reached = fmt.Sprintf("%d tokens a day (llm.limits.tokensPerDay)", b.TokensPerDay)
	case b.USDPerDay > 0 && l.usd+b.Prices.Cost(l.flying) >= b.USDPerDay:
		reached = fmt.Sprintf("%.2f USD a day (llm.limits.usdPerDay)", b.USDPerDay)
	}
	if reached != "" {
		return &Error{Kind: KindBudget, Message: "the model is not asked: the bound of " + reached + " is reached", final: true}
	}
	l.flying.Input += guess.Input
	return nil
}

// leave counts a call as done.
func (l *Limited) leave(guess, used Usage) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.turn()
	l.flying.Input -= guess.Input
	l.total += used.Prompt() + used.Output
	l.today += used.Prompt() + used.Output
	l.usd += l.limits.Prices.Cost(used)
}

// turn begins a new day. The caller holds l.mu.
func (l *Limited) turn() {
	if day := l.now().Format(time.DateOnly); day != l.day {
		l.day, l.today, l.usd = day, 0, 0
	}
}

// estimateRequest returns about how many tokens the prompt of a request has.
func estimateRequest(req Request) int {
	n := estimate(req.System) + estimate(string(req.Schema))
	for _, t := range req.Tools {
		n += estimate(t.Name) + estimate(t.Description) + estimate(string(t.Schema))
	}
	for _, m := range req.Messages {
		n += estimateMessage(m)
	}
	return n
}

func estimateMessage(m Message) int {
	n := 4 + estimate(m.Text) + 2000*len(m.Images)
	for _, c := range m.ToolCalls {
		n += 4 + estimate(c.Name) + estimate(string(c.Input))
	}
	return n
}

// estimate returns about how many tokens a text has: one for four Latin characters, and one for each other.
func estimate(text string) int {
	latin, other := 0, 0
	for _, r := range text {
		if r < 0x2E80 {
			latin++
		} else {
			other++
		}
	}
	return (latin+3)/4 + other
}
