package bench

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// ParseGolden parses a golden file: a YAML list of questions with question and path, and optionally lines (3-9 or 3), lang
// and now. Each has one relevant place, whose lines are 0 if any line of the file will do. The error begins with the line at
// fault.
func ParseGolden(text []byte) ([]Question, error) {
	var doc yaml.Node
	dec := yaml.NewDecoder(bytes.NewReader(text))
	if err := dec.Decode(&doc); errors.Is(err, io.EOF) {
		return nil, errors.New("1: the file holds no question")
	} else if err != nil {
		return nil, yamlError(err)
	}
	var next yaml.Node
	if err := dec.Decode(&next); err == nil {
		return nil, fmt.Errorf("%d: a second document begins; take out the line with ---, all questions belong into one list",
			secondDocument(text, next.Line))
	} else if !errors.Is(err, io.EOF) {
		return nil, yamlError(err)
	}
	if len(doc.Content) != 1 || doc.Content[0].Kind != yaml.SequenceNode {
		return nil, fmt.Errorf("%d: not a list; begin each question with \"- question:\"", max(doc.Line, 1))
	}
	var questions []Question
	for _, item := range doc.Content[0].Content {
		q, err := parseGoldenQuestion(item)
		if err != nil {
			return nil, err
		}
		questions = append(questions, q)
	}
	if len(questions) == 0 {
		return nil, errors.New("1: the file holds no question")
	}
	return questions, nil
}

var yamlLine = regexp.MustCompile(`^yaml: line (\d+): `)

// yamlError returns an error of the parser with the line first.
func yamlError(err error) error {
	if m := yamlLine.FindStringSubmatch(err.Error()); m != nil {
		return fmt.Errorf("%s: %s", m[1], strings.TrimPrefix(err.Error(), m[0]))
	}
	return fmt.Errorf("1: %w", err)
}

// secondDocument returns the line of the mark (---) before a document that begins at a line.
func secondDocument(text []byte, line int) int {
	lines := strings.Split(string(text), "\n")
	for n := min(line, len(lines)); n > 1; n-- {
		if strings.HasPrefix(lines[n-1], "---") {
			return n
		}
	}
	return line
}

// parseGoldenQuestion parses one item of the list.
func parseGoldenQuestion(item *yaml.Node) (Question, error) {
	q := Question{Line: item.Line, Relevant: make([]Range, 1)}
	if item.Kind != yaml.MappingNode {
		return q, fmt.Errorf("%d: not a question; write \"question:\" and \"path:\"", item.Line)
	}
	seen := map[string]bool{}
	for i := 0; i+1 < len(item.Content); i += 2 {
		key, value := item.Content[i], item.Content[i+1]
		if seen[key.Value] {
			return q, fmt.Errorf("%d: %s stands twice", key.Line, key.Value)
		}
		seen[key.Value] = true
		if value.Kind != yaml.ScalarNode {
			return q, fmt.Errorf("%d: %s is no text", value.Line, key.Value)
		}
		if err := q.setField(key.Value, value.Value); err != nil {
			return q, fmt.Errorf("%d: %w", key.Line, err)
		}
	}
	if !seen["question"] || q.Relevant[0].Path == "" {
		return q, fmt.Errorf("%d: a question needs \"question\" and \"path\"", item.Line)
	}
	return q, nil
}

// setField parses one field of a golden question.
func (q *Question) setField(key, value string) (err error) {
	place := &q.Relevant[0]
	switch key {
	case "question":
		q.Query, err = value, checkText(`"question"`, value)
	case "path":
		place.Path, err = localPath(value)
	case "lines":
		place.Start, place.End, err = parseLines(value)
	case "lang":
		q.Lang = value
	case "now":
		q.Now = value
		q.Asked, err = ParseNow(value)
	default:
		return fmt.Errorf("%q means nothing here; there are question, path, lines, lang and now", key)
	}
	return err
}

// parseLines parses "3-9" or "3".
func parseLines(text string) (start, end int, err error) {
	first, last, ok := strings.Cut(text, "-")
	if !ok {
		last = first
	}
	start, errStart := strconv.Atoi(strings.TrimSpace(first))
	end, errEnd := strconv.Atoi(strings.TrimSpace(last))
	if errStart != nil || errEnd != nil || start < 1 || end < start {
		return 0, 0, fmt.Errorf("lines is %q; write 3-9 or 3, lines count from 1", text)
	}
	return start, end, nil
}

// GoldenReport is the output of kioku bench golden --json, which scripts read.
type GoldenReport struct {
	// Recall is the part of the questions that passed, 0 to 1.
	Recall float64 `json:"recall"`
	// MRR is the mean reciprocal rank, 0 to 1.
	MRR float64 `json:"mrr"`
	// Passed is the number of questions that passed.
	Passed int `json:"passed"`
	// Total is the number of questions.
	Total int `json:"total"`
	// Questions are the results, in the order of the questions.
	Questions []GoldenAnswer `json:"questions"`
}

// GoldenAnswer is the result of one question.
type GoldenAnswer struct {
	// Question is the text of the question.
	Question string `json:"question"`
	// Expected is the place, "path" or "path#L3-L9".
	Expected string `json:"expected"`
	// Lang is the language of the question; empty if it is not given.
	Lang string `json:"lang"`
	// Rank of the expected place among the results, from 1; 0 means not found.
	Rank int `json:"rank"`
	// Passed reports that the place was found.
	Passed bool `json:"passed"`
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
