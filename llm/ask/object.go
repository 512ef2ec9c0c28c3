package ask

import (
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"kioku/llm"
)

const (
	// MaxAnswer bounds an answer in bytes.
	MaxAnswer = 4 << 20
	// maxObject bounds the JSON object in it, and maxDepth the objects and lists in each other.
	maxObject = 256 << 10
	maxDepth  = 8
)

// findObject returns the JSON object in a reply, which may stand in a code fence or between sentences. A reply with two objects is
// refused, because nobody knows which of them counts.
func findObject(reply string) (map[string]any, error) {
	if len(reply) > MaxAnswer {
		return nil, fmt.Errorf("the reply is longer than %d MiB", MaxAnswer>>20)
	}
	if !utf8.ValidString(reply) {
		return nil, errors.New("the reply is not UTF-8")
	}
	reply = stripFence(strings.TrimSpace(strings.TrimPrefix(reply, "\uFEFF")))
	start := strings.IndexByte(reply, '{')
	if start < 0 {
		return nil, errors.New("the reply contains no JSON object")
	}
	end := objectEnd(reply[start:])
	switch {
	case end < 0:
		return nil, errors.New("the JSON object of the reply is not complete")
	case end > maxObject:
		return nil, fmt.Errorf("the JSON object of the reply is longer than %d KiB", maxObject>>10)
	case strings.ContainsRune(reply[start+end:], '{'):
		return nil, errors.New("the reply contains more than one JSON object")
	}
	object, err := llm.ReadObject(reply[start:start+end], maxDepth)
	if err != nil {
		return nil, fmt.Errorf("the reply %w", err)
	}
	return object, nil
}

// stripFence removes a code fence around the whole reply.
func stripFence(reply string) string {
	rest, ok := strings.CutPrefix(reply, "```")
	if !ok {
		return reply
	}
	_, inner, many := strings.Cut(rest, "\n")
	inner, closed := strings.CutSuffix(inner, "```")
	if !many || !closed {
		return reply
	}
	return strings.TrimSpace(inner)
}

// objectEnd returns the length of the balanced object with which s begins, -1 if it has no end.
func objectEnd(s string) int {
	depth, quoted := 0, false
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '{':
			depth++
		case c == '}':
			if depth--; depth == 0 {
				return i + 1
			}
		}
	}
	return -1
}
