package bench

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"kioku/memory"
	"kioku/search"
)

// tuneQuestions returns questions that a.md answers, and questions that nothing answers.
func tuneQuestions(answered, offTopic int) []Question {
	var questions []Question
	for i := range answered {
		questions = append(questions, Question{Query: fmt.Sprintf("question %d", i), Relevant: []Range{{Path: "a.md"}}})
	}
	for i := range offTopic {
		questions = append(questions, Question{Query: fmt.Sprintf("stranger %d", i)})
	}
	return questions
}

// tuneAnswer is an answer with vectors that has a.md at a rank, 0 for nowhere, after hits of other files.
func tuneAnswer(rank int) memory.Answer {
	a := memory.Answer{Mode: memory.ModeHybrid}
	for i := 1; i <= rank; i++ {
		a.Hits = append(a.Hits, memory.Hit{Path: fmt.Sprintf("b%d.md", i), StartLine: 1, EndLine: 9})
	}
	if rank > 0 {
		a.Hits[rank-1].Path = "a.md"
	}
	return a
}

// tuned fits settings to answers.
func tuned(t *testing.T, questions []Question, answer func(q Question, opt search.Options) memory.Answer) (Tuning, error) {
	t.Helper()
	return Tune(t.Context(), questions, search.DefaultOptions(), func(_ context.Context, q Question, opt search.Options) (memory.Answer, error) {
		return answer(q, opt), nil
	}, func(Progress) {})
}

// weightIs reports whether the vectors have a weight.
func weightIs(opt search.Options, weight float64) bool {
	return opt.VectorWeight != nil && *opt.VectorWeight == weight && *opt.TextWeight == 1-weight
}

func TestTuneFindsTheWeightAndTheLine(t *testing.T) {
	t.Parallel()
	got, err := tuned(t, tuneQuestions(30, 10), func(q Question, opt search.Options) memory.Answer {
		loose := opt.MinScore == nil || *opt.MinScore < .45
		switch {
		case len(q.Relevant) == 0 && !loose, len(q.Relevant) > 0 && opt.MinScore != nil && *opt.MinScore > .5:
			return tuneAnswer(0)
		case weightIs(opt, .35):
			return tuneAnswer(1)
		}
		return tuneAnswer(2)
	})
	if err != nil || !got.Gain || got.Reason != "" {
		t.Fatalf("no gain: %v, %+v", err, got)
	}
	want := TuneSettings{VectorWeight: new(.35), MinScore: new(.45)}
	if diff := cmp.Diff(want, got.Settings); diff != "" {
		t.Error(diff)
	}
	figures := TuneFigures{Total: 30, Found: 30, Confident: 30, MRR: 1, OffTopic: 10, Silent: 10}
	if diff := cmp.Diff(figures, got.Tuned); diff != "" {
		t.Error(diff)
	}
	if got.Now.MRR != .5 || got.Now.Silent != 0 {
		t.Errorf("now: %s", got.Now)
	}
}

// Settings that gain on one half of the questions only are kept as they are.
func TestTuneKeepsSettingsThatLoseOnTheHeldOutHalf(t *testing.T) {
	t.Parallel()
	questions := tuneQuestions(40, 0)
	halves := splitHalves(questions)
	got, err := tuned(t, questions, func(q Question, opt search.Options) memory.Answer {
		half := halves[slices.IndexFunc(questions, func(o Question) bool { return o.Query == q.Query })]
		switch {
		case weightIs(opt, .2) && half == 0, weightIs(opt, .8) && half == 1:
			return tuneAnswer(1)
		case weightIs(opt, .2), weightIs(opt, .8):
			return tuneAnswer(3)
		}
		return tuneAnswer(2)
	})
	if err != nil || got.Gain || got.Settings != (TuneSettings{}) || !strings.Contains(got.Reason, "loses on half 1") {
		t.Errorf("%v, %+v", err, got)
	}
}

