package main

import (
	"regexp"
	"strconv"
	"strings"

	"kioku/cmd/kioku/internal/render"
)

var (
	// citation matches a citation of a search result, "path#L3-L9" or "path#L3".
	citation = regexp.MustCompile(`^(.+)#L(\d+)(?:-L?(\d+))?$`)
	// mistaken matches the path of a memory file followed by something that is no line number.
	mistaken = regexp.MustCompile(`(?i)^(.+?\.(?:md|jsonl))([:#].*)$`)
	// memoryFile matches a path that ends like a memory file.
	memoryFile = regexp.MustCompile(`(?i)\.(?:md|jsonl)$`)
)

// parsePlace parses path, path:from, path:from:count or a citation. A number that is not given is 0. A colon without a
// number after it belongs to the path, unless the text before it is the path of a memory file.
func parsePlace(s string) (path string, from, count int32, err error) {
	if m := citation.FindStringSubmatch(s); m != nil {
		from, err = lineNumber(m[2])
		if err == nil && m[3] != "" {
			var last int32
			last, err = lineNumber(m[3])
			count = max(last-from+1, 1)
		}
		return m[1], from, count, err
	}
	path, last, ok := cutNumber(s)
	if !ok {
		return s, 0, 0, checkPath(s)
	}
	if shorter, first, ok := cutNumber(path); ok {
		if count, err = lineNumber(last); err != nil {
			return "", 0, 0, err
		}
		path, last = shorter, first
	}
	if err = checkPath(path); err == nil {
		from, err = lineNumber(last)
	}
	return path, from, count, err
}

// checkPath returns a misuse if the path of a memory file is followed by something that is no line number.
func checkPath(path string) error {
	m := mistaken.FindStringSubmatch(path)
	if m == nil || memoryFile.MatchString(path) {
		return nil
	}
	return render.Misuse("%q names no lines of %s; write %s:7, %s:7:12 or %s#L7-L18", m[2], m[1], m[1], m[1], m[1])
}

// cutNumber cuts ":123" off the end.
func cutNumber(s string) (rest, number string, ok bool) {
	i := strings.LastIndexByte(s, ':')
	if i <= 0 || i == len(s)-1 || strings.Trim(s[i+1:], "0123456789") != "" {
		return s, "", false
	}
	return s[:i], s[i+1:], true
}

func lineNumber(s string) (int32, error) {
	n, err := strconv.ParseInt(s, 10, 32)
	if err != nil || n < 1 {
		return 0, render.Misuse("%s is no line number; lines count from 1", s)
	}
	return int32(n), nil
}
