package bench

import (
	"context"
	"errors"
	"fmt"

	"kioku/memory"
	"kioku/search"
)

const (
	// MinTuned is the minimum number of questions with an answer that Tune takes.
	MinTuned = 20
	// MinTunedOffTopic is the minimum number of questions without an answer with which Tune fits the line.
	MinTunedOffTopic = 10
)

// ErrTooFewQuestions means that the questions are too few to tell a gain from chance.
var ErrTooFewQuestions = errors.New("too few questions to tune")

// TuneSettings are the settings that Tune fits; nil is a setting as it is now.
type TuneSettings struct {
	// VectorWeight is the weight of the vectors; that of the words is what it lacks to 1.
	VectorWeight *float64 `json:"vector_weight"`
	// MinScore is the minimum score of answers in which vectors took part.
	MinScore *float64 `json:"min_score"`
	// MinKeywordScore is the minimum score of answers by keywords only.
	MinKeywordScore *float64 `json:"min_keyword_score"`
}

// In returns settings of searches with those that s changes.
func (s TuneSettings) In(opt search.Options) search.Options {
	if s.VectorWeight != nil {
		opt.VectorWeight, opt.TextWeight = s.VectorWeight, new(1-*s.VectorWeight)
	}
	if s.MinScore != nil {
		opt.MinScore = s.MinScore
	}
	if s.MinKeywordScore != nil {
		opt.MinKeywordScore = s.MinKeywordScore
	}
	return opt
}

// Values that are tried, beside those of now.
var (
	triedWeights      = []float64{.2, .35, .5, .65, .8}
	triedLines        = []float64{.3, .35, .4, .45, .5, .55, .6}
	triedKeywordLines = []float64{.1, .12, .14, .16, .18, .2, .22, .24, .27, .3}
)

// tuneGrid returns the settings to try, those of now first. Without vectors it has lines for keywords, and without tuneLine none.
func tuneGrid(vectors, tuneLine bool) []TuneSettings {
	grid := []TuneSettings{{}}
	if !vectors {
		for _, line := range triedKeywordLines {
			grid = append(grid, TuneSettings{MinKeywordScore: new(line)})
		}
		return grid
	}
	for _, weight := range triedWeights {
		grid = append(grid, TuneSettings{VectorWeight: new(weight)})
	}
	if !tuneLine {
		return grid
	}
	for _, base := range grid[:len(grid):len(grid)] {
		for _, line := range triedLines {
			grid = append(grid, TuneSettings{VectorWeight: base.VectorWeight, MinScore: new(line)})
		}
	}
	return grid
}

// TuneAsk answers a question with settings of searches.
type TuneAsk func(ctx context.Context, q Question, opt search.Options) (memory.Answer, error)

// Tune fits the weight of the vectors and the line to golden questions: on each half of them, to be judged on the other one.
// Questions without an answer decide the line, which stays if there are fewer than MinTunedOffTopic of them. If vectors take no
// part, the line is that of keywords. The questions are asked one after the other, each with all settings; step is told how far
// that is. It returns ErrTooFewQuestions, with the numbers, if nothing can be fitted.
func Tune(ctx context.Context, questions []Question, now search.Options, ask TuneAsk, step func(Progress)) (Tuning, error) {
	t := newTuning(questions)
	if t.Questions < MinTuned {
		return t, fmt.Errorf("%w: %d of them have an answer, and %d are needed", ErrTooFewQuestions, t.Questions, MinTuned)
	}
	first, err := ask(ctx, questions[0], now)
	if err == nil {
		err = untunable(first)
	}
	if err != nil {
		return t, fmt.Errorf("question 1: %w", err)
	}
	t.Vectors = first.Mode != memory.ModeKeyword
	if !t.Vectors && !t.LineTuned {
		return t, fmt.Errorf("%w: without vectors only the line can be tuned; %d questions have no answer (none: true), and %d are needed",
			ErrTooFewQuestions, t.OffTopic, MinTunedOffTopic)
	}
	trial := tuneTrial{grid: tuneGrid(t.Vectors, t.LineTuned), halves: splitHalves(questions)}
	for i, q := range questions {
		step(Progress{Set: "tune", Phase: PhaseAsk, Done: i, Total: len(questions)})
		if err := trial.askAll(ctx, q, now, ask); err != nil {
			return t, fmt.Errorf("question %d: %w", i+1, err)
		}
	}
	t.judge(trial)
	return t, nil
}

// tuneTrial is what each question found with each of the settings.
type tuneTrial struct {
	grid []TuneSettings
	// halves has the half of each question, 0 or 1.
	halves []int
	// outcomes by question and place in the grid, and those by words alone.
	outcomes [][]tuneOutcome
	words    []tuneOutcome
}

// askAll asks one question with all settings, and with words alone.
func (t *tuneTrial) askAll(ctx context.Context, q Question, now search.Options, ask TuneAsk) error {
	var row []tuneOutcome
	for _, s := range t.grid {
		o, err := askTuned(ctx, q, s.In(now), ask)
		if err != nil {
			return err
		}
		row = append(row, o)
	}
	now.Hybrid = new(false)
	words, err := askTuned(ctx, q, now, ask)
	t.outcomes, t.words = append(t.outcomes, row), append(t.words, words)
	return err
}

// askTuned asks one question and judges its results.
func askTuned(ctx context.Context, q Question, opt search.Options, ask TuneAsk) (tuneOutcome, error) {
	answer, err := ask(ctx, q, opt)
	if err == nil {
		err = untunable(answer)
	}
	if err != nil {
		return tuneOutcome{}, err
	}
	var results []Result
	for _, hit := range answer.Hits {
		results = append(results, Result{Range: Range{hit.Path, hit.StartLine, hit.EndLine}, Weak: hit.Weak})
	}
	return q.tuneOutcome(results), nil
}

// untunable returns an error if an answer was ranked by words because its vectors were missing. A few chunks without a vector
// are not missed: there are texts that a model cannot read.
func untunable(answer memory.Answer) error {
	if answer.Mode == memory.ModeKeyword {
		return incomplete(answer)
	}
	for _, d := range answer.Degraded {
		if d.Code == memory.ProviderDown || d.Code == memory.SpaceChanged || d.Code == memory.DeadlineNear {
			return errors.New(d.Text)
		}
	}
	return nil
}
