// Package counciltest has members for tests, who answer by a script, and settings of a council of them.
package counciltest

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"kioku/council"
	"kioku/council/member"
)

// Key names a turn of a script. Zero fields match everything.
type Key struct {
	Member, Phase  string // of the question
	Round, Attempt int    // of the question
}

// Script answers the questions to members. Its methods may be called concurrently.
type Script struct {
	// Votes are the votes of members in opinions; see Vote. A member without one approves.
	Votes map[Key]string
	// Answer answers in the place of the script if it returns true.
	Answer func(ctx context.Context, q member.Question) (member.Reply, error, bool)

	mu sync.Mutex
	// asked are the questions so far; mu protects it.
	asked []member.Question
}

// Silent is a vote: the member abstains, kind error. Hang never answers before its context ends.
const (
	Silent = "silent"
	Hang   = "hang"
)

// Asked returns the questions so far.
func (s *Script) Asked() []member.Question {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]member.Question(nil), s.asked...)
}

// Count returns how many questions of a phase were asked; all for "".
func (s *Script) Count(phase string) int {
	n := 0
	for _, q := range s.Asked() {
		if phase == "" || q.Phase == phase {
			n++
		}
	}
	return n
}

// Vote returns the vote of a turn: of the key that matches with the most fields.
func (s *Script) Vote(q member.Question) string {
	best, vote := -1, council.VoteApprove
	for k, v := range s.Votes {
		n, ok := k.match(q)
		if ok && n > best {
			best, vote = n, v
		}
	}
	return vote
}

// match returns how many fields of a key match, and whether none does not.
func (k Key) match(q member.Question) (n int, ok bool) {
	for _, f := range []struct{ set, same bool }{
		{k.Member != "", k.Member == q.Member}, {k.Phase != "", k.Phase == q.Phase}, {k.Round != 0, k.Round == q.Round}, {k.Attempt != 0, k.Attempt == q.Attempt},
	} {
		if f.set && !f.same {
			return 0, false
		}
		if f.set {
			n++
		}
	}
	return n, true
}

// Ask implements member.Asker.
func (s *Script) Ask(ctx context.Context, q member.Question) (member.Reply, error) {
	s.mu.Lock()
	s.asked = append(s.asked, q)
	s.mu.Unlock()
	if q.Counting != nil {
		if err := q.Counting(); err != nil {
			return member.Reply{}, &member.Abstention{Kind: council.AbstainError, Reason: err.Error(), Err: err}
		}
	}
	if s.Answer != nil {
		if r, err, ok := s.Answer(ctx, q); ok {
			r.Calls = max(r.Calls, 1)
			return r, err
		}
	}
	vote := s.Vote(q)
	switch vote {
	case Silent:
		return member.Reply{Calls: 1}, &member.Abstention{Kind: council.AbstainError, Reason: "says nothing"}
	case Hang:
		<-ctx.Done()
		if ctx.Err() == context.DeadlineExceeded {
			return member.Reply{Calls: 1}, &member.Abstention{Kind: council.AbstainTimeout, Reason: "has not answered in time", Err: ctx.Err()}
		}
		return member.Reply{}, ctx.Err()
	}
	return reply(q, vote), nil
}

// reply returns the answer to a question with that vote.
func reply(q member.Question, vote string) member.Reply {
	u := council.Usage{Calls: 1, TokensIn: 100, TokensOut: 20}
	r := member.Reply{Model: "script", Family: "script", Calls: 1, Usage: u}
	yes := vote != council.VoteReject
	switch q.Phase {
	case member.PhaseOpinion, member.PhaseSolo:
		r.Ballot = &council.Ballot{
			Node: q.Member, Round: q.Round, Attempt: q.Attempt, Vote: vote, Opinion: fmt.Sprintf("%s says %s in round %d", q.Member, vote, q.Round),
			ProposedApproach: "the way of " + q.Member, Concerns: []string{"a concern of " + q.Member}, Timestamp: q.Now, Model: "script", Usage: u,
		}
	case member.PhaseArbitration:
		decision := council.Approved
		if !yes {
			decision = council.Rejected
		}
		r.Arbitration = &council.Arbitration{Decision: decision, FinalApproach: "the way of the arbiter", Reasoning: "weighs both", DecidedBy: q.Member, Timestamp: q.Now, Usage: u}
	case member.PhaseAnnouncement:
		r.Announcement = &council.Announced{Announcement: council.Announcement{Summary: "What was decided.", KeyPoints: []string{"one point"}}, FinalApproach: "the way of all"}
	case member.PhaseAnswer:
		r.Answer = "the answer"
	case member.PhaseReview:
		r.Review = &council.Review{Passed: yes, Notes: "has looked"}
		if !yes {
			r.Review.Problems, r.Review.Notes = []string{"a problem"}, "a problem\nhas looked"
		}
	case member.PhaseEvaluation:
		r.Evaluation = &council.Evaluated{OverallScore: 0.8, SuggestedParams: council.Params{}, Reasoning: "does well",
			Scores: council.Scores{DecisionQuality: 0.8, Collaboration: 0.8, Effectiveness: 0.8, ParameterBalance: 0.8}}
	case member.PhaseSuggestion, member.PhaseAction:
		r.Verdict = &council.Verdict{Accept: yes, Reason: "has looked"}
	}
	return r
}

// Settings returns those of a council of n members with workspaces below dir: ant, bee and cat, who is the arbiter, and others. Rounds and
// turns have short names so that tests read well.
func Settings(dir string, n int) council.Settings {
	names := []string{"ant", "bee", "cat", "doe", "eel", "fox", "gnu", "hen", "ibis"}
	s := council.Settings{Agent: "council", Evaluation: council.Evaluation{Every: "off"}}
	for i, name := range names[:n] {
		m := council.Member{Name: name, Workspace: filepath.Join(dir, "members", name), Model: "script"}
		if i == 2 {
			m.Roles = []string{council.RoleArbiter}
		}
		s.Members = append(s.Members, m)
	}
	return s
}

// Dir returns a new folder, in memory if the machine has such a file system: what councils promise is about names and order, not about the
// disk, whose flushes take most of the time of a test. It is removed at the end of the test.
func Dir(t testing.TB) string {
	t.Helper()
	if dir, err := os.MkdirTemp("/dev/shm", "kioku-council-"); err == nil {
		t.Cleanup(func() { os.RemoveAll(dir) })
		return dir
	}
	return t.TempDir()
}

// Clock is a clock that stands still until it is moved.
type Clock struct {
	mu  sync.Mutex
	now time.Time
}

// NewClock returns a clock that shows a morning in 2026.
func NewClock() *Clock { return &Clock{now: time.Date(2026, 11, 23, 9, 0, 0, 0, time.UTC)} }

// Now returns the time.
func (c *Clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

// Add moves the clock.
func (c *Clock) Add(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}
