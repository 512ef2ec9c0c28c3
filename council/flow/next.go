package flow

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"kioku/council"
)

// Limits of a turn: how many calls of a model it makes, and how many of its attempts may fail, across crashes too.
const (
	MaxCalls    = 2
	MaxFailures = 2
)

// ArchiveAfter is how long a finished task stays among the others.
const ArchiveAfter = 7 * 24 * time.Hour

// backoff is the pause before an inquorate round is repeated, by the attempt that has failed.
var backoff = map[int]time.Duration{1: time.Minute, 2: 5 * time.Minute}

// plan is what comes next for a task.
type plan struct {
	s    *Snapshot
	w    World
	pos  Position
	acts []Action
}

// Next returns where a task is and what to do now, in this order. It is pure: the same arguments give the same answer, and once the
// actions are performed, others or none.
func Next(s *Snapshot, w World) (Position, []Action) {
	w.Settings = w.Settings.WithDefaults()
	p := &plan{s: s, w: w, pos: Position{Status: council.StatusDiscussing, Cycle: 1}}
	if s.Claim == nil {
		p.do(Action{Kind: Claim})
		return p.pos, p.acts
	}
	p.pos.Cycle = s.Cycle()
	if s.Imported != nil && p.pos.Cycle == 1 {
		p.pos.Round, p.pos.Status = s.LastRound(), s.Imported.Status
		p.pos.Decision, p.pos.DecidedBy = s.Imported.Decision, s.Imported.DecidedBy
		if !Final(p.pos.Status) { // somebody has to say what came of it
			p.execute()
		}
		p.derive()
		return p.pos, p.acts
	}
	if r, ok := s.Rulings[p.pos.Cycle]; ok {
		p.rule(r)
	} else {
		p.discuss()
	}
	if p.pos.Decision != "" {
		p.decided()
	}
	p.derive()
	return p.pos, p.acts
}

// Where returns where a task is.
func Where(s *Snapshot, w World) Position {
	pos, _ := Next(s, w)
	return pos
}

// do adds an action of the current cycle unless it runs already.
func (p *plan) do(a Action) {
	if !p.runs(&a) {
		p.acts = append(p.acts, a)
	}
}

// runs makes an action one of the current cycle, and reports whether it runs already.
func (p *plan) runs(a *Action) bool {
	a.Task, a.Cycle = p.s.ID, p.pos.Cycle
	return p.w.Running[a.Key()]
}

// wake has the task looked at again at that time.
func (p *plan) wake(at time.Time) {
	if p.pos.Wake.IsZero() || at.Before(p.pos.Wake) {
		p.pos.Wake = at
	}
}

// rule follows what an owner has decided.
func (p *plan) rule(r council.Ruling) {
	p.pos.Round = p.s.LastRound()
	if r.Decision == council.StatusCancelled {
		p.pos.Status, p.pos.Reason = council.StatusCancelled, r.Reason
		return
	}
	p.pos.Decision, p.pos.DecidedBy = r.Decision, council.ByOwner
}

// discuss goes through the rounds of the cycle, up to the first that is not sealed or decides.
func (p *plan) discuss() {
	first, last := p.s.bounds(p.pos.Cycle)
	for round := first; round <= last; round++ {
		p.pos.Round, p.pos.Attempt = round, 1
		attempts := p.s.attempts(round)
		if len(attempts) == 0 {
			p.open(round, 1)
			return
		}
		a := attempts[len(attempts)-1]
		p.pos.Attempt = a.Attempt
		if a.Seal == nil {
			p.vote(a, attempts)
			return
		}
		early := p.pos.Cycle == 1 && (round < p.s.Claim.MinRounds || round == 1 && round < last && p.s.Claim.Discuss && !unanimous(*a.Seal))
		switch out := Tally(*a.Seal, p.s.Claim.Policy, p.w.Settings.MinFamilies); {
		case out == Inquorate:
			p.repeat(a)
			return
		case out != Open && !early:
			p.pos.Decision, p.pos.DecidedBy = string(out), council.ByCouncil
			return
		}
	}
	p.arbitrate()
}

