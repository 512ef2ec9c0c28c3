package bench

import (
	"fmt"
	"testing"

	"kioku"
	"kioku/search"
)

func TestSessionForeignSpreadsQuestions(t *testing.T) {
	t.Parallel()
	other := Set{Name: "other"}
	for i := range 500 {
		other.Questions = append(other.Questions, Question{ID: fmt.Sprint(i), WS: "x", Relevant: []Range{{"a.md", 1, 1}}})
	}
	s := &Session{set: trio(t)}
	got := s.foreign(other)
	if len(got) != maxOffTopic || got[0].ID != "0" || got[1].ID != "2" || got[199].ID != "497" {
		t.Errorf("%d questions, the last is %s", len(got), got[len(got)-1].ID)
	}
	if got[0].WS != "home" || got[1].WS != "work" || got[2].WS != "home" || got[0].Relevant != nil {
		t.Errorf("%+v", got[:3])
	}
	if len(other.Questions[0].Relevant) != 1 || other.Questions[0].WS != "x" {
		t.Error("the other set was changed")
	}
}

func TestLostShares(t *testing.T) {
	t.Parallel()
	q := Question{Relevant: []Range{{"a.md", 1, 1}, {"a.md", 5, 5}}}
	both := Asked{Question: q, Results: []Result{at(1, 1, 1), at(5, 5, 1)}}
	one := Asked{Question: q, Results: []Result{at(5, 5, 1)}}
	none := Asked{Question: q}
	questions, hits := lostShares([]Asked{both, one, none, none}, []Asked{both, both, one, none})
	if questions != 1./3 || hits != 2./5 {
		t.Errorf("questions %v, hits %v", questions, hits)
	}
	if questions, hits := lostShares([]Asked{none}, []Asked{none}); questions != 0 || hits != 0 {
		t.Errorf("nothing to lose: %v, %v", questions, hits)
	}
}

func TestOffTopicOfAHigherThreshold(t *testing.T) {
	t.Parallel()
	report := func(least float64) OffTopicReport {
		t.Helper()
		engine := kioku.Options{Search: search.Options{MinKeywordScore: &least, WeakResults: new(false)}}
		s := open(t, trio(t), Options{Engine: engine})
		asked, err := s.Ask(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		foreign := Set{Name: "sea", Questions: []Question{
			{ID: "1", Query: "Which whale dives deepest for the workshop of squid?"}, {ID: "2", Query: "最も深い海溝はどこ?"},
			{ID: "3", Query: "Who owns the tallest lighthouse?"},
		}}
		r, err := s.OffTopic(t.Context(), asked, foreign)
		if err != nil {
			t.Fatal(err)
		}
		if r.Other != "sea" || r.N != 3 {
			t.Errorf("%+v", r)
		}
		return r
	}
	open, mute := report(0), report(1)
	if open.LostHits != 0 || open.LostQuestions != 0 || open.Silent == 1 {
		t.Errorf("without a threshold: %+v", open)
	}
	if mute.Silent != 1 || mute.LostHits < 0.9 || mute.LostQuestions < 0.9 {
		t.Errorf("with a threshold that little reaches: %+v", mute)
	}
}
