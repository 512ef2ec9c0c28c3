package bench

import (
	"fmt"
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

// Answer returns the result of the case. Results are best first; first is the citation of the best.
func (c Case) Answer(results []Range, first string) GoldenAnswer {
	rank := c.Rank(results)
	return GoldenAnswer{Question: c.Question, Expected: c.expected(), Lang: c.Lang, Rank: rank, Passed: rank > 0, First: first}
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

// expected returns the citation that a case expects.
func (c Case) expected() string {
	if c.Start == 0 {
		return c.Path
	}
	return fmt.Sprintf("%s#L%d-L%d", c.Path, c.Start, c.End)
}

// ByLanguage returns the totals of each language, "" if the questions name fewer than two.
func (r GoldenReport) ByLanguage() string {
	passed, total := map[string]int{}, map[string]int{}
	var langs []string
	for _, q := range r.Questions {
		if total[q.Lang] == 0 {
			langs = append(langs, q.Lang)
		}
		total[q.Lang]++
		if q.Passed {
			passed[q.Lang]++
		}
	}
	if len(langs) < 2 {
		return ""
	}
	slices.Sort(langs)
	var b strings.Builder
	for _, l := range langs {
		name := l
		if name == "" {
			name = "other"
		}
		fmt.Fprintf(&b, "; %s %d of %d", name, passed[l], total[l])
	}
	return b.String()
}
