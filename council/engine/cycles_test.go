package engine_test

import (
	"context"
	"os"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"kioku/council"
	"kioku/council/engine"
	"kioku/council/member"
)

// proposing has members propose parameters for others: by evaluator and target.
func (w *world) proposing(proposals map[[2]string]council.Params) {
	w.script.Answer = func(_ context.Context, q member.Question) (member.Reply, error, bool) {
		p, ok := proposals[[2]string{q.Member, q.Target}]
		if q.Phase != "evaluation" || !ok {
			return member.Reply{}, nil, false
		}
		return member.Reply{Evaluation: &council.Evaluated{Scores: council.Scores{DecisionQuality: 0.4}, OverallScore: 0.4, NeedsRetuning: true, SuggestedParams: p}}, nil, true
	}
}

// evaluate runs a cycle and returns it.
func (w *world) evaluate() council.EvaluationState {
	w.t.Helper()
	id, err := w.StartEvaluation(w.t.Context(), council.Author{Kind: "owner"})
	if err != nil {
		w.t.Fatal(err)
	}
	w.settle()
	s, err := w.Evaluation(w.t.Context(), id)
	if err != nil || s.Result == nil {
		w.t.Fatalf("%v: %+v", err, s)
	}
	return s
}

func (w *world) params(name string) council.Params {
	w.t.Helper()
	p, _, err := w.Params(w.t.Context(), name)
	if err != nil {
		w.t.Fatal(err)
	}
	return p
}

// Check 9: what evaluators must agree on for a parameter to move.
func TestEvaluationMovesParameters(t *testing.T) {
	t.Parallel()
	by := func(ant, bee council.Params) map[[2]string]council.Params {
		m := map[[2]string]council.Params{}
		if ant != nil {
			m[[2]string{"ant", "cat"}] = ant
		}
		if bee != nil {
			m[[2]string{"bee", "cat"}] = bee
		}
		return m
	}
	for name, c := range map[string]struct {
		proposals map[[2]string]council.Params
		pinned    []string
		want      float64
	}{
		"both in the same direction":         {by(council.Params{"safety_weight": 0.6}, council.Params{"safety_weight": 0.7}), nil, 0.65},
		"at most a fifth":                    {by(council.Params{"safety_weight": 1}, council.Params{"safety_weight": 0.9}), nil, 0.7},
		"in opposite directions":             {by(council.Params{"safety_weight": 0.6}, council.Params{"safety_weight": 0.4}), nil, 0.5},
		"only one":                           {by(council.Params{"safety_weight": 0.6}, nil), nil, 0.5},
		"one does not name it":               {by(council.Params{"safety_weight": 0.6}, council.Params{"thoroughness": 0.6}), nil, 0.5},
		"out of range is no proposal":        {by(council.Params{"safety_weight": 7}, council.Params{"safety_weight": 0.6}), nil, 0.5},
		"pinned":                             {by(council.Params{"safety_weight": 0.6}, council.Params{"safety_weight": 0.6}), []string{"safety_weight"}, 0.5},
		"an unknown one is no parameter":     {by(council.Params{"charm": 0.9}, council.Params{"charm": 0.9}), nil, 0.5},
		"the member itself has no say at it": {map[[2]string]council.Params{{"ant", "cat"}: {"safety_weight": 0.6}, {"cat", "cat"}: {"safety_weight": 0.6}}, nil, 0.5},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, func(o *engine.Options) { o.Settings.Evaluation.Pinned = c.pinned })
			w.proposing(c.proposals)
			s := w.evaluate()
			if got := w.params("cat")["safety_weight"]; got != c.want {
				t.Errorf("safety_weight is %v, want %v", got, c.want)
			}
			if len(s.Evaluations) != 6 || s.Result.Status != council.CycleCompleted {
				t.Errorf("%d evaluations, %s", len(s.Evaluations), s.Result.Status)
			}
			if _, ok := w.params("cat")["charm"]; ok {
				t.Error("an unknown parameter was added")
			}
			if w.params("ant")["safety_weight"] != 0.5 {
				t.Error("another member was changed")
			}
		})
	}
}

