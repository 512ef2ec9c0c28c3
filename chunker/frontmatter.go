package chunker

import (
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"kioku/internal/text"
)

// frontMatter returns what the YAML block at the start of a text says, and the length of the block with its fences. It
// returns 0 if there is no such block.
func frontMatter(src string) (Meta, int) {
	mapping, length, err := text.FrontMatter(src)
	if err != nil {
		return Meta{}, 0
	}
	return readMeta(mapping), length
}

// readMeta takes the known keys from a mapping. A value of the wrong shape counts as none.
func readMeta(root *yaml.Node) Meta {
	var meta Meta
	for pair := range slices.Chunk(root.Content, 2) {
		key, value := pair[0].Value, pair[1]
		switch key {
		case "date":
			meta.Date = calendarDay(value.Value)
		case "tags":
			meta.Tags = list(value)
		case "evergreen":
			meta.Evergreen = slices.Contains([]string{"true", "yes", "on"}, strings.ToLower(value.Value))
		case "supersedes":
			meta.Supersedes = list(value)
		}
	}
	return meta
}

// list returns the words of a YAML list, or of a scalar that is split at commas.
func list(value *yaml.Node) []string {
	var words []string
	add := func(word string) {
		if word = strings.TrimSpace(word); word != "" {
			words = append(words, word)
		}
	}
	if value.Kind == yaml.ScalarNode && value.Tag != "!!null" {
		for word := range strings.SplitSeq(value.Value, ",") {
			add(word)
		}
	}
	if value.Kind == yaml.SequenceNode {
		for _, item := range value.Content {
			add(item.Value)
		}
	}
	return words
}