// open begins an attempt at a round.
func (p *plan) open(round, attempt int) {
	p.do(Action{Kind: OpenRound, Round: round, Attempt: attempt})
}

// repeat has an inquorate round repeated after a pause, at most twice. Nobody is left to ask if all have voted and are of too few families.
func (p *plan) repeat(a Attempt) {
	need := p.w.Settings.MinFamilies
	if voted := len(a.Seal.Ballots); voted == len(a.Seal.Roster) || a.Attempt > council.MaxExtraTries && voted >= a.Seal.Need {
		p.stall(fmt.Sprintf("in round %d all votes are of %d families of models, minFamilies of council.yaml needs %d; give a member a model of another family", a.Round, a.Seal.Families, need))
		return
	}
	if a.Attempt > council.MaxExtraTries {
		p.stall(fmt.Sprintf("in round %d only %d of %d members have voted, %d must", a.Round, len(a.Seal.Ballots), len(a.Seal.Roster), a.Seal.Need))
		return
	}
	if due := a.Seal.SealedAt.Add(backoff[a.Attempt]); p.w.Now.Before(due) {
		var absent []string
		for _, member := range slices.Sorted(maps.Keys(a.Seal.Abstentions)) {
			absent = append(absent, member+" "+a.Seal.Abstentions[member])
		}
		p.pos.Reason = fmt.Sprintf("round %d is tried again at %s: %d of %d members have voted (%s)", a.Round, due.UTC().Format("15:04:05 UTC"),
			len(a.Seal.Ballots), len(a.Seal.Roster), strings.Join(absent, ", "))
		p.wake(due)
		return
	}
	p.open(a.Round, a.Attempt+1)
}

// stall leaves the task to a person.
func (p *plan) stall(reason string) {
	p.pos.Status, p.pos.Reason, p.pos.NeedsOwner = council.StatusStalled, reason, NeedsRuling
}

// vote asks the members who have not voted, and seals the round once none is missing.
func (p *plan) vote(a Attempt, attempts []Attempt) {
	if a.Opened == nil { // a crash before _open.json
		p.open(a.Round, a.Attempt)
		return
	}
	missing := false
	for _, member := range p.s.Claim.Roster {
		if Voted(a, attempts, member, p.w.Settings.AcceptForeignBallots) || a.Turns[member].Abstained != "" {
			continue
		}
		missing = true
		p.turn(a, member)
	}
	if !missing {
		p.do(Action{Kind: SealRound, Round: a.Round, Attempt: a.Attempt})
		return
	}
	p.wake(a.Opened.Deadline)
}

// turn asks a member, or records why it abstains.
func (p *plan) turn(a Attempt, member string) {
	act := Action{Kind: Abstain, Round: a.Round, Attempt: a.Attempt, Member: member}
	ask := Action{Kind: AskBallot, Round: a.Round, Attempt: a.Attempt, Member: member, Deadline: a.Opened.Deadline}
	if end := p.w.Now.Add(p.w.Settings.Timeouts.Turn); end.Before(ask.Deadline) {
		ask.Deadline = end
	}
	running := p.runs(&ask)
	b, onDisk := a.Ballots[member]
	t := a.Turns[member]
	paused, isPaused := p.w.Paused[member]
	_, gone := p.w.Settings.Member(member)
	switch {
	case !p.w.Now.Before(a.Opened.Deadline):
		act.Abstention, act.Reason = council.AbstainTimeout, "gave no ballot before the end of the round"
	case running:
		return
	case onDisk && b.Problem != "":
		act.Abstention, act.Reason = council.AbstainMalformed, b.Problem
	case onDisk && b.SHA256 != t.BallotSHA256:
		act.Abstention, act.Reason = council.AbstainError, "its ballot was put there by another program, which acceptForeignBallots does not allow"
	case gone != nil:
		act.Abstention, act.Reason = council.AbstainError, "is no longer a member"
	case isPaused && p.w.Now.Before(paused):
		act.Abstention, act.Reason = council.AbstainPaused, "is paused until "+paused.UTC().Format(time.RFC3339)
	case spent(t):
		act.Abstention, act.Reason = council.AbstainError, "was interrupted after its last call of a model"
	default:
		p.do(ask)
		return
	}
	p.do(act)
}

