package bench

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// GoldenReport is the output of kioku bench golden --json, which scripts read.
type GoldenReport struct {
	// Recall is the part of the questions with an answer that passed, 0 to 1; it is 1 if there are none.
	Recall float64 `json:"recall"`
	// MRR is the mean reciprocal rank of the questions with an answer, 0 to 1; it is 1 if there are none.
	MRR float64 `json:"mrr"`
	// Passed is the number of questions with an answer that passed.
	Passed int `json:"passed"`
	// Total is the number of questions with an answer.
	Total int `json:"total"`
	// Silent is the number of off-topic questions that passed.
	Silent int `json:"silent"`
	// OffTopic is the number of questions that no note answers.
	OffTopic int `json:"off_topic"`
	// Questions are the results, in the order of the questions.
	Questions []GoldenAnswer `json:"questions"`
}

// GoldenAnswer is the result of one question.
type GoldenAnswer struct {
	// Question is the text of the question.
	Question string `json:"question"`
	// Expected is the place, "path" or "path#L3-L9"; empty for an off-topic question.
	Expected string `json:"expected"`
	// Category of the question; empty if it is not given.
	Category string `json:"category"`
	// Lang is the language of the question; empty if it is not given.
	Lang string `json:"lang"`
	// Rank of the expected place among the results, from 1; 0 means not found.
	Rank int `json:"rank"`
	// Passed reports that the place was found, or that an off-topic question had no results but weak ones.
	Passed bool `json:"passed"`
	// First is the citation of the first result, empty if there is none.
	First string `json:"first"`
}

// OffTopic reports whether no note answers the question.
func (a GoldenAnswer) OffTopic() bool { return a.Expected == "" }

// Answer returns the result of a golden question. Results are best first; first is the citation of the best.
func (q Question) Answer(results []Result, first string) GoldenAnswer {
	a := GoldenAnswer{Question: q.Query, Category: q.Category, Lang: q.Lang, First: first}
	if len(q.Relevant) == 0 {
		a.Passed = !slices.ContainsFunc(results, func(r Result) bool { return !r.Weak })
		return a
	}
	place := q.Relevant[0]
	a.Expected = place.Path
	if place.Start > 0 {
		a.Expected += fmt.Sprintf("#L%d-L%d", place.Start, place.End)
	}
	a.Rank = ranks(q.Relevant, results, returned)[0]
	a.Passed = a.Rank > 0
	return a
}

// NewGoldenReport returns the report on answers.
func NewGoldenReport(answers []GoldenAnswer) GoldenReport {
	r := GoldenReport{Recall: 1, MRR: 1, Questions: answers}
	all := newGoldenGroup("", answers)
	r.Passed, r.Total, r.OffTopic = all.Passed, all.Total, len(answers)-all.Total
	for _, a := range answers {
		if a.OffTopic() && a.Passed {
			r.Silent++
		}
	}
	if r.Total > 0 {
		r.Recall, r.MRR = float64(r.Passed)/float64(r.Total), all.MRR
	}
	return r
}

// GoldenGroup contains the figures of the questions with an answer that share a category or language.
type GoldenGroup struct {
	// Name of the category or language; "other" if it is not given.
	Name string
	// First is the number of questions whose place was the first result.
	First int
	// Passed is the number of questions whose place was found.
	Passed int
	// Total is the number of questions with an answer.
	Total int
	// MRR is the mean reciprocal rank, 0 to 1; 0 if there is no question.
	MRR float64
}

// newGoldenGroup sums the answers to questions that a note answers.
func newGoldenGroup(name string, answers []GoldenAnswer) GoldenGroup {
	g := GoldenGroup{Name: cmp.Or(name, "other")}
	for _, a := range answers {
		if a.OffTopic() {
			continue
		}
		g.Total++
		if a.Passed {
			g.Passed++
			g.MRR += 1 / float64(a.Rank)
		}
		if a.Rank == 1 {
			g.First++
		}
	}
	if g.Total > 0 {
		g.MRR /= float64(g.Total)
	}
	return g
}

// ByCategory returns the figures of each category, in the order of their names, none if the questions name fewer than two.
func (r GoldenReport) ByCategory() []GoldenGroup {
	return r.groups(func(a GoldenAnswer) string { return a.Category })
}

// groups returns the figures of the questions with an answer by a key, none if fewer than two keys are there.
func (r GoldenReport) groups(key func(GoldenAnswer) string) []GoldenGroup {
	byKey := map[string][]GoldenAnswer{}
	for _, a := range r.Questions {
		if !a.OffTopic() {
			byKey[key(a)] = append(byKey[key(a)], a)
		}
	}
	if len(byKey) < 2 {
		return nil
	}
	var groups []GoldenGroup
	for _, name := range slices.Sorted(maps.Keys(byKey)) {
		groups = append(groups, newGoldenGroup(name, byKey[name]))
	}
	return groups
}

// ByLanguage returns the totals of each language, "" if the questions name fewer than two.
func (r GoldenReport) ByLanguage() string {
	var b strings.Builder
	for _, g := range r.groups(func(a GoldenAnswer) string { return a.Lang }) {
		fmt.Fprintf(&b, "; %s %d of %d", g.Name, g.Passed, g.Total)
	}
	return b.String()
}
