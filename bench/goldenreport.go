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
	Recall    float64        `json:"recall"`
	MRR       float64        `json:"mrr"`
	Passed    int            `json:"passed"`
	Total     int            `json:"total"`
	Questions []GoldenAnswer `json:"questions"`
}

// GoldenAnswer is the result of one question.
type GoldenAnswer struct {
	Question string `json:"question"`
	// Expected is the place, "path" or "path#L3-L9". Rank counts from 1; 0 means not found.
	Expected string `json:"expected"`
	Lang     string `json:"lang"`
	Rank     int    `json:"rank"`
	Passed   bool   `json:"passed"`
	// First is the citation of the first result, empty if there is none.
	First string `json:"first"`
}

// Answer returns the result of a golden question. Results are best first; first is the citation of the best.
func (q Question) Answer(results []Result, first string) GoldenAnswer {
	place := q.Relevant[0]
	a := GoldenAnswer{Question: q.Query, Expected: place.Path, Lang: q.Lang, Rank: ranks(q.Relevant, results, returned)[0], First: first}
	a.Passed = a.Rank > 0
	if place.Start > 0 {
		a.Expected += fmt.Sprintf("#L%d-L%d", place.Start, place.End)
	}
	return a
}

// NewGoldenReport returns the report on at least one answer.
func NewGoldenReport(answers []GoldenAnswer) GoldenReport {
	r := GoldenReport{Total: len(answers), Questions: answers}
	for _, a := range answers {
		if a.Passed {
			r.Passed++
			r.MRR += 1 / float64(a.Rank)
		}
	}
	r.Recall, r.MRR = float64(r.Passed)/float64(r.Total), r.MRR/float64(r.Total)
	return r
}

// ByLanguage returns the totals of each language, "" if the questions name fewer than two.
func (r GoldenReport) ByLanguage() string {
	passed, total := map[string]int{}, map[string]int{}
	for _, q := range r.Questions {
		total[q.Lang]++
		if q.Passed {
			passed[q.Lang]++
		}
	}
	if len(total) < 2 {
		return ""
	}
	var b strings.Builder
	for _, lang := range slices.Sorted(maps.Keys(total)) {
		fmt.Fprintf(&b, "; %s %d of %d", cmp.Or(lang, "other"), passed[lang], total[lang])
	}
	return b.String()
}
