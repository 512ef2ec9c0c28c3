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
	return metaOf(mapping), length
}

// metaOf returns the known keys of a mapping. It skips values of the wrong kind.
func metaOf(root *yaml.Node) Meta {
	var meta Meta
	for pair := range slices.Chunk(root.Content, 2) {
		key, value := pair[0].Value, pair[1]
		switch key {
		case "date":
			meta.Date = calendarDay(value.Value)
		case "tags":
			meta.Tags = stringList(value)
		case "evergreen":
			meta.Evergreen = slices.Contains([]string{"true", "yes", "on"}, strings.ToLower(value.Value))
		case "supersedes":
			meta.Supersedes = stringList(value)
		}
	}
	return meta
}

// stringList returns the items of a YAML list, or of a scalar with commas between them.
func stringList(value *yaml.Node) []string {
	var items []string
	keep := func(item string) {
		if item = strings.TrimSpace(item); item != "" {
			items = append(items, item)
		}
	}
	if value.Kind == yaml.ScalarNode && value.Tag != "!!null" {
		for item := range strings.SplitSeq(value.Value, ",") {
			keep(item)
		}
	}
	if value.Kind == yaml.SequenceNode {
		for _, item := range value.Content {
			keep(item.Value)
		}
	}
	return items
}
