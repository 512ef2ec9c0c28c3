package chunker

import (
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// maxFrontMatter bounds the block in bytes. A larger one is plain text. The parser is not linear in everything, but
// nothing of this size keeps it busy for more than some milliseconds.
const maxFrontMatter = 16 << 10

// frontMatter returns what the YAML block at the start of text says, and the length of the block with its fences. It
// returns 0 if there is none: if it doesn't start in line 1, is never closed, is too large, uses aliases or a key
// twice, or is no mapping.
func frontMatter(text string) (Meta, int) {
	block, length := frontMatterBlock(text)
	if length == 0 {
		return Meta{}, 0
	}
	root, ok := parseMapping(block)
	if !ok {
		return Meta{}, 0
	}
	return readMeta(root), length
}

// frontMatterBlock returns the lines between the fences and the length of all; 0 where there is no such block.
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

// parseMapping returns the mapping that block is.
func parseMapping(block string) (root *yaml.Node, ok bool) {
	// The parser is not ours and the bytes are anybody's: a bug in it must not end the process.
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

// plainTree is true for a tree without aliases and with no key twice in a mapping.
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