// spent reports whether a turn may not be tried again.
func spent(t council.Turn) bool { return t.Calls >= MaxCalls || t.Failures >= MaxFailures }

// Voted reports whether a member has a ballot that counts in an attempt: its own, or one that an earlier attempt at the round has sealed.
func Voted(a Attempt, attempts []Attempt, member string, foreign bool) bool {
	_, sealed := carried(a, attempts, member)
	return sealed || counts(a, member, foreign)
}

// counts reports whether the ballot that a member has given in an attempt counts.
func counts(a Attempt, member string, foreign bool) bool {
	b, ok := a.Ballots[member]
	t := a.Turns[member]
	return ok && b.Problem == "" && t.Abstained == "" && (foreign || b.SHA256 == t.BallotSHA256)
}

// carried returns the vote of a member that an earlier attempt at the same round has sealed.
func carried(a Attempt, attempts []Attempt, member string) (council.SealedVote, bool) {
	for i := len(attempts) - 1; i >= 0; i-- {
		if attempts[i].Attempt >= a.Attempt || attempts[i].Seal == nil {
			continue
		}
		for _, b := range attempts[i].Seal.Ballots {
			if b.Member == member {
				return b, true
			}
		}
	}
	return council.SealedVote{}, false
}

// Seal returns the seal of the latest attempt at a round: the ballots that count, by hash, and why the other members abstain. family
// returns the model family of a member.
func Seal(s *Snapshot, round int, w World, family func(member string) string) council.Seal {
	attempts := s.attempts(round)
	a := attempts[len(attempts)-1]
	seal := council.Seal{Round: round, Attempt: a.Attempt, Roster: s.Claim.Roster, Need: s.Claim.Need, SealedAt: w.Now, Ballots: []council.SealedVote{}, Abstentions: map[string]string{}}
	families := map[string]bool{}
	for _, member := range s.Claim.Roster {
		if v, ok := carried(a, attempts, member); ok {
			seal.Ballots = append(seal.Ballots, v)
		} else if counts(a, member, w.Settings.AcceptForeignBallots) {
			b := a.Ballots[member]
			seal.Ballots = append(seal.Ballots, council.SealedVote{Member: member, Vote: b.Vote, SHA256: b.SHA256, Attempt: a.Attempt, Ballot: &b.Ballot})
		} else {
			kind := a.Turns[member].Abstained
			if kind == "" {
				kind = council.AbstainTimeout
			}
			seal.Abstentions[member] = kind
			continue
		}
		families[family(member)] = true
	}
	seal.Families = len(families)
	return seal
}

// arbitrate leaves the decision to the arbiter, after the last round only.
func (p *plan) arbitrate() {
	p.pos.Status = council.StatusArbitrating
	if a, ok := p.s.Arbitrations[p.pos.Cycle]; ok {
		if a.Decision == council.Approved || a.Decision == council.Rejected {
			p.pos.Decision, p.pos.DecidedBy = a.Decision, council.ByArbiter
			return
		}
		p.stall("what the arbiter has decided cannot be read")
		return
	}
	act := Action{Kind: Arbitrate, Member: p.s.Claim.Arbiter}
	if act.Member == "" {
		p.stall("the rounds have decided nothing, and no member has the role arbiter")
		return
	}
	if !p.askOnce(act, p.w.Settings.Timeouts.Arbitration) {
		p.stall(fmt.Sprintf("the rounds have decided nothing, and the arbiter %s has not either", act.Member))
	}
}

// askOnce asks a member outside a round, and reports false if it has failed for good, is paused or is no member.
func (p *plan) askOnce(act Action, timeout time.Duration) bool {
	if p.runs(&act) {
		return true
	}
	_, gone := p.w.Settings.Member(act.Member)
	if gone != nil || spent(p.s.Turns[act.TurnKey()]) {
		return false
	}
	if until, ok := p.w.Paused[act.Member]; ok && p.w.Now.Before(until) {
		p.wake(until)
		return true
	}
	act.Deadline = p.w.Now.Add(timeout)
	p.do(act)
	return true
}
