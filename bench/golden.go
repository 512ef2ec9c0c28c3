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

// Case is a question of a golden file with the place that answers it.
type Case struct {
	// Question is never blank.
	Question string
	// Line of the golden file on which the case begins, from 1.
	Line int
	// Path of the file with the answer, relative to the workspace.
	Path string
	// Start and End are the lines of the answer, inclusive; 0 if any line of the file will do.
	Start, End int
	// Lang is the language, only for reports; may be empty.
	Lang string
	// Now is the time of the question as it is written, empty for the current time.
	Now string
}

// Rank returns the rank of the first result that answers the case, 0 if none does. Results are best first.
func (c Case) Rank(results []Range) int {
	for i, r := range results {
		if r.Path == c.Path && (c.Start == 0 || r.hits(Range{c.Path, c.Start, c.End})) {
			return i + 1
		}
	}
	return 0
}

// ParseGolden parses a golden file: a YAML list of cases with question and path, and optionally lines (3-9 or 3), lang and
// now. The error begins with the line at fault.
func ParseGolden(text []byte) ([]Case, error) {
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
	var cases []Case
	for _, item := range doc.Content[0].Content {
		c, err := parseCase(item)
		if err != nil {
			return nil, err
		}
		cases = append(cases, c)
	}
	if len(cases) == 0 {
		return nil, errors.New("1: the file holds no question")
	}
	return cases, nil
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

// parseCase parses one item of the list.
func parseCase(item *yaml.Node) (Case, error) {
	c := Case{Line: item.Line}
	if item.Kind != yaml.MappingNode {
		return c, fmt.Errorf("%d: not a question; write \"question:\" and \"path:\"", item.Line)
	}
	seen := map[string]bool{}
	for i := 0; i+1 < len(item.Content); i += 2 {
		key, value := item.Content[i], item.Content[i+1]
		if seen[key.Value] {
			return c, fmt.Errorf("%d: %s stands twice", key.Line, key.Value)
		}
		seen[key.Value] = true
		if value.Kind != yaml.ScalarNode {
			return c, fmt.Errorf("%d: %s is no text", value.Line, key.Value)
		}
		if err := c.setField(key.Value, value.Value); err != nil {
			return c, fmt.Errorf("%d: %w", key.Line, err)
		}
	}
	if !seen["question"] || c.Path == "" {
		return c, fmt.Errorf("%d: a question needs \"question\" and \"path\"", item.Line)
	}
	return c, nil
}

// setField parses one field of a case.
func (c *Case) setField(key, value string) (err error) {
	switch key {
	case "question":
		c.Question, err = value, checkText(`"question"`, value)
	case "path":
		c.Path, err = localPath(value)
	case "lines":
		c.Start, c.End, err = parseLines(value)
	case "lang":
		c.Lang = value
	case "now":
		c.Now = value
		_, err = ParseNow(value)
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
