package modelhttp

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"kioku/internal/text"
)

const (
	// maxQuotable bounds in characters the part of a server's error that is considered.
	maxQuotable = 1 << 10
	// secretWindow is how many consecutive bytes of a secret are not shown.
	secretWindow = 6
)

// quote returns what a server said in an error, on one line, without any part of secrets and without window consecutive bytes
// of texts: servers often repeat what they were sent.
func quote(body []byte, secrets, texts []string, window int) string {
	said := text.Shorten(message(body), maxQuotable)
	hidden := make([]bool, len(said))
	hide(hidden, said, secrets, secretWindow)
	hide(hidden, said, texts, window)
	return reveal(said, hidden)
}

// message returns the strings in a JSON body, or the body itself if it is not JSON.
func message(body []byte) string {
	var v any
	if json.Unmarshal(body, &v) != nil {
		return text.OneLine(string(body))
	}
	var said []string
	collect(v, &said)
	return text.OneLine(strings.Join(said, ": "))
}

// collect appends the strings within v, in the order of their keys.
func collect(v any, said *[]string) {
	switch v := v.(type) {
	case string:
		*said = append(*said, v)
	case []any:
		for _, e := range v {
			collect(e, said)
		}
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(v)) {
			collect(v[key], said)
		}
	}
}

// hide marks the bytes of said that repeat window or more bytes of one of the originals, or all of a shorter one.
func hide(hidden []bool, said string, originals []string, window int) {
	places := map[string][]int{}
	for i := 0; i+window <= len(said); i++ {
		places[said[i:i+window]] = append(places[said[i:i+window]], i)
	}
	mark := func(from, n int) {
		for i := from; i < from+n; i++ {
			hidden[i] = true
		}
	}
	for _, original := range originals {
		original = text.OneLine(original)
		for i := 0; i+window <= len(original); i++ {
			for _, at := range places[original[i:i+window]] {
				mark(at, window)
			}
			delete(places, original[i:i+window]) // a long run of dashes must not cost its square
		}
		if n := len(original); n > 1 && n < window {
			for at := range said {
				if strings.HasPrefix(said[at:], original) {
					mark(at, n)
				}
			}
		}
	}
}

// reveal returns said with "[...]" in place of each run of hidden characters.
func reveal(said string, hidden []bool) string {
	var b strings.Builder
	inside := false
	for i, r := range said {
		now := slices.Contains(hidden[i:i+utf8.RuneLen(r)], true)
		if now && !inside {
			b.WriteString("[...]")
		} else if !now {
			b.WriteRune(r)
		}
		inside = now
	}
	return b.String()
}
