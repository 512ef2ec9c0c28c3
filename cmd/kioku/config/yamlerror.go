package config

import (
	"bytes"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

var (
	yamlLine = regexp.MustCompile(`^yaml: (?:line (\d+): )?(.*)`)
	// parserProblem matches the messages of yaml.v3 that come from its parser. Their lines count from 0, those of its scanner
	// from 1.
	parserProblem = regexp.MustCompile(`^did not find expected (<|node content|'-' indicator|key|',' or)|^found (duplicate %|incompatible|undefined tag)`)
	unknownAnchor = regexp.MustCompile(`^unknown anchor '(.*)' referenced`)
)

// yamlProblem returns the line at which a text is not YAML, and what is wrong there.
func yamlProblem(data []byte, err error) (line int, problem string) {
	m := yamlLine.FindStringSubmatch(strings.ReplaceAll(err.Error(), "\n", " "))
	if m == nil {
		return 1, err.Error()
	}
	line, problem = 1, m[2]
	if n, failed := strconv.Atoi(m[1]); failed == nil {
		if line = n; parserProblem.MatchString(problem) {
			line++
		}
		return line, problem
	}
	if i := unreadable(data); i >= 0 {
		return lineOf(data, i), problem
	}
	if anchor := unknownAnchor.FindStringSubmatch(problem); anchor != nil {
		return lineOf(data, max(bytes.Index(data, []byte("*"+anchor[1])), 0)), problem
	}
	return line, problem
}

// unreadable returns where the first byte is that cannot stand in YAML, -1 if there is none.
func unreadable(data []byte) int {
	for i, w := 0, 0; i < len(data); i += w {
		var r rune
		r, w = utf8.DecodeRune(data[i:])
		if r == utf8.RuneError && w == 1 || r < ' ' && !slices.Contains([]rune{'\t', '\n', '\r'}, r) || r >= 0x7f && r <= 0x9f && r != 0x85 {
			return i
		}
	}
	return -1
}

// lineOf returns the line of a byte.
func lineOf(data []byte, at int) int { return 1 + bytes.Count(data[:at], []byte("\n")) }
