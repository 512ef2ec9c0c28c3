package derivetest

import (
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"strconv"
	"strings"

	"kioku/llm"
)

// step is one file of a script.
type step struct {
	name    string
	purpose string
	match   []string
	// left is how many answers it has left, unless it is unlimited.
	left      int
	status    int
	header    http.Header
	stop      string
	in, out   int
	cut       bool
	text      string
	unlimited bool
}

var fileLine = regexp.MustCompile(`(?m)^-- (\S+) --\n`)

// parseScript returns the steps of a text archive.
func parseScript(archive string) ([]*step, error) {
	marks := fileLine.FindAllStringSubmatchIndex(archive, -1)
	if len(marks) == 0 && strings.TrimSpace(archive) != "" {
		return nil, errors.New("a script has steps, each below a line -- name --")
	}
	var steps []*step
	for i, m := range marks {
		end := len(archive)
		if i+1 < len(marks) {
			end = marks[i+1][0]
		}
		s, err := parseStep(archive[m[2]:m[3]], archive[m[1]:end])
		if err != nil {
			return nil, fmt.Errorf("step %s: %w", archive[m[2]:m[3]], err)
		}
		steps = append(steps, s)
	}
	return steps, nil
}

// parseStep reads the fields and the text of a step. A step may have no fields: then it begins with the blank line.
func parseStep(name, file string) (*step, error) {
	s := &step{name: name, left: 1, status: http.StatusOK, header: http.Header{}, stop: llm.StopEnd, in: 100, out: 20}
	for file != "" {
		line, rest, _ := strings.Cut(file, "\n")
		file = rest
		if strings.TrimSpace(line) == "" {
			break
		}
		key, value, ok := strings.Cut(line, ":")
		if !ok {
			return nil, fmt.Errorf("%q is no field; a blank line ends the fields", line)
		}
		if err := s.set(key, strings.TrimSpace(value)); err != nil {
			return nil, fmt.Errorf("%s: %w", key, err)
		}
	}
	s.text = strings.TrimSuffix(file, "\n")
	return s, nil
}

// set sets a field.
func (s *step) set(key, value string) (err error) {
	switch key {
	case "purpose":
		s.purpose = value
	case "match":
		s.match = append(s.match, value)
	case "times":
		if s.unlimited = value == "*"; !s.unlimited {
			s.left, err = strconv.Atoi(value)
		}
	case "status":
		s.status, err = strconv.Atoi(value)
	case "header":
		name, content, _ := strings.Cut(value, ":")
		s.header.Add(name, strings.TrimSpace(content))
	case "cut":
		s.cut, err = strconv.ParseBool(value)
	case "stop":
		s.stop = value
	case "tokens":
		_, err = fmt.Sscanf(value, "%d %d", &s.in, &s.out)
	default:
		err = errors.New("there is no such field")
	}
	return err
}

// answers reports whether the step answers a request.
func (s *step) answers(r Request) bool {
	if !s.unlimited && s.left == 0 || s.purpose != "" && s.purpose != r.Purpose {
		return false
	}
	for _, text := range s.match {
		if !strings.Contains(r.User, text) && !strings.Contains(r.System, text) {
			return false
		}
	}
	return true
}
