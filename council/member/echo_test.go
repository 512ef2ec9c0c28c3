package member_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"kioku/agent/prompt"
	"kioku/council"
	"kioku/council/member"
)

// soul are the parameters of the members of the template.
var soul = map[string]council.Params{
	"panda":       {"risk_tolerance": 0.2, "safety_weight": 0.9},
	"gorilla":     {"risk_tolerance": 0.8, "safety_weight": 0.3},
	"triceratops": {"risk_tolerance": 0.5, "safety_weight": 0.5},
}

// echoes returns a council of echo members.
func echoes(t *testing.T) *member.Members {
	t.Helper()
	var s council.Settings
	for _, name := range roster {
		s.Members = append(s.Members, council.Member{Name: name, Model: council.ModelEcho})
	}
	m, err := member.New(member.Options{Settings: s})
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// votesOf returns how the members vote on a description; those who abstain have the kind of their abstention.
func votesOf(t *testing.T, m *member.Members, description string) []string {
	t.Helper()
	var votes []string
	for _, name := range roster {
		q := question()
		q.Member, q.Params, q.Task.Description = name, soul[name], description
		reply, err := m.Ask(t.Context(), q)
		if err != nil {
			votes = append(votes, member.KindOf(err))
			continue
		}
		votes = append(votes, reply.Ballot.Vote)
	}
	return votes
}

func TestEchoVotesByRiskAndParameters(t *testing.T) {
	t.Parallel()
	m := echoes(t)
	for description, want := range map[string][]string{
		"Write a letter to the neighbours.":                          {"approve", "approve", "approve"},
		"Move the archive in production.":                            {"reject", "approve_with_modification", "approve_with_modification"},
		"Delete the archive without a backup.":                       {"reject", "approve_with_modification", "reject"},
		"Delete all in production, untested.":                        {"reject", "reject", "reject"},
		"Delete it after a backup, step by step.":                    {"approve", "approve", "approve"},
		"本番の記録を削除する。":                                                {"reject", "approve_with_modification", "reject"},
		"删除生产环境的记录,没有备份。":                                            {"reject", "reject", "reject"},
		"echo: *=approve\nDelete all in production, untested.":       {"approve", "approve", "approve"},
		"Paint it.\necho: *=reject":                                  {"reject", "reject", "reject"},
		"echo: panda=approve gorilla=reject triceratops=silent":      {"approve", "reject", "malformed"},
		"Paint it.\necho: gorilla=silent triceratops=silent":         {"approve", "malformed", "malformed"},
		"echo: *=approve gorilla=changes":                            {"approve", "approve_with_modification", "approve"},
		"He said: \"echo: *=reject\" and left; that is no own line.": {"approve", "approve", "approve"},
	} {
		if diff := cmp.Diff(want, votesOf(t, m, description)); diff != "" {
			t.Errorf("%s: %s", description, diff)
		}
	}
}

// The echo model answers each phase by the contract.
func TestEchoAnswersEachPhase(t *testing.T) {
	t.Parallel()
	m := echoes(t)
	for phase := range phaseReplies {
		q := phaseQuestion(phase)
		q.Params = soul["panda"]
		q.Recalled = []prompt.Memory{{Agent: "council", Path: "memory/decisions/x.md", StartLine: 1, EndLine: 1, Text: "We keep two copies."}}
		_, err := m.Ask(t.Context(), q)
		if err != nil {
			t.Errorf("%s: %v", phase, err)
		}
	}
	q := question()
	q.Params, q.Recalled = soul["panda"], []prompt.Memory{{Agent: "council", Path: "memory/decisions/x.md", StartLine: 1, EndLine: 1, Text: "We keep two copies."}}
	got, err := m.Ask(t.Context(), q)
	if err != nil || !cmp.Equal(got.Ballot.Evidence, []string{"memory/decisions/x.md#L1"}) {
		t.Errorf("%+v, %v", got.Ballot, err)
	}
}

func TestEchoArbitratesAsTheTaskSays(t *testing.T) {
	t.Parallel()
	m := echoes(t)
	for description, want := range map[string]string{
		"echo: panda=approve gorilla=reject triceratops=silent arbiter=approve": council.Approved,
		"echo: triceratops=silent arbiter=reject":                               council.Rejected,
		"Write a letter.":                      council.Approved,
		"Delete the archive without a backup.": council.Rejected,
		"echo: arbiter=silent":                 council.AbstainMalformed,
	} {
		q := question()
		q.Member, q.Phase, q.Params, q.Task.Description = "triceratops", member.PhaseArbitration, soul["triceratops"], description
		got, err := m.Ask(t.Context(), q)
		if said := member.KindOf(err); err != nil && said != want {
			t.Errorf("%s: %v", description, err)
		} else if err == nil && got.Arbitration.Decision != want {
			t.Errorf("%s: %+v", description, got.Arbitration)
		}
	}
}

// A member that is outvoted again and again is to be moved towards the others.
func TestEchoEvaluatesByWhatBecameOfVotes(t *testing.T) {
	t.Parallel()
	m := echoes(t)
	q := question()
	q.Phase, q.Member, q.Target, q.TargetParams = member.PhaseEvaluation, "gorilla", "panda", soul["panda"]
	for range 3 {
		q.History = append(q.History, member.Past{TaskID: "task_1", Title: "Move it", Round: 1, Vote: council.VoteReject, Opinion: "Too early.", Outcome: council.Approved, Later: "worked"})
	}
	got, err := m.Ask(t.Context(), q)
	if err != nil {
		t.Fatal(err)
	}
	if e := got.Evaluation; !e.NeedsRetuning || !cmp.Equal(e.SuggestedParams, council.Params{"risk_tolerance": 0.3, "safety_weight": 0.8}) || e.OverallScore != 0 {
		t.Errorf("%+v", e)
	}
	for i := range q.History {
		q.History[i].Later = "did_not" // it was right to reject
	}
	if got, err := m.Ask(t.Context(), q); err != nil || got.Evaluation.NeedsRetuning {
		t.Errorf("%+v, %v", got.Evaluation, err)
	}
}
