package flow

import (
	"slices"

	"kioku/council"
)

// Outcome of a tally.
type Outcome string

// Outcomes of tallies.
const (
	// Approved and Rejected: enough members agree.
	Approved Outcome = council.Approved
	Rejected Outcome = council.Rejected
	// Open: enough members have voted, and the votes decide nothing: not enough agree, or the chair decides.
	Open Outcome = "open"
	// Inquorate: fewer members have voted than must agree.
	Inquorate Outcome = "inquorate"
)

// Tally counts the votes of a seal, and nothing else. need is of the roster, never of those who answered: an abstention makes either
// outcome harder. families is the number of model families that a quorum needs.
func Tally(seal council.Seal, policy string, families int) Outcome {
	agree, against := count(seal)
	switch {
	case agree+against < seal.Need, families > 1 && seal.Families < families:
		return Inquorate
	case policy == council.PolicyChair && against == len(seal.Roster):
		return Rejected
	case policy == council.PolicyChair:
		return Open
	case agree >= seal.Need:
		return Approved
	case against >= seal.Need:
		return Rejected
	}
	return Open
}

// unanimous reports whether all who have voted approve the task as it is.
func unanimous(seal council.Seal) bool {
	return !slices.ContainsFunc(seal.Ballots, func(b council.SealedVote) bool { return b.Vote != council.VoteApprove })
}

// count returns the number of votes for and against a task.
func count(seal council.Seal) (agree, against int) {
	for _, b := range seal.Ballots {
		switch b.Vote {
		case council.VoteApprove, council.VoteWithChanges:
			agree++
		case council.VoteReject:
			against++
		}
	}
	return agree, against
}
