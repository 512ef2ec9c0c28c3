package text

import (
	"errors"
	"fmt"
	"strings"

	"go.yaml.in/yaml/v3"
)

// maxFrontMatter bounds the front matter in bytes. The YAML parser is not linear in everything, but nothing of this size
// keeps it busy for more than some milliseconds.
const maxFrontMatter = 16 << 10

// ErrNoFrontMatter reports that the first line of a text is not ---.
var ErrNoFrontMatter = errors.New("no front matter: the first line is not ---")

// FrontMatterBlock returns the text between the lines --- at the start of s, and the length up to behind the second one (or
// ...). It returns an error and the length 0 if there is no such block, or if it is not closed within 16 KiB.
func FrontMatterBlock(s string) (block string, length int, err error) {
	first := FirstLine(s)
	if strings.TrimRight(first, " \t\n") != "---" {
		return "", 0, ErrNoFrontMatter
	}
	for end := len(first); end < len(s) && end <= maxFrontMatter; {
		line := FirstLine(s[end:])
		if fence := strings.TrimRight(line, " \t\n"); fence == "---" || fence == "..." {
			return s[len(first):end], end + len(line), nil
		}
		end += len(line)
	}
	return "", 0, fmt.Errorf("front matter is not closed by --- within %d bytes", maxFrontMatter)
}

// FirstProperty returns the first line of a block of front matter that is neither blank nor a comment, without blanks around it; "" if there is none.
func FirstProperty(block string) string {
	for line := range strings.Lines(block) {
		if line = strings.TrimSpace(line); line != "" && line[0] != '#' {
			return line
		}
	}
	return ""
}

// FrontMatter returns the mapping in the YAML block at the start of s, and the length of the block with the lines --- before
// and after it (or ... after it). It returns an error and the length 0 if there is no such block, if it is not closed within
// 16 KiB, is not a mapping, or uses anchors, aliases or a key twice.
func FrontMatter(s string) (mapping *yaml.Node, length int, err error) {
	block, length, err := FrontMatterBlock(s)
	if err != nil {
		return nil, 0, err
	}
	if mapping, err = parseMapping(block); err != nil {
		return nil, 0, err
	}
	return mapping, length, nil
}

// parseMapping returns the mapping that block is.
func parseMapping(block string) (mapping *yaml.Node, err error) {
	// The bytes are foreign: a panic of the parser must not end the process.
	defer func() {
		if recover() != nil {
			mapping, err = nil, errors.New("front matter cannot be parsed as YAML")
		}
	}()
	var doc yaml.Node
	if err := yaml.Unmarshal([]byte(block), &doc); err != nil {
		return nil, fmt.Errorf("front matter: %s", OneLine(err.Error()))
	}
	if len(doc.Content) != 1 || doc.Content[0].Kind != yaml.MappingNode {
		return nil, errors.New("front matter is not a mapping")
	}
	return doc.Content[0], checkTree(doc.Content[0])
}

// checkTree returns an error for a tree with anchors or aliases, which could make much of little, or with a key twice in
// one mapping.
func checkTree(node *yaml.Node) error {
	if node.Kind == yaml.AliasNode || node.Anchor != "" {
		return errors.New("front matter uses anchors or aliases")
	}
	keys := map[string]bool{}
	for i, child := range node.Content {
		if node.Kind == yaml.MappingNode && i%2 == 0 {
			if keys[child.Value] {
				return fmt.Errorf("front matter: the key %.80q is already defined", child.Value)
			}
			keys[child.Value] = true
		}
		if err := checkTree(child); err != nil {
			return err
		}
	}
	return nil
}
