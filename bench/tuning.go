package bench

import (
	"cmp"
	"crypto/sha256"
	"fmt"
	"slices"
)

// Tuning is the outcome of Tune.
type Tuning struct {
	// Questions is the number of questions with an answer.
	Questions int `json:"questions"`
	// OffTopic is the number of questions that no note answers.
	OffTopic int `json:"off_topic"`
	// Vectors is true if vectors take part in the answers.
	Vectors bool `json:"vectors"`
	// LineTuned is true if there were enough questions without an answer to fit the line.
	LineTuned bool `json:"line_tuned"`
	// Words are the figures of words alone.
	Words TuneFigures `json:"words"`
	// Now are the figures of the settings as they are.
	Now TuneFigures `json:"now"`
	// Tuned are the figures of the settings fitted to one half of the questions, on the other half, both ways together.
	Tuned TuneFigures `json:"tuned"`
	// Halves are the two halves apart.
	Halves [2]TunedHalf `json:"halves"`
	// Settings are those fitted to all questions, none of which makes a half worse.
	Settings TuneSettings `json:"settings"`
	// Gain is true if Settings are to be written: no half is worse, and both together are better by Margin.
	Gain bool `json:"gain"`
	// Margin is the least gain, in questions.
	Margin float64 `json:"margin"`
	// Reason says in a sentence why the settings stay as they are; empty with a gain.
	Reason string `json:"reason"`
}

// TunedHalf is one half of the questions, answered with settings that were fitted to the other half.
type TunedHalf struct {
	// Settings were fitted to the other half.
	Settings TuneSettings `json:"settings"`
	// Now are the figures of this half with the settings as they are.
	Now TuneFigures `json:"now"`
	// Tuned are those with Settings.
	Tuned TuneFigures `json:"tuned"`
}

// TuneFigures sum up the answers to some questions.
type TuneFigures struct {
	// Total is the number of questions with an answer.
	Total int `json:"total"`
	// Found is the number of them whose place was found.
	Found int `json:"found"`
	// Confident is the number of them whose place was found by a result that is not weak.
	Confident int `json:"confident"`
	// MRR is the mean reciprocal rank of the place, 0 without such questions.
	MRR float64 `json:"mrr"`
	// OffTopic is the number of questions that no note answers.
	OffTopic int `json:"off_topic"`
	// Silent is the number of them without results but weak ones.
	Silent int `json:"silent"`
}

// value returns what the answers are worth, in questions: a reciprocal rank each, and 1 for each silence that is right.
func (f TuneFigures) value() float64 { return f.MRR*float64(f.Total) + float64(f.Silent) }

// tiny is less than any difference between two sums of reciprocal ranks.
const tiny = 1e-9

// worse reports whether one of the figures is below that of other figures for the same questions.
func (f TuneFigures) worse(than TuneFigures) bool {
	return f.Found < than.Found || f.Confident < than.Confident || f.Silent < than.Silent || f.MRR < than.MRR-tiny
}

// tuneOutcome is what one question found.
type tuneOutcome struct {
	offTopic, silent bool
	// reciprocal rank of the place; confident if the result there is not weak.
	reciprocal float64
	confident  bool
}

// tuneOutcome judges the results of a golden question, best first.
func (q Question) tuneOutcome(results []Result) tuneOutcome {
	answer := q.Answer(results, "")
	o := tuneOutcome{offTopic: answer.OffTopic(), silent: answer.OffTopic() && answer.Passed}
	if answer.Rank > 0 {
		o.reciprocal, o.confident = 1/float64(answer.Rank), !results[answer.Rank-1].Weak
	}
	return o
}

// sumTuned returns the figures of outcomes.
func sumTuned(outcomes []tuneOutcome) TuneFigures {
	var f TuneFigures
	for _, o := range outcomes {
		switch {
		case o.silent:
			f.Silent++
			fallthrough
		case o.offTopic:
			f.OffTopic++
			continue
		case o.reciprocal > 0:
			f.Found++
		}
		if f.Total++; o.confident {
			f.Confident++
		}
		f.MRR += o.reciprocal
	}
	f.MRR /= float64(max(f.Total, 1))
	return f
}

