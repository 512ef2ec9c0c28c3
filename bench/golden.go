package bench

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// ParseGolden parses a golden file: a YAML list of questions with question and path, and optionally lines (3-9 or 3),
// category, lang and now. Each has one relevant place, whose lines are 0 if any line of the file will do. A question with
// "none: true" instead of a path is off topic and has no relevant place. The error begins with the line at fault.
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
	q, place := Question{Line: item.Line}, Range{}
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
		if err := q.setField(&place, key.Value, value.Value); err != nil {
			return q, fmt.Errorf("%d: %w", key.Line, err)
		}
	}
	switch {
	case !seen["question"] || seen["path"] == seen["none"]:
		return q, fmt.Errorf("%d: a question needs \"question\" and \"path\", or \"none: true\" if no note answers it", item.Line)
	case seen["none"] && seen["lines"]:
		return q, fmt.Errorf("%d: a question that no note answers has no lines", item.Line)
	case seen["path"]:
		q.Relevant = []Range{place}
	}
	return q, nil
}

// setField parses one field of a golden question whose answer stands at place.
func (q *Question) setField(place *Range, key, value string) (err error) {
	switch key {
	case "question":
		q.Query, err = value, checkText(`"question"`, value)
	case "path":
		place.Path, err = localPath(value)
	case "lines":
		place.Start, place.End, err = parseLines(value)
	case "none":
		if value != "true" {
			err = fmt.Errorf("none is %q; write \"none: true\" if no note answers the question, else a path", value)
		}
	case "category":
		q.Category = value
	case "lang":
		q.Lang = value
	case "now":
		q.Now = value
		q.Asked, err = ParseNow(value)
	default:
		return fmt.Errorf("%q means nothing here; there are question, path, lines, none, category, lang and now", key)
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
