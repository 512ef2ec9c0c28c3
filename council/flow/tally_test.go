package flow_test

import (
	"testing"

	"kioku/council"
	"kioku/council/flow"
)

// outcomes of a seat: it agrees, agrees with changes, is against, or abstains.
var seats = []string{council.VoteApprove, council.VoteWithChanges, council.VoteReject, ""}

// each calls do with all ways in which n seats can vote.
func each(n int, do func(votes []string)) {
	votes := make([]string, n)
	var fill func(i int)
	fill = func(i int) {
		if i == n {
			do(votes)
			return
		}
		for _, v := range seats {
			votes[i] = v
			fill(i + 1)
		}
	}
	fill(0)
}

// sealOf returns the seal of votes.
func sealOf(votes []string) council.Seal {
	s := council.Seal{Need: council.Need(len(votes)), Families: 1, Abstentions: map[string]string{}}
	for i, v := range votes {
		name := string(rune('a' + i))
		s.Roster = append(s.Roster, name)
		if v == "" {
			s.Abstentions[name] = council.AbstainError
		} else {
			s.Ballots = append(s.Ballots, council.SealedVote{Member: name, Vote: v})
		}
	}
	return s
}

// table is written by hand, apart from Tally: what is needed of n seats, and the counts of all outcomes.
var table = map[int]struct {
	need                                      int
	approved, rejected, noMajority, inquorate int
}{
	2: {need: 2, approved: 4, rejected: 1, noMajority: 4, inquorate: 7},
	3: {need: 2, approved: 32, rejected: 10, noMajority: 12, inquorate: 10},
	4: {need: 3, approved: 4*8*2 + 16, rejected: 4*3 + 1, noMajority: 96, inquorate: 1 + 4*3 + 6*9},
	5: {need: 4, approved: 5*16*2 + 32, rejected: 5*3 + 1, noMajority: 440, inquorate: 1 + 5*3 + 10*9 + 10*27},
}

// Check 3: all outcomes of a round of 2 to 5.
func TestTallyCountsEveryOutcome(t *testing.T) {
	t.Parallel()
	for n, want := range table {
		got := map[flow.Outcome]int{}
		each(n, func(votes []string) {
			yes, no := 0, 0
			for _, v := range votes {
				if v == council.VoteApprove || v == council.VoteWithChanges {
					yes++
				} else if v == council.VoteReject {
					no++
				}
			}
			expected := flow.Open
			if yes+no < want.need {
				expected = flow.Inquorate
			} else if yes >= want.need {
				expected = flow.Approved
			} else if no >= want.need {
				expected = flow.Rejected
			}
			out := flow.Tally(sealOf(votes), council.PolicyMajority, 1)
			if out != expected {
				t.Errorf("%v: %s, want %s", votes, out, expected)
			}
			got[out]++
		})
		if got[flow.Approved] != want.approved || got[flow.Rejected] != want.rejected || got[flow.Open] != want.noMajority || got[flow.Inquorate] != want.inquorate {
			t.Errorf("%d seats: %v, want %+v", n, got, want)
		}
	}
}

// Invariant I5: an abstention in the place of any vote never leads to an approval that there was not, nor to a rejection.
func TestTallyAbstentionMakesNothingEasier(t *testing.T) {
	t.Parallel()
	for n := 3; n <= 5; n++ {
		each(n, func(votes []string) {
			for _, policy := range []string{council.PolicyMajority, council.PolicyChair} {
				before := flow.Tally(sealOf(votes), policy, 1)
				for i, v := range votes {
					votes[i] = ""
					after := flow.Tally(sealOf(votes), policy, 1)
					votes[i] = v
					if after != before && (after == flow.Approved || after == flow.Rejected) {
						t.Fatalf("%s %v without seat %d: %s becomes %s", policy, votes, i, before, after)
					}
				}
			}
		})
	}
}

func TestTallyOfTheChairDecidesOnlyAUnanimousRejection(t *testing.T) {
	t.Parallel()
	each(3, func(votes []string) {
		out := flow.Tally(sealOf(votes), council.PolicyChair, 1)
		all := votes[0] == council.VoteReject && votes[1] == votes[0] && votes[2] == votes[0]
		if out == flow.Approved || (out == flow.Rejected) != all {
			t.Errorf("%v: %s", votes, out)
		}
	})
}

func TestTallyNeedsFamilies(t *testing.T) {
	t.Parallel()
	s := sealOf([]string{council.VoteApprove, council.VoteApprove, council.VoteApprove})
	if out := flow.Tally(s, council.PolicyMajority, 2); out != flow.Inquorate {
		t.Errorf("one family: %s", out)
	}
	s.Families = 2
	if out := flow.Tally(s, council.PolicyMajority, 2); out != flow.Approved {
		t.Errorf("two families: %s", out)
	}
}
