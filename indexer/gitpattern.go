package indexer

import (
	"bytes"
	"path"
	"strings"
)

// ignorePattern is a line of an ignore file, in the syntax of gitignore(5).
type ignorePattern struct {
	// names are the parts of the pattern between slashes; "**" stands for any number of folders. There is one for a pattern that is compared
	// with the name only.
	names []namePattern
	// anyFolder is set for such a pattern, negate for one that begins with "!", and onlyFolders for one that ends with a slash.
	anyFolder, negate, onlyFolders bool
}

// namePattern is a part of a pattern between slashes. Most are compared without path.Match.
type namePattern struct {
	text string
	// plain is set for a name, and suffix for one that follows a star.
	plain, suffix bool
}

// anyFolders is the part "**".
var anyFolders = namePattern{text: "**"}

func newNamePattern(text string) namePattern {
	after, star := strings.CutPrefix(text, "*")
	plain := !strings.ContainsAny(after, `*?[\`)
	return namePattern{text: text, plain: plain && !star, suffix: plain && star}
}

// matches reports whether the part matches a name.
func (p *namePattern) matches(name string) bool {
	switch {
	case p.plain:
		return p.text == name
	case p.suffix:
		return strings.HasSuffix(name, p.text[1:])
	}
	ok, err := path.Match(p.text, name)
	return ok && err == nil
}

// parseIgnoreFile returns the patterns of an ignore file, without malformed ones; nil if there are none.
func parseIgnoreFile(data []byte) (patterns []ignorePattern) {
	for line := range bytes.Lines(data) {
		text := trimPattern(string(line))
		if text == "" || text[0] == '#' {
			continue
		}
		if p, err := parseIgnorePattern(text); err == nil && len(p.names) > 0 {
			patterns = append(patterns, p)
		}
	}
	return patterns
}

// trimPattern removes the end of a line and the spaces before it, unless they are escaped.
func trimPattern(line string) string {
	line = strings.TrimSuffix(strings.TrimSuffix(line, "\n"), "\r")
	for strings.HasSuffix(line, " ") && !strings.HasSuffix(line, `\ `) {
		line = line[:len(line)-1]
	}
	return line
}

// parseIgnorePattern parses a pattern. It has no names if it matches nothing.
func parseIgnorePattern(text string) (ignorePattern, error) {
	var p ignorePattern
	text, p.negate = strings.CutPrefix(text, "!")
	text, p.onlyFolders = strings.CutSuffix(text, "/")
	p.anyFolder = !strings.Contains(text, "/")
	text = strings.TrimPrefix(text, "/")
	if text == "" {
		return p, nil
	}
	for name := range strings.SplitSeq(text, "/") {
		name = portableClasses.Replace(name)
		if _, err := path.Match(name, ""); err != nil || strings.Contains(name, "[:") {
			return p, path.ErrBadPattern
		}
		p.names = append(p.names, newNamePattern(name))
	}
	if p.names[len(p.names)-1] == anyFolders {
		p.names = append(p.names, newNamePattern("*")) // all that is in the folder, and not the folder
	}
	return p, nil
}

// portableClasses replaces what gitignore allows between brackets, and path.Match does not.
var portableClasses = strings.NewReplacer(`\[`, `\[`, `\\`, `\\`, "[!", "[^", "[:alpha:]", "a-zA-Z", "[:digit:]", "0-9", "[:alnum:]", "a-zA-Z0-9",
	"[:upper:]", "A-Z", "[:lower:]", "a-z", "[:xdigit:]", "0-9a-fA-F", "[:space:]", " \t", "[:blank:]", " \t")

// matches reports whether the pattern matches a path itself, and not merely a folder above it.
func (p *ignorePattern) matches(names []string, isDir bool) bool {
	if p.onlyFolders && !isDir {
		return false
	}
	if p.anyFolder {
		return p.names[len(p.names)-1].matches(names[len(names)-1])
	}
	return matchesNames(p.names, names)
}

// matchesNames matches the parts of a pattern with those of a path. "**" matches any number of names. After a mismatch only the
// last "**" can match one name more, so that no pattern takes long.
func matchesNames(pattern []namePattern, names []string) bool {
	at, star, next := 0, -1, 0
	for i := 0; i < len(names); {
		switch {
		case at < len(pattern) && pattern[at] == anyFolders:
			star, next = at, i
			at++
		case at < len(pattern) && pattern[at].matches(names[i]):
			at++
			i++
		case star >= 0:
			next++
			at, i = star+1, next
		default:
			return false
		}
	}
	return at == len(pattern)
}

// decide returns what the last pattern that matches a path says, and whether there is one.
func decide(patterns []ignorePattern, rel string, isDir bool) (ignored, matched bool) {
	if len(patterns) == 0 {
		return false, false
	}
	names := strings.Split(rel, "/")
	for i := len(patterns) - 1; i >= 0; i-- {
		if p := &patterns[i]; p.matches(names, isDir) {
			return !p.negate, true
		}
	}
	return false, false
}
