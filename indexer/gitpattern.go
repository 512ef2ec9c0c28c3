package indexer

import (
	"bytes"
	"path"
	"strings"

	"github.com/bmatcuk/doublestar/v4"
)

// ignorePattern is a line of an ignore file, in the syntax of gitignore(5).
type ignorePattern struct {
	// glob is compared with the path in the folder of the file, or with the name only if anyFolder is set.
	glob      string
	anyFolder bool
	// plain is set if the name must be equal to the glob, and suffix if it must end with what follows the star of it: most are compared so.
	plain, suffix bool
	// negate is set for a pattern that begins with "!", and onlyFolders for one that ends with a slash.
	negate, onlyFolders bool
}

// parseIgnoreFile returns the patterns of an ignore file, without malformed ones; nil if there are none.
func parseIgnoreFile(data []byte) (patterns []ignorePattern) {
	for line := range bytes.Lines(data) {
		text := trimPattern(string(line))
		if text == "" || text[0] == '#' {
			continue
		}
		if p := parseIgnorePattern(text); p.glob != "" && doublestar.ValidatePattern(p.glob) && !strings.Contains(p.glob, "[:") {
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

// parseIgnorePattern parses a pattern. Its glob is empty if it matches nothing.
func parseIgnorePattern(text string) (p ignorePattern) {
	text, p.negate = strings.CutPrefix(text, "!")
	text, p.onlyFolders = strings.CutSuffix(text, "/")
	p.anyFolder = !strings.Contains(text, "/")
	p.glob = portableClasses.Replace(strings.TrimPrefix(text, "/"))
	if strings.HasSuffix(p.glob, "/**") {
		p.glob += "/*" // all that is in the folder, and not the folder
	}
	if after, star := strings.CutPrefix(p.glob, "*"); p.anyFolder && !strings.ContainsAny(after, `*?[\`) {
		p.plain, p.suffix = !star, star
	}
	return p
}

// portableClasses replaces what gitignore allows between brackets and doublestar does not, and escapes what only doublestar allows.
var portableClasses = strings.NewReplacer(`\[`, `\[`, `\\`, `\\`, `\{`, `\{`, "{", `\{`, "[!", "[^", "[:alpha:]", "a-zA-Z", "[:digit:]", "0-9", "[:alnum:]", "a-zA-Z0-9",
	"[:upper:]", "A-Z", "[:lower:]", "a-z", "[:xdigit:]", "0-9a-fA-F", "[:space:]", " \t", "[:blank:]", " \t")

// matches reports whether the pattern matches a path itself, and not merely a folder above it.
func (p *ignorePattern) matches(rel string, isDir bool) bool {
	if p.onlyFolders && !isDir {
		return false
	}
	if !p.anyFolder {
		return doublestar.MatchUnvalidated(p.glob, rel)
	}
	switch name := path.Base(rel); {
	case p.plain:
		return name == p.glob
	case p.suffix:
		return strings.HasSuffix(name, p.glob[1:])
	default:
		return doublestar.MatchUnvalidated(p.glob, name)
	}
}

// decide returns what the last pattern that matches a path says, and whether there is one.
func decide(patterns []ignorePattern, rel string, isDir bool) (ignored, matched bool) {
	for i := len(patterns) - 1; i >= 0; i-- {
		if p := &patterns[i]; p.matches(rel, isDir) {
			return !p.negate, true
		}
	}
	return false, false
}
