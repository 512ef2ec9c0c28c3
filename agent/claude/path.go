package claude

import (
	"path"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"
)

const (
	// top is what the model calls the folder.
	top = "/memories"
	// maxNameBytes bounds each name of a path, with room for what file systems take.
	maxNameBytes = 200
)

// escape is a byte as URLs write it.
var escape = regexp.MustCompile(`%[0-9A-Fa-f]{2}`)

// parsePath returns what a model's path means relative to the folder, "." for the folder itself. Names are taken as they
// stand: nothing is decoded, cleaned or resolved. What could mean more than one place is refused.
func parsePath(field, p string) (string, error) {
	switch {
	case !utf8.ValidString(p):
		return "", refuse(field, "must be valid UTF-8")
	case escape.MatchString(p):
		return "", refuse(field, "%.100q must be written as it is, without %%-escapes", p)
	}
	rest := strings.TrimSuffix(p, "/")
	if rest == top {
		return ".", nil
	}
	rel, ok := strings.CutPrefix(rest, top+"/")
	if !ok {
		return "", refuse(field, "%.100q must begin with %s/", p, top)
	}
	for name := range strings.SplitSeq(rel, "/") {
		if problem := nameProblem(name); problem != "" {
			return "", refuse(field, "%.100q %s", p, problem)
		}
	}
	return rel, nil
}

// nameProblem says why a name can be none of a file or folder of notes, empty if it can.
func nameProblem(name string) string {
	switch {
	case name == "":
		return "has an empty name between two slashes"
	case strings.HasPrefix(name, "."):
		return "is hidden or leads elsewhere: names must not begin with a dot"
	case len(name) > maxNameBytes:
		return "has a name that is too long"
	case strings.TrimSpace(name) != name:
		return "has a name that begins or ends with a space"
	case strings.ContainsRune(name, '\\'):
		return "has a backslash; folders are separated by /"
	case strings.ContainsFunc(name, func(r rune) bool { return !unicode.IsGraphic(r) }):
		return "has a character that cannot be seen"
	}
	return ""
}

// shown is a path relative to the folder as the model knows it.
func shown(rel string) string { return path.Join(top, rel) }
