package flow

import (
	"time"

	"kioku/council"
)

// Snapshot is what is on disk of a task in discussions/<id>.
type Snapshot struct {
	ID   string       // of the task
	Task council.Task // as it was claimed
	// Claim is nil if a crash has come between the move of the task and the claim.
	Claim *council.Claim
	// Cycles after the first, in order.
	Cycles []council.Cycle
	// Rounds in the order of rounds and attempts, of all cycles.
	Rounds []Attempt
	// Turns outside rounds by phase key, see TurnKey.
	Turns map[string]council.Turn
	// Arbitrations, Rulings, Announcements, Approvals and Noted by cycle.
	Arbitrations  map[int]council.Arbitration
	Rulings       map[int]council.Ruling    // of owners
	Announcements map[int]council.Announced // of decisions
	Approvals     map[int]council.Approval  // of executions
	Noted         map[int]council.Noted     // in the memories of members
	// Starts, Results and Reviews of executions by StepKey.
	Starts  map[StepKey]council.Started
	Results map[StepKey]council.Result // of attempts
	Reviews map[StepKey]council.Review // of results
	// Retries say that an owner has had an attempt tried again that failed.
	Retries map[StepKey]council.Approval
	// Outcome and Superseded are nil if there is none.
	Outcome    *council.Outcome
	Superseded *council.Superseded // by a later decision
	Solo       *council.Ballot     // of the arbiter alone; nil if it was not asked
	// Imported is the decision of the first cycle that another program has made, by its rules; nil if there is none.
	Imported *council.Decision
	Comments []council.Comment // oldest first
	// Status and Decision are the derived files as they are; nil if there are none.
	Status   *council.Status
	Decision *council.Decision // decisions/<id>.json
	// Problems are files that could not be read.
	Problems []string
}

// StepKey names an attempt at an execution.
type StepKey struct {
	Cycle, Attempt int // from 1
}

// Attempt at a round.
type Attempt struct {
	Round, Attempt int             // from 1
	Opened         *council.Opened // nil before the attempt began
	Seal           *council.Seal   // nil as long as it is open
	// Ballots by member, also those that do not count.
	Ballots map[string]Ballot
	Turns   map[string]council.Turn // by member
}

// Ballot is a ballot as it is on disk.
type Ballot struct {
	council.Ballot
	// SHA256 of the bytes.
	SHA256 string
	// Problem says why it does not count; empty if it does.
	Problem string
}

// World is what does not belong to one task.
type World struct {
	Now      time.Time        // in UTC
	Settings council.Settings // of the council
	// Running are the keys of the actions that run now.
	Running map[string]bool
	// Paused are the members who are paused, with the end.
	Paused map[string]time.Time
}

// Cycle returns the number of the current cycle, from 1.
func (s *Snapshot) Cycle() int { return 1 + len(s.Cycles) }

// bounds returns the first and the last round of a cycle.
func (s *Snapshot) bounds(cycle int) (first, last int) {
	if cycle == 1 {
		return 1, s.Claim.MaxRounds
	}
	c := s.Cycles[cycle-2]
	return c.FirstRound, c.FirstRound
}

// attempts returns the attempts at a round, oldest first.
func (s *Snapshot) attempts(round int) []Attempt {
	var all []Attempt
	for _, a := range s.Rounds {
		if a.Round == round {
			all = append(all, a)
		}
	}
	return all
}

// LastRound returns the highest round that was opened, 0 if none was.
func (s *Snapshot) LastRound() int {
	last := 0
	for _, a := range s.Rounds {
		last = max(last, a.Round)
	}
	return last
}
