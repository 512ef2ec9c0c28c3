package memory

import (
	"fmt"
	"math"
	"net/url"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

var (
	// citedLines matches a path and lines behind it: a.md:3, a.md:3:12 (from and count), a.md:3-9, a.md#L3-L9, a.md (lines 3-9), and
	// a heading of memory_search or memory_get with what follows there.
	citedLines = regexp.MustCompile(`(?i)^(.+?)(?::(\d+):(\d+)|(?:#L|:L?|[\s,:(\[]+(?:lines?\s+|L))(\d+)(?:C\d+)?` +
		`(?:\s*(?:[-‐‑‒–—−]|\.\.|to)\s*L?(\d+)(?:C\d+)?)?[)\]]?)(?:\s+of\s+\d+|\s+\(score\s.*)?$`)
	// mistakenLines matches the path of a memory file followed by something that names no lines.
	mistakenLines = regexp.MustCompile(`(?i)^(.+?\.(?:md|markdown|mdown|mdwn|mkdn?|mkdown|jsonl))([:#].*)$`)
	// memoryFile matches a path that ends like a memory file.
	memoryFile = regexp.MustCompile(`(?i)\.(?:md|markdown|mdown|mdwn|mkdn?|mkdown|jsonl)$`)
	// citedLink matches a link of Markdown, of which the group is the destination.
	citedLink = regexp.MustCompile(`^!?\[[^\]]*\]\((.+)\)$`)
)

// Readings returns what a citation may mean, the first that is there in the order of the list: the text is the path itself, a path with
// lines, or such a path in quotes, brackets, a link, a URI of a file, escaped or with backslashes. It returns an *InputError besides
// if what follows the path of a memory file is no number of a line.
func Readings(citation string) ([]GetRequest, error) {
	all := []GetRequest{{Path: citation}}
	lines, err := splitLines(unwrap(citation))
	if err != nil {
		return all, err
	}
	all = append(all, lines)
	lines.Path = unwrap(lines.Path)
	all = append(all, lines)
	lines.Path = plainPath(lines.Path)
	return slices.Compact(append(all, lines)), checkLines(lines.Path)
}

// splitLines splits a citation into its path and its lines; there are none if it names none.
func splitLines(citation string) (GetRequest, error) {
	m := citedLines.FindStringSubmatch(citation)
	if m == nil {
		return GetRequest{Path: citation}, nil
	}
	r := GetRequest{Path: m[1]}
	var err error
	if r.From, err = lineNumber(m[2] + m[4]); err == nil && m[3]+m[5] != "" {
		r.Lines, err = lineNumber(m[3] + m[5])
	}
	if m[5] != "" {
		r.Lines = max(r.Lines-r.From+1, 1)
	}
	return r, err
}

func lineNumber(s string) (int, error) {
	n, err := strconv.Atoi(s)
	if err != nil || n < 1 || n > math.MaxInt32 {
		return 0, &InputError{Field: "path", Problem: s + " is not a line number; lines count from 1"}
	}
	return n, nil
}

// checkLines returns an error if the path of a memory file is followed by something else.
func checkLines(p string) error {
	m := mistakenLines.FindStringSubmatch(p)
	if m == nil || memoryFile.MatchString(p) {
		return nil
	}
	return &InputError{Field: "path", Problem: fmt.Sprintf("%q does not name lines of %s; write %s:7, %s:7-18 or %s#L7-L18", m[2], m[1], m[1], m[1], m[1])}
}

// wrappings are the pairs that texts put around a citation.
var wrappings = [][2]string{{`"`, `"`}, {"'", "'"}, {"`", "`"}, {"“", "”"}, {"‘", "’"}, {"«", "»"}, {"<", ">"}, {"[", "]"}, {"(", ")"}, {"**", "**"}}

// unwrap returns a citation without what stands around it: white space, punctuation behind it, quotes, brackets, or a link.
func unwrap(s string) string {
	for {
		before := s
		if s = strings.TrimLeft(strings.TrimSpace(s), "# @"); !strings.HasSuffix(s, "..") {
			s = strings.TrimRight(s, ".,;")
		}
		if m := citedLink.FindStringSubmatch(s); m != nil {
			s = m[1]
		}
		if name, ok := cutPair(strings.TrimPrefix(s, "!"), "[[", "]]"); ok {
			s, _, _ = strings.Cut(name, "|")
			if lines, err := splitLines(s); err == nil && lines.From == 0 {
				s, _, _ = strings.Cut(s, "#")
			}
		}
		for _, w := range wrappings {
			if inner, ok := cutPair(s, w[0], w[1]); ok {
				s = inner
				break
			}
		}
		if s == before {
			return s
		}
	}
}

// cutPair returns what stands between a beginning and an end.
func cutPair(s, begin, end string) (inner string, ok bool) {
	inner, ok = strings.CutPrefix(s, begin)
	if !ok {
		return s, false
	}
	return strings.CutSuffix(inner, end)
}

// plainPath returns the path that a URI of a file, an escaped path or one with backslashes means. A path that goes up stays as it is.
func plainPath(p string) string {
	uri := p
	for _, scheme := range []string{"file://localhost", "file://", "kioku:///"} {
		uri = strings.TrimPrefix(uri, scheme)
	}
	if plain, err := url.PathUnescape(uri); err == nil {
		uri = plain
	}
	uri = strings.ReplaceAll(uri, `\`, "/")
	if slices.Contains(strings.Split(uri, "/"), "..") {
		return uri
	}
	return path.Clean(uri)
}
