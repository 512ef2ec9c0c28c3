package flow

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"kioku/council"
)

// maxDissent is the maximum number of characters of a dissent.
const maxDissent = 2_000

// Record returns the record of the decision of the current cycle, decisions/<id>.json, nil if there is none. It follows from the other
// files of the task.
func Record(s *Snapshot, pos Position) *council.Decision {
	if pos.Decision == "" {
		return nil
	}
	if s.Imported != nil && pos.Cycle == 1 {
		return imported(s, pos)
	}
	d := &council.Decision{
		TaskID: s.ID, Decision: pos.Decision, Status: pos.Status, FinalRound: pos.Round, DecidedBy: pos.DecidedBy, Cycle: pos.Cycle,
		Supersedes: s.Task.Supersedes, Solo: s.Solo, Usage: usage(s), Votes: votes(s),
	}
	if d.Status == council.StatusDecided { // the next status, which the record itself brings about
		d.Status = council.StatusPendingAnnouncement
	}
	last := s.last(pos.Cycle)
	d.DecidedAt = decidedAt(s, pos, last)
	d.FinalApproach, d.Reasoning = approach(s, pos, last)
	if last != nil {
		d.Abstentions, d.Independence = last.Seal.Abstentions, last.Seal.Families
		d.Dissent = dissent(s, *last, pos.Decision)
	}
	if a, ok := s.Announcements[pos.Cycle]; ok {
		d.Announcement = &a.Announcement
		if a.FinalApproach != "" {
			d.FinalApproach = a.FinalApproach
		}
	}
	if s.Outcome != nil {
		d.Outcome, d.OutcomeNote = s.Outcome.Outcome, s.Outcome.Note
	}
	if s.Superseded != nil {
		d.SupersededBy = s.Superseded.By
	}
	for k := 1; k <= council.MaxAttempts; k++ { // the last one counts
		key := StepKey{Cycle: pos.Cycle, Attempt: k}
		d.Executor = cmp.Or(s.Results[key].Executor, s.Starts[key].Executor, d.Executor)
	}
	d.Degraded = degraded(s, pos, last)
	d.MemoryPath = fmt.Sprintf("%s/%s-%s.md", council.DecisionNotes, d.DecidedAt.UTC().Format(time.DateOnly), s.ID)
	if len(s.Cycles) > 0 && s.firstPath() != "" {
		d.MemoryPath = s.firstPath()
	}
	return d
}

// imported returns the decision of another program, with what was learnt since.
func imported(s *Snapshot, pos Position) *council.Decision {
	d := *s.Imported
	d.Status = pos.Status
	if s.Outcome != nil {
		d.Outcome, d.OutcomeNote = s.Outcome.Outcome, s.Outcome.Note
	}
	if s.Superseded != nil {
		d.SupersededBy = s.Superseded.By
	}
	return &d
}

// firstPath is where the first decision of the task was written: further cycles write to the same file.
func (s *Snapshot) firstPath() string {
	for _, c := range s.Cycles {
		if c.Previous != nil && c.Previous.MemoryPath != "" {
			return c.Previous.MemoryPath
		}
	}
	return ""
}

// last returns the last sealed attempt of a cycle, nil if there is none.
func (s *Snapshot) last(cycle int) *Attempt {
	first, end := s.bounds(cycle)
	var last *Attempt
	for i, a := range s.Rounds {
		if a.Seal != nil && a.Round >= first && a.Round <= end {
			last = &s.Rounds[i]
		}
	}
	return last
}

// decidedAt is the time of the file that has decided.
func decidedAt(s *Snapshot, pos Position, last *Attempt) time.Time {
	switch {
	case pos.DecidedBy == council.ByOwner:
		return s.Rulings[pos.Cycle].CreatedAt
	case pos.DecidedBy == council.ByArbiter:
		return s.Arbitrations[pos.Cycle].Timestamp
	case last != nil:
		return last.Seal.SealedAt
	}
	return time.Time{}
}

// approach returns the approach in the words of who has decided, and why.
func approach(s *Snapshot, pos Position, last *Attempt) (text, reason string) {
	switch pos.DecidedBy {
	case council.ByOwner:
		return s.Rulings[pos.Cycle].Approach, s.Rulings[pos.Cycle].Reason
	case council.ByArbiter:
		return s.Arbitrations[pos.Cycle].FinalApproach, s.Arbitrations[pos.Cycle].Reasoning
	}
	if last == nil {
		return "", ""
	}
	var lines []string
	for _, v := range last.Seal.Ballots {
		b := s.sealed(last.Round, v)
		said := b.ProposedApproach
		if pos.Decision == council.Rejected {
			said = b.Opinion
		}
		if Agrees(v.Vote) == (pos.Decision == council.Approved) && strings.TrimSpace(said) != "" {
			lines = append(lines, v.Member+": "+strings.TrimSpace(said))
		}
	}
	return strings.Join(lines, "\n\n"), ""
}

// Agrees reports whether a vote is for a task.
func Agrees(vote string) bool { return vote == council.VoteApprove || vote == council.VoteWithChanges }

