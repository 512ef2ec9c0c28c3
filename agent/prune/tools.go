package prune

import (
	"regexp"
	"strings"
)

// prunableTools returns a function that reports whether the results of a tool may be pruned.
func prunableTools(t Tools) func(name string) bool {
	allow, deny := namePattern(t.Allow), namePattern(t.Deny)
	return func(name string) bool {
		return (len(t.Allow) == 0 || allow.MatchString(name)) && !deny.MatchString(name)
	}
}

// namePattern matches the names that one of the patterns describes, with "*" for any characters, none included; none for no
// patterns. Case does not matter.
func namePattern(patterns []string) *regexp.Regexp {
	alternatives := make([]string, len(patterns))
	for i, p := range patterns {
		alternatives[i] = strings.ReplaceAll(regexp.QuoteMeta(strings.TrimSpace(p)), `\*`, ".*")
	}
	if len(patterns) == 0 {
		return regexp.MustCompile(`[^\s\S]`)
	}
	return regexp.MustCompile(`(?is)^(?:` + strings.Join(alternatives, "|") + `)$`)
}
