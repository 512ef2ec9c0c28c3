package member

import (
	"kioku/council"
	"kioku/internal/text"
	"kioku/llm"
)

// Assumptions of an estimate, in tokens.
const (
	promptTokens  = 3000 // persona, block, recalled memories and contract
	briefReply    = 300
	thoroughReply = 1200
)

// Estimate is about what a task may cost.
type Estimate struct {
	// CallsLow is the number of calls if the first round decides, CallsHigh if no round does.
	CallsLow  int `json:"calls_low"`
	CallsHigh int `json:"calls_high"`
	// TokensLow and TokensHigh belong to them. They are of prompts and replies together.
	TokensLow  int `json:"tokens_low"`
	TokensHigh int `json:"tokens_high"`
	// CostLow and CostHigh are in US dollars; 0 unless the models of all members have a price.
	CostLow  float64 `json:"cost_low"`
	CostHigh float64 `json:"cost_high"`
}

// EstimateTask returns about what a task will cost, without the work that follows the decision and without second tries.
func EstimateTask(s council.Settings, t council.Task) Estimate {
	s = s.WithDefaults()
	low := estimator{Settings: s, base: promptOf(t), reply: briefReply}
	low.rounds(s.MinRounds)
	low.call(s.WithRole(council.RoleAnnouncer))
	high := estimator{Settings: s, base: promptOf(t), reply: thoroughReply}
	high.rounds(s.MaxRounds)
	high.call(s.WithRole(council.RoleArbiter))
	high.call(s.WithRole(council.RoleAnnouncer))
	e := Estimate{CallsLow: low.spent.Calls, CallsHigh: high.spent.Calls, TokensLow: low.tokens(), TokensHigh: high.tokens()}
	if !low.unpriced && !high.unpriced {
		e.CostLow, e.CostHigh = low.spent.Cost, high.spent.Cost
	}
	return e
}

// promptOf returns the tokens of a prompt of a first round.
func promptOf(t council.Task) int {
	n := promptTokens + text.EstimateTokens(t.Title+t.Description)
	for _, a := range t.Attachments {
		n += int(min(a.Size, maxPasted)) / 3
	}
	return n
}

// estimator adds calls up.
type estimator struct {
	council.Settings
	base, reply int // tokens of the first prompt and of each reply
	opinions    int // that prompts contain by now
	spent       council.Usage
	unpriced    bool // a model has no price
}

// rounds adds rounds of all members.
func (e *estimator) rounds(n int) {
	for range n {
		for _, m := range e.Members {
			e.call(m.Name)
		}
		e.opinions += len(e.Members)
	}
}

// call adds a call of a member.
func (e *estimator) call(name string) {
	m, err := e.Member(name)
	if err != nil {
		return // a council without an arbiter makes no such call
	}
	p, priced := e.PriceOf(m.ModelName())
	e.unpriced = e.unpriced || !priced
	u := llm.Usage{Input: e.base + e.opinions*e.reply, Output: e.reply}
	e.spent = e.spent.Plus(council.Usage{Calls: 1, TokensIn: u.Input, TokensOut: u.Output, Cost: llm.Prices(p).Cost(u)})
}

func (e *estimator) tokens() int { return e.spent.TokensIn + e.spent.TokensOut }