// sealed returns the ballot of a sealed vote: as it was sealed, or for a seal of another program the file with that hash, or else only
// the vote.
func (s *Snapshot) sealed(round int, v council.SealedVote) council.Ballot {
	if v.Ballot != nil {
		return *v.Ballot
	}
	for _, a := range s.attempts(round) {
		if b, ok := a.Ballots[v.Member]; ok && b.SHA256 == v.SHA256 {
			return b.Ballot
		}
	}
	return council.Ballot{Node: v.Member, Round: round, Vote: v.Vote}
}

// Sealed returns the ballots of a sealed attempt as they were sealed, and the members whose file is not what was sealed.
func (s *Snapshot) Sealed(a Attempt) (ballots []council.Ballot, tampered []string) {
	if a.Seal == nil {
		return nil, nil
	}
	for _, v := range a.Seal.Ballots {
		ballots = append(ballots, s.sealed(a.Round, v))
		intact := false
		for _, given := range s.attempts(a.Round) {
			b, ok := given.Ballots[v.Member]
			intact = intact || ok && b.SHA256 == v.SHA256
		}
		if !intact {
			tampered = append(tampered, v.Member)
		}
	}
	return ballots, tampered
}

// dissent returns what the minority has said.
func dissent(s *Snapshot, last Attempt, decision string) []council.Dissent {
	var all []council.Dissent
	for _, v := range last.Seal.Ballots {
		if Agrees(v.Vote) == (decision == council.Approved) {
			continue
		}
		b := s.sealed(last.Round, v)
		said := []rune(b.Opinion)
		all = append(all, council.Dissent{Member: v.Member, Vote: v.Vote, Opinion: string(said[:min(len(said), maxDissent)]), Concerns: b.Concerns})
	}
	return all
}

// votes returns the votes of all rounds, oldest first.
func votes(s *Snapshot) []council.RoundVotes {
	all := []council.RoundVotes{}
	for _, a := range s.Rounds {
		if a.Seal == nil {
			continue
		}
		v := council.RoundVotes{Round: a.Round, Attempt: a.Attempt, Votes: map[string]string{}}
		for _, b := range a.Seal.Ballots {
			v.Votes[b.Member] = b.Vote
		}
		all = append(all, v)
	}
	return all
}

// degraded says what a decision had to do without.
func degraded(s *Snapshot, pos Position, last *Attempt) []string {
	var all []string
	switch pos.DecidedBy {
	case council.ByArbiter:
		all = append(all, arbitrated(s, pos, last))
	case council.ByOwner:
		all = append(all, "An owner has decided, not the council.")
	}
	if last == nil {
		return all
	}
	voted := len(last.Seal.Ballots)
	for _, member := range slices.Sorted(maps.Keys(last.Seal.Abstentions)) {
		all = append(all, fmt.Sprintf("%s has abstained (%s).", member, last.Seal.Abstentions[member]))
	}
	if voted < len(last.Seal.Roster) {
		all = append(all, fmt.Sprintf("%d of %d members have voted in round %d.", voted, len(last.Seal.Roster), last.Round))
	}
	if last.Attempt > 1 {
		all = append(all, fmt.Sprintf("Round %d was repeated, too few had voted.", last.Round))
	}
	for _, v := range last.Seal.Ballots {
		if s.sealed(last.Round, v).Recall == "degraded" {
			all = append(all, v.Member+" could not search all memories.")
		}
	}
	return all
}

// arbitrated says why the arbiter has decided.
func arbitrated(s *Snapshot, pos Position, last *Attempt) string {
	arbiter := s.Arbitrations[pos.Cycle].DecidedBy
	if s.Claim.Policy != council.PolicyChair || last == nil {
		return fmt.Sprintf("No majority after round %d: %s has decided alone, as arbiter.", pos.Round, arbiter)
	}
	agree, against := count(*last.Seal)
	return fmt.Sprintf("%s has decided alone, as policy chair has it; the votes of round %d were %d for and %d against.", arbiter, pos.Round, agree, against)
}

// usage adds up what calls of models have cost, by phase and member.
func usage(s *Snapshot) map[string]council.Usage {
	all := map[string]council.Usage{}
	add := func(phase, member string, u council.Usage) {
		if u != (council.Usage{}) {
			all[phase+"/"+member] = all[phase+"/"+member].Plus(u)
		}
	}
	for _, a := range s.Rounds {
		if a.Seal == nil {
			continue
		}
		for _, v := range a.Seal.Ballots {
			if v.Attempt == a.Attempt {
				add("discussion", v.Member, s.sealed(a.Round, v).Usage)
			}
		}
		for member, t := range a.Turns {
			add("discussion", member, t.Usage)
		}
	}
	for _, t := range s.Turns {
		add(t.Phase, t.Member, t.Usage)
	}
	for _, a := range s.Arbitrations {
		add("arbitration", a.DecidedBy, a.Usage)
	}
	for _, a := range s.Announcements {
		add("announcement", a.AnnouncedBy, a.Usage)
	}
	for _, r := range s.Reviews {
		add("review", r.Reviewer, r.Usage)
	}
	return all
}
