package member

import (
	"slices"
	"time"

	"kioku/council"
	"kioku/internal/text"
)

// Assumptions of an estimate, in tokens.
const (
	promptTokens  = 3000 // persona, block, recalled memories and contract
	briefReply    = 300
	thoroughReply = 1200
)

// TrialQuestion returns a harmless question, by which a member shows that it can be asked: after its settings have changed, and for
// somebody who sets a council up.
func TrialQuestion(member string, s council.Settings, now time.Time) Question {
	return Question{Member: member, Phase: PhaseOpinion, Cycle: 1, Round: 1, MaxRounds: 1, Attempt: 1, Roster: s.Roster(), Now: now,
		Task: council.Task{Type: council.TypeQuestion, Title: "A trial", Author: council.Author{Kind: "engine"},
			Description: "This is a trial and decides nothing. Should a council keep its decisions where people can read them?"}}
}

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
