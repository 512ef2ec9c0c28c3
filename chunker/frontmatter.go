package chunker

import (
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// maxFrontMatter is the size of the largest block in bytes. A larger one is plain text. The parser does not take linear
// time for every input, but only some milliseconds for inputs of this size.
const maxFrontMatter = 16 << 10

// frontMatter returns the metadata of the YAML block at the start of text, and the length of the block with its fences. The
// length is 0 if there is no block: if it does not start in line 1, is not closed, is too large, contains aliases or a
// key twice, or is not a mapping.
func frontMatter(text string) (Meta, int) {
	block, length := frontMatterBlock(text)
	if length == 0 {
		return Meta{}, 0
	}
	root, ok := parseMapping(block)
	if !ok {
		return Meta{}, 0
	}
	return metaOf(root), length
}

// frontMatterBlock returns the lines between the fences, and the length of the block with them, 0 if there is none.
func frontMatterBlock(text string) (string, int) {
	open := firstLine(text)
	if strings.TrimRight(open, " \t\n") != "---" {
		return "", 0
	}
	for end := len(open); end < len(text) && end <= maxFrontMatter; {
		line := firstLine(text[end:])
		if fence := strings.TrimRight(line, " \t\n"); fence == "---" || fence == "..." {
			return text[len(open):end], end + len(line)
		}
		end += len(line)
	}
	return "", 0
}

// parseMapping parses a block. ok is false if it is not a mapping, or one with aliases or a key twice.
func parseMapping(block string) (root *yaml.Node, ok bool) {
	// A bug in the parser must not end the process: the bytes may come from anybody.
	defer func() {
		if recover() != nil {
			root, ok = nil, false
		}
	}()
	var doc yaml.Node
	if err := yaml.Unmarshal([]byte(block), &doc); err != nil || len(doc.Content) != 1 {
		return nil, false
	}
	root = doc.Content[0]
	return root, root.Kind == yaml.MappingNode && plainTree(root)
}

// plainTree reports whether a tree contains no alias and no key twice in a mapping.
func plainTree(node *yaml.Node) bool {
	if node.Kind == yaml.AliasNode || node.Anchor != "" {
		return false
	}
	keys := map[string]bool{}
	for i, child := range node.Content {
		if node.Kind == yaml.MappingNode && i%2 == 0 {
			if keys[child.Value] {
				return false
			}
			keys[child.Value] = true
		}
		if !plainTree(child) {
			return false
		}
	}
	return true
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
