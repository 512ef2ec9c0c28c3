package analysis

import (
	"fmt"
	"hash/fnv"
	"strings"
	"unicode"
)

// NameKey returns the term by which the first chunk of a file with a name is found. Names have the same key if they differ
// only in case, accents, blank space and punctuation, except + and #: git_amend-author and "Git: amend author". The key is no
// term of a text. It is empty if the name has no letter and no digit.
func NameKey(name string) string {
	hash := fnv.New64a()
	any := false
	for _, r := range Unaccented(ToLower(Normalize(name))) {
		if unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r) || r == '+' || r == '#' {
			fmt.Fprintf(hash, "%c", r)
			any = any || unicode.IsLetter(r) || unicode.IsDigit(r)
		}
	}
	if !any {
		return ""
	}
	return fmt.Sprintf("=%016x", hash.Sum64())
}

// nameKeys returns the keys of names, one a line, without tags.
func nameKeys(names string) []string {
	var keys []string
	for name := range strings.SplitSeq(names, "\n") {
		if key := NameKey(name); key != "" && !strings.HasPrefix(name, "#") {
			keys = append(keys, key)
		}
	}
	return keys
}
