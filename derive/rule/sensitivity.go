package rule

import (
	"strings"

	"github.com/bmatcuk/doublestar/v4"
	"go.yaml.in/yaml/v3"

	"kioku/internal/secrets"
	"kioku/internal/text"
	"kioku/memory"
)

var (
	privateTag = text.NewRegexp(`(?i)<(/?)private>`)
	// unreadSensitivity is in front matter that no parser of YAML accepts, but that says something about its sensitivity.
	unreadSensitivity = text.NewRegexp(`(?mi)^\s*(?:sensitivity|private)\s*:`)
)

// sensitivityNamed returns the sensitivity that a word in front matter names. An unknown word is private: somebody meant something.
func sensitivityNamed(word string) memory.Sensitivity {
	switch strings.ToLower(strings.TrimSpace(word)) {
	case "normal", "public", "none", "":
		return memory.Normal
	case "secret":
		return memory.Secret
	}
	return memory.Private
}

// sensitivityOf returns the sensitivity of a file by its path.
func (r *Rules) sensitivityOf(p string) memory.Sensitivity {
	for _, glob := range r.opt.Private {
		if doublestar.MatchUnvalidated(glob, p) || doublestar.MatchUnvalidated(glob+"/**", p) {
			return memory.Private
		}
	}
	return memory.Normal
}

// sensitivities returns the sensitivity of each of the n lines of a text by what stands there: <private> up to </private>, or to the
// end if it is not closed, and secrets.
func sensitivities(normal string, n int) []memory.Sensitivity {
	levels := make([]memory.Sensitivity, n)
	mark := func(start, end int, level memory.Sensitivity) {
		from := strings.Count(normal[:start], "\n")
		for i := from; i <= from+strings.Count(normal[start:end], "\n") && i < n; i++ {
			levels[i] = max(levels[i], level)
		}
	}
	depth, start := 0, 0
	for _, tag := range privateTag.FindAllStringSubmatchIndex(normal, -1) {
		switch opens := tag[2] == tag[3]; {
		case opens && depth == 0:
			depth, start = 1, tag[0]
		case opens:
			depth++
		case depth == 1:
			depth = 0
			mark(start, tag[1], memory.Private)
		case depth > 1:
			depth--
		}
	}
	if depth > 0 {
		mark(start, len(normal), memory.Private)
	}
	for _, s := range secrets.Find(normal) {
		mark(s.Start, s.End, memory.Secret)
	}
	return levels
}

// maxScalar is the maximum length in bytes of a value in front matter.
const maxScalar = 256

// scalars returns the values of a node that is a scalar or a list of scalars, without blank and long ones.
func scalars(node *yaml.Node) []string {
	list := []*yaml.Node{node}
	if node.Kind == yaml.SequenceNode {
		list = node.Content
	}
	var values []string
	for _, item := range list {
		value := text.OneLine(item.Value)
		if item.Kind == yaml.ScalarNode && item.Tag != "!!null" && value != "" && len(value) <= maxScalar {
			values = append(values, value)
		}
	}
	return values
}