// figures returns those of a place in the grid on one half; both is both halves.
func (t tuneTrial) figures(point, half int) TuneFigures {
	var outcomes []tuneOutcome
	for i, row := range t.outcomes {
		if half == both || t.halves[i] == half {
			outcomes = append(outcomes, row[point])
		}
	}
	return sumTuned(outcomes)
}

// both stands for the two halves together.
const both = -1

// fit returns the place in the grid that is worth most on a half among those that make none of its figures worse. The settings
// of now win if others are worth the same. On both halves, no figure of either becomes worse.
func (t tuneTrial) fit(half int) int {
	parts := []int{half}
	if half == both {
		parts = []int{0, 1}
	}
	best, most := 0, t.figures(0, half).value()
	for point := range t.grid {
		isWorse := func(part int) bool { return t.figures(point, part).worse(t.figures(0, part)) }
		if value := t.figures(point, half).value(); value > most+tiny && !slices.ContainsFunc(parts, isWorse) {
			best, most = point, value
		}
	}
	return best
}

// splitHalves returns the half of each question, 0 or 1, which depends on the texts of the questions and not on their order.
// Equal texts are in one half, and both halves have as many questions with an answer, and without, as the other, or one more.
func splitHalves(questions []Question) []int {
	hash := func(q Question) string { sum := sha256.Sum256([]byte(q.Query)); return string(sum[:]) }
	order := make([]int, len(questions))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int { return cmp.Compare(hash(questions[a]), hash(questions[b])) })
	halves, next := make([]int, len(questions)), [2]int{}
	for at, i := range order {
		kind := min(len(questions[i].Relevant), 1)
		if at > 0 && questions[i].Query == questions[order[at-1]].Query {
			halves[i] = halves[order[at-1]]
			continue
		}
		halves[i] = next[kind]
		next[kind] = 1 - next[kind]
	}
	return halves
}

// newTuning counts questions.
func newTuning(questions []Question) Tuning {
	t := Tuning{Margin: max(1, float64(len(questions))/100)}
	for _, q := range questions {
		if len(q.Relevant) > 0 {
			t.Questions++
		} else {
			t.OffTopic++
		}
	}
	t.LineTuned = t.OffTopic >= MinTunedOffTopic
	return t
}

// judge fits settings to the halves and to all questions, and decides whether they are a gain.
func (t *Tuning) judge(trial tuneTrial) {
	t.Words, t.Now = sumTuned(trial.words), trial.figures(0, both)
	var heldOut []tuneOutcome
	for half := range t.Halves {
		point := trial.fit(1 - half)
		t.Halves[half] = TunedHalf{trial.grid[point], trial.figures(0, half), trial.figures(point, half)}
		for i, row := range trial.outcomes {
			if trial.halves[i] == half {
				heldOut = append(heldOut, row[point])
			}
		}
	}
	t.Tuned = sumTuned(heldOut)
	point := trial.fit(both)
	t.Reason = t.keptBecause(point)
	if t.Gain = t.Reason == ""; t.Gain {
		t.Settings = trial.grid[point]
	}
}

// keptBecause returns why the settings of now stay although others were fitted to all questions; empty if they do not.
func (t *Tuning) keptBecause(point int) string {
	gain := t.Tuned.value() - t.Now.value()
	for i, h := range t.Halves {
		if h.Tuned.worse(h.Now) {
			return fmt.Sprintf("what gains on one half of the questions loses on half %d, which it was not fitted to (%s, now %s)",
				i+1, h.Tuned, h.Now)
		}
	}
	switch {
	case gain < t.Margin-tiny:
		return fmt.Sprintf("on the halves that they were not fitted to, other settings gain %.2f questions, less than %.2f", gain, t.Margin)
	case point == 0:
		return "no settings gain on all questions without a loss on one half of them"
	}
	return ""
}

// String returns the figures in one line.
func (f TuneFigures) String() string {
	return fmt.Sprintf("found %d of %d, %d without weak, MRR %.3f, silent %d of %d", f.Found, f.Total, f.Confident, f.MRR, f.Silent, f.OffTopic)
}
