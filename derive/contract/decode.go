package contract

import (
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"kioku/llm"
)

const (
	// maxAnswer bounds an answer in bytes, maxDepth the objects and lists in each other.
	maxAnswer = 64 << 10
	maxDepth  = 8
)

// Names of the normalisations that an answer may need, as they are counted.
const (
	NormalizedBOM   = "byte order mark"
	NormalizedSpace = "white space"
	NormalizedFence = "code fence"
)

// normalize removes a byte order mark, white space and one code fence around an answer and counts each.
func normalize(answer string, counts map[string]int) string {
	if rest, ok := strings.CutPrefix(answer, "\uFEFF"); ok {
		counts[NormalizedBOM]++
		answer = rest
	}
	trimmed := trimJSONSpace(answer)
	if trimmed != answer {
		counts[NormalizedSpace]++
	}
	first, rest, many := strings.Cut(trimmed, "\n")
	language, fenced := strings.CutPrefix(strings.TrimSpace(first), "```")
	if !many || !fenced || language != "" && !strings.EqualFold(language, "json") {
		return trimmed
	}
	inner, closed := strings.CutSuffix(rest, "```")
	if !closed || strings.Contains(inner, "```\n") {
		return trimmed
	}
	counts[NormalizedFence]++
	return trimJSONSpace(inner)
}

func trimJSONSpace(s string) string { return strings.Trim(s, " \t\r\n") }

// parseObject reads one JSON object and nothing else. The error says what is wrong in words that help a model.
func parseObject(answer string) (map[string]any, error) {
	if len(answer) > maxAnswer {
		return nil, fmt.Errorf("is longer than %d KiB", maxAnswer>>10)
	}
	if !utf8.ValidString(answer) {
		return nil, errors.New("is not UTF-8")
	}
	return llm.ReadObject(answer, maxDepth)
}

// join returns the path of a key.
func join(path, key string) string {
	if path == "" {
		return key
	}
	return path + "." + key
}
