package member

import (
	"slices"

	"kioku/council"
	"kioku/internal/text"
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
	CallsLow, CallsHigh int
	// TokensLow and TokensHigh belong to them. They are of prompts and replies together.
	TokensLow, TokensHigh int
}

// EstimateTask returns about what a task will cost, without the work that follows the decision and without second tries. Members that
// run elsewhere cost nothing here.
func EstimateTask(s council.Settings, t council.Task) Estimate {
	s = s.WithDefaults()
	members := len(slices.DeleteFunc(slices.Clone(s.Members), func(m council.Member) bool { return m.Model == ModelRemote && len(m.Command) == 0 }))
	first, rounds := s.MinRounds, s.MaxRounds
	base := promptTokens + text.EstimateTokens(t.Title+t.Description)
	for _, a := range t.Attachments {
		base += int(min(a.Size, maxPasted)) / 3
	}
	e := Estimate{CallsLow: members*first + 1, CallsHigh: members*rounds + 2}
	cost := func(rounds, reply int) (tokens int) {
		for r := range rounds {
			tokens += members * (base + r*len(s.Members)*reply + reply)
		}
		return tokens + base + rounds*len(s.Members)*reply + reply // the announcement
	}
	e.TokensLow, e.TokensHigh = cost(first, briefReply), cost(rounds, thoroughReply)
	e.TokensHigh += base + rounds*len(s.Members)*thoroughReply + thoroughReply // the arbitration
	return e
}