// Check 9: who has changed what is on record, can be taken back, and is not repeated within a day.
func TestRetuningIsRecordedAndTakenBack(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	path := w.dir + "/council/nodes/cat/params.json"
	writeFile(t, path, `{"safety_weight":0.4,"charm":0.9,"note":"mine"}`)
	both := council.Params{"safety_weight": 0.6}
	w.proposing(map[[2]string]council.Params{{"ant", "cat"}: both, {"bee", "cat"}: both})
	s := w.evaluate()
	if diff := cmp.Diff([]string{"cat"}, s.Result.RetuneTargets); diff != "" {
		t.Error(diff)
	}
	_, changes, err := w.Params(t.Context(), "cat")
	if err != nil || len(changes) != 1 || changes[0].Cycle != s.Request.CycleID || changes[0].Before["safety_weight"] != 0.4 || changes[0].After["safety_weight"] != 0.6 {
		t.Fatalf("%v: %+v", err, changes)
	}
	w.proposing(map[[2]string]council.Params{{"ant", "cat"}: {"safety_weight": 0.7}, {"bee", "cat"}: {"safety_weight": 0.7}})
	w.clock.Add(23 * time.Hour)
	if s := w.evaluate(); w.params("cat")["safety_weight"] != 0.6 || s.Retunes[0].Refused["safety_weight"] == "" {
		t.Errorf("moved again within a day: %+v", s.Retunes)
	}
	if _, err := w.Rollback(t.Context(), "cat", council.Author{Kind: "owner"}); err != nil {
		t.Fatal(err)
	}
	if got := w.params("cat")["safety_weight"]; got != 0.4 {
		t.Errorf("after the rollback: %v", got)
	}
	data, err := os.ReadFile(path)
	if err != nil || !contains(string(data), `"note": "mine"`) || !contains(string(data), `"charm": 0.9`) {
		t.Errorf("%v: what else the file had is lost:\n%s", err, data)
	}
	if _, err := w.Rollback(t.Context(), "cat", council.Author{Kind: "owner"}); err == nil {
		t.Error("there was nothing more to take back")
	}
}

func TestBadParametersAreNotUsed(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	if _, err := w.SetParams(t.Context(), "cat", council.Params{"safety_weight": 0.9}, council.Author{Kind: "owner"}, "careful"); err != nil {
		t.Fatal(err)
	}
	for _, bad := range []string{`{"safety_weight":7}`, `{"safety_weight":"high"}`, `{"safety_weight":null}`, `{`} {
		writeFile(t, w.dir+"/council/nodes/cat/params.json", bad)
		all, err := w.Members(t.Context())
		if err != nil || all[2].ParamsError == "" || all[2].Params["safety_weight"] != 0.9 {
			t.Errorf("%s: %v, %+v", bad, err, all[2])
		}
	}
	for _, bad := range []council.Params{{"safety_weight": 1.01}, {"charm": 0.5}} {
		if _, err := w.SetParams(t.Context(), "cat", bad, council.Author{}, ""); err == nil {
			t.Errorf("%v was taken", bad)
		}
	}
}

// Check 9: a restart begins no cycle, and after a long sleep there is one.
func TestScheduledEvaluationsBeginOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	w.set.Evaluation.Every = "6h"
	w.Close()
	w.open(nil)
	w.submit(ruled)
	count := func() int {
		all, err := w.Evaluations(t.Context(), 0)
		if err != nil {
			t.Fatal(err)
		}
		return len(all)
	}
	for _, step := range []struct {
		later   time.Duration
		restart bool
		want    int
	}{{0, false, 0}, {5 * time.Hour, true, 0}, {time.Hour, false, 1}, {time.Minute, true, 1}, {18 * time.Hour, true, 2}, {time.Minute, true, 2}} {
		w.clock.Add(step.later)
		if step.restart {
			w.Close()
			w.open(nil)
		}
		w.settle()
		if n := count(); n != step.want {
			t.Fatalf("%+v: %d cycles", step, n)
		}
	}
	all, err := w.Evaluations(t.Context(), 0)
	if err != nil || all[0].Result.Status != council.CycleSkipped || all[1].Result.Status != council.CycleCompleted {
		t.Errorf("%v: %+v, %+v", err, all[0].Result, all[1].Result)
	}
}

// An evaluation that does not come is a no, and the cycle is over after half an hour.
func TestIncompleteEvaluationEnds(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	w.script.Answer = func(_ context.Context, q member.Question) (member.Reply, error, bool) {
		return member.Reply{}, &member.Abstention{Kind: council.AbstainMalformed}, q.Phase == "evaluation" && q.Member == "ant"
	}
	s := w.evaluate()
	if s.Result.Status != council.CycleIncomplete || len(s.Evaluations) != 4 || len(s.Result.Missing) != 2 {
		t.Errorf("%+v", s.Result)
	}
}
