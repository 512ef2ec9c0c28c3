package prune

import "strings"

// selection decides by name whose results may be pruned. It remembers each name that it was asked for.
type selection struct {
	allow, deny []string
	known       map[string]bool
}

func newSelection(t Tools) *selection {
	return &selection{allow: lower(t.Allow), deny: lower(t.Deny), known: map[string]bool{}}
}

func lower(patterns []string) []string {
	out := make([]string, len(patterns))
	for i, p := range patterns {
		out[i] = strings.ToLower(strings.TrimSpace(p))
	}
	return out
}

// has tells whether the results of a tool may be pruned.
func (s *selection) has(name string) bool {
	ok, known := s.known[name]
	if !known {
		folded := strings.ToLower(name)
		ok = !matchAny(s.deny, folded) && (len(s.allow) == 0 || matchAny(s.allow, folded))
		s.known[name] = ok
	}
	return ok
}

func matchAny(patterns []string, name string) bool {
	for _, p := range patterns {
		if match(p, name) {
			return true
		}
	}
	return false
}

// match tells whether name is what pattern says, with "*" for any characters, none included. Its time is at most the
// product of the two lengths.
func match(pattern, name string) bool {
	p, n := 0, 0
	star, resume := -1, 0
	for n < len(name) {
		switch {
		case p < len(pattern) && pattern[p] == '*':
			star, resume = p, n
			p++
		case p < len(pattern) && pattern[p] == name[n]:
			p++
			n++
		case star >= 0:
			// The last star takes one more byte, and what follows it is tried again.
			resume++
			p, n = star+1, resume
		default:
			return false
		}
	}
	return strings.Trim(pattern[p:], "*") == ""
}
