package sidecar_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"kioku/agent/bootstrap"
	"kioku/agent/sidecar"
	"kioku/derive/vocab"
	"kioku/internal/testkit"
	"kioku/memory"
)

// deriving is a memory that knows units.
type deriving struct {
	*notes
	units []memory.Unit
	err   error
}

// Units implements memory.UnitLister.
func (d deriving) Units(_ context.Context, q memory.UnitQuery, _ string) (memory.UnitList, error) {
	if q.MaxSensitivity != memory.Private || q.Entity != vocab.EntityUID(vocab.User()) {
		return memory.UnitList{}, errors.New("asked for something else")
	}
	return memory.UnitList{Units: d.units}, d.err
}

// likes is a preference of the user.
func likes(object string, confidence float64) memory.Unit {
	return memory.Unit{Kind: memory.KindFact, State: memory.StateValidated, Confidence: confidence,
		Fact:     &memory.Fact{Subject: vocab.User(), Predicate: "likes", Object: object},
		Evidence: []memory.Evidence{{Path: "memory/2026-03-01.md", StartLine: 3, EndLine: 3, Quote: "I like " + object + "."}}}
}

// A private prompt has what was derived about the wishes of the user, best worth first; the standing lines of whole files are not repeated.
func TestAssembleHasDerivedPreferences(t *testing.T) {
	t.Parallel()
	home := likes("Porto", 1)
	home.Fact.Predicate = "lives_in"
	own := deriving{notes: remembering("The key is in vault 7."), units: []memory.Unit{likes("tea", 0.5), likes("soup", 0.9), home}}
	opt := options(t, own.notes)
	opt.Memories = func(string) memory.Service { return own }
	testkit.WriteFile(t, opt.Bootstrap.Workspace, "MEMORY.md", "- Always be brief.\n")
	s := start(t, opt)
	whole := s.Assemble(t.Context(), question).Prompt
	soup, tea := strings.Index(whole, "The user likes soup"), strings.Index(whole, "The user likes tea")
	if soup < 0 || tea < soup || strings.Contains(whole, "lives in Porto") || strings.Count(whole, "Always be brief.") != 1 {
		t.Errorf("soup at %d, tea at %d:\n%s", soup, tea, whole)
	}
	yes := true
	for name, turn := range map[string]sidecar.Turn{"group": {Group: &yes}, "minimal": {Mode: bootstrap.Minimal}, "no recall": {NoRecall: true}} {
		if whole := s.Assemble(t.Context(), turn).Whole(); strings.Contains(whole, "likes soup") {
			t.Errorf("%s:\n%s", name, whole)
		}
	}
	own.err = errors.New("database is locked")
	if whole := s.Assemble(t.Context(), question).Whole(); strings.Contains(whole, "likes soup") || !strings.Contains(whole, "vault 7") {
		t.Errorf("with an error:\n%s", whole)
	}
}

// Recall begins with standing lines if it is asked to.
func TestRecallBeginsWithStandingLines(t *testing.T) {
	t.Parallel()
	opt := options(t, remembering("The key is in vault 7."))
	testkit.WriteFile(t, opt.Bootstrap.Workspace, "USER.md", "# Rin\n\nI am vegetarian.\n")
	s := start(t, opt)
	turn := question
	if _, block := s.Recall(t.Context(), turn); strings.Contains(block, "vegetarian") {
		t.Errorf("unasked:\n%s", block)
	}
	turn.Standing = true
	out, block := s.Recall(t.Context(), turn)
	if !strings.HasPrefix(block, memory.StandingHeading) || !strings.Contains(block, "USER.md#L3") || len(out.Memories) != 2 || !strings.Contains(block, "vault 7") {
		t.Errorf("%d memories:\n%s", len(out.Memories), block)
	}
	turn.Channel = "discord"
	if _, block := s.Recall(t.Context(), turn); block != "" {
		t.Errorf("in a group:\n%s", block)
	}
}
