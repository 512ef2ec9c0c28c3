package indexer

import (
	"fmt"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"

	"kioku/internal/text"
	"kioku/memory"
)

// WholeFolder are the globs that include every Markdown file of a workspace.
var WholeFolder = []string{"**/*.md"}

// Limits of a glob, which may come from strangers. The time to match braces doubles with each of them.
const (
	maxGlobBytes  = 1024
	maxGlobBraces = 4
	maxGlobCommas = 16
)

// CheckGlobs returns an error that names the first glob of Options.Include or Options.Exclude that is malformed or can match no
// path: those of files in the workspace are relative to it, and only others, which Exclude may match, are absolute.
func CheckGlobs(include, exclude []string) error {
	for i, glob := range slices.Concat(include, exclude) {
		if err := checkGlob(glob); err != nil {
			return err
		}
		parts := strings.Split(glob, "/")
		switch {
		case slices.Contains(parts, ".."), i < len(include) && strings.HasPrefix(glob, "/"):
			return fmt.Errorf("glob %.80q leads out of the workspace; write it relative to the workspace, without \"..\", and name other folders in extraPaths", glob)
		case strings.HasPrefix(glob, "./"), slices.Contains(parts, "."):
			return fmt.Errorf("glob %.80q matches nothing, for paths have no \".\"; leave it out", glob)
		}
	}
	return nil
}

// checkGlob returns an error that says what is wrong with a glob; nil if nothing is.
func checkGlob(glob string) error {
	switch {
	case len(glob) > maxGlobBytes, strings.Count(glob, "{") > maxGlobBraces, strings.Count(glob, ",") > maxGlobCommas:
		return fmt.Errorf("glob %.80q: more than %d bytes, %d braces or %d commas; use several globs", glob, maxGlobBytes, maxGlobBraces, maxGlobCommas)
	case glob == "" || !doublestar.ValidatePattern(glob):
		return fmt.Errorf("malformed glob %.80q (close every [ by a ] and every { by a }, or write \\[ for the character itself)", glob)
	}
	return nil
}

// matchesGlob reports whether a glob matches a path or a folder above it. A slash at its end says only that it means a folder.
func matchesGlob(glob, p string) bool {
	glob = strings.TrimSuffix(glob, "/")
	return doublestar.MatchUnvalidated(glob, p) || doublestar.MatchUnvalidated(glob+"/**", p)
}

// Matcher returns a function that reports whether a glob selects a path; the empty glob selects all. A glob without a slash matches in any
// folder. It returns a *memory.InputError for a malformed glob.
func Matcher(glob string) (func(path string) bool, error) {
	glob = strings.TrimSuffix(strings.TrimPrefix(glob, "./"), "/")
	if glob == "" {
		return func(string) bool { return true }, nil
	}
	if err := checkGlob(glob); err != nil {
		return nil, &memory.InputError{Field: "glob", Problem: err.Error()}
	}
	if !strings.Contains(glob, "/") {
		glob = "**/" + glob
	}
	return func(path string) bool { return matchesGlob(glob, path) }, nil
}

// matchesAny reports whether one of the globs matches a path or a folder above it. *.md matches all Markdown: NOTES.MD and a.markdown too.
func matchesAny(globs []string, p string) bool {
	plain := p
	if ext := text.MarkdownExtension(p); ext != "" {
		plain = strings.TrimSuffix(p, ext) + ".md"
	}
	return slices.ContainsFunc(globs, func(glob string) bool {
		return matchesGlob(glob, p) || plain != p && matchesGlob(glob, plain)
	})
}

// mayMatchBelow reports whether a glob may match a folder, or a path below it. It never misses one.
func mayMatchBelow(glob, dir string) bool {
	if strings.Contains(glob, "{") || matchesGlob(glob, dir) {
		return true
	}
	parts := strings.Split(strings.TrimSuffix(glob, "/"), "/")
	for i, name := range strings.Split(dir, "/") {
		if i >= len(parts) {
			return false
		}
		if parts[i] == "**" {
			return true
		}
		if !doublestar.MatchUnvalidated(parts[i], name) {
			return false
		}
	}
	return true
}