// A line that silences strangers and loses one good hit is no gain, also if the hit is only weak then.
func TestTuneLosesNoGoodHit(t *testing.T) {
	t.Parallel()
	got, err := tuned(t, tuneQuestions(20, 20), func(q Question, opt search.Options) memory.Answer {
		silent := opt.MinScore != nil
		switch {
		case len(q.Relevant) == 0 && silent:
			return tuneAnswer(0)
		case silent:
			a := tuneAnswer(1)
			a.Hits[0].Weak = q.Query == "question 3" || q.Query == "question 4"
			return a
		}
		return tuneAnswer(1)
	})
	if err != nil || got.Gain {
		t.Errorf("%v, %+v", err, got)
	}
}

func TestTuneKeepsWhatGainsLessThanAQuestion(t *testing.T) {
	t.Parallel()
	got, err := tuned(t, tuneQuestions(20, 0), func(q Question, opt search.Options) memory.Answer {
		if weightIs(opt, .5) && q.Query == "question 3" {
			return tuneAnswer(1)
		}
		return tuneAnswer(2)
	})
	if err != nil || got.Gain || !strings.Contains(got.Reason, "less than 1.00") {
		t.Errorf("%v, %+v", err, got)
	}
}

func TestTuneRefusesTooFewQuestions(t *testing.T) {
	t.Parallel()
	answer := func(Question, search.Options) memory.Answer { return tuneAnswer(1) }
	if _, err := tuned(t, tuneQuestions(19, 30), answer); !errors.Is(err, ErrTooFewQuestions) || !strings.Contains(err.Error(), "19 of them have an answer, and 20 are needed") {
		t.Errorf("%v", err)
	}
	words := func(Question, search.Options) memory.Answer { return memory.Answer{Mode: memory.ModeKeyword} }
	if _, err := tuned(t, tuneQuestions(30, 9), words); !errors.Is(err, ErrTooFewQuestions) || !strings.Contains(err.Error(), "9 questions have no answer (none: true), and 10 are needed") {
		t.Errorf("%v", err)
	}
}

// With few questions without an answer the line stays, which would only ever be lowered.
func TestTuneKeepsTheLineWithoutStrangers(t *testing.T) {
	t.Parallel()
	got, err := tuned(t, tuneQuestions(20, 9), func(_ Question, opt search.Options) memory.Answer {
		if opt.MinScore != nil {
			return tuneAnswer(1)
		}
		return tuneAnswer(2)
	})
	if err != nil || got.Gain || got.LineTuned {
		t.Errorf("%v, %+v", err, got)
	}
}

// Figures without the vectors of a provider that is down are no figures.
func TestTuneRefusesDegradedAnswers(t *testing.T) {
	t.Parallel()
	_, err := tuned(t, tuneQuestions(20, 0), func(q Question, _ search.Options) memory.Answer {
		a := tuneAnswer(1)
		if q.Query == "question 7" {
			a.Degraded = []memory.Degradation{{Code: memory.ProviderDown, Text: "it is down"}}
		}
		return a
	})
	if err == nil || !strings.Contains(err.Error(), "question 8: it is down") {
		t.Errorf("%v", err)
	}
}

// The halves depend on the texts of the questions only, and equal texts are in one half.
func TestSplitHalvesIsStable(t *testing.T) {
	t.Parallel()
	questions := tuneQuestions(21, 11)
	questions = append(questions, questions[3])
	halves := splitHalves(questions)
	if halves[3] != halves[len(halves)-1] {
		t.Error("equal questions are in both halves")
	}
	turned := slices.Clone(questions)
	slices.Reverse(turned)
	back := splitHalves(turned)
	slices.Reverse(back)
	if diff := cmp.Diff(halves, back); diff != "" {
		t.Errorf("the order decides: %s", diff)
	}
	var answered, strangers [2]int
	for i, half := range halves[:len(halves)-1] {
		if len(questions[i].Relevant) > 0 {
			answered[half]++
		} else {
			strangers[half]++
		}
	}
	if min(answered[0], answered[1]) != 10 || min(strangers[0], strangers[1]) != 5 {
		t.Errorf("%v, %v", answered, strangers)
	}
}
