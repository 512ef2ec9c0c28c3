package skills

import (
	"errors"
	"fmt"
	"regexp"
	"strings"

	"go.yaml.in/yaml/v3"
)

// maxFrontMatter bounds the front matter in bytes. The parser is not linear in everything, but nothing of this size keeps
// it busy for long.
const maxFrontMatter = 16 << 10

// skillName is what a skill may be called. It stands in lists and headings.
var skillName = regexp.MustCompile(`^[\pL\pN][\pL\pM\pN ._:-]{0,63}$`)

// words is a list in YAML, or one word.
type words []string

// UnmarshalYAML implements yaml.Unmarshaler.
func (w *words) UnmarshalYAML(n *yaml.Node) error {
	if n.Kind == yaml.ScalarNode {
		if n.Tag != "!!null" {
			*w = words{n.Value}
		}
		return nil
	}
	return n.Decode((*[]string)(w))
}

// needs are the gates of a skill.
type needs struct {
	Bins    words `yaml:"bins"`
	AnyBins words `yaml:"anyBins"`
	Env     words `yaml:"env"`
}

// header is the front matter of a SKILL.md.
type header struct {
	Name        string `yaml:"name"`
	Description string `yaml:"description"`
	Invocation  string `yaml:"invocation"`
	UserMay     *bool  `yaml:"user-invocable"`
	ModelMayNot bool   `yaml:"disable-model-invocation"`
	Requires    needs  `yaml:"requires"`
	OS          words  `yaml:"os"`
}

// parse returns the front matter and the body of a SKILL.md. Keys that it does not know are of other programs.
func parse(text string) (header, string, error) {
	block, body, err := split(text)
	if err != nil {
		return header{}, "", err
	}
	var h header
	if err := decode(block, &h); err != nil {
		return header{}, "", err
	}
	h.Name, h.Description, h.Invocation = oneLine(h.Name), oneLine(h.Description), oneLine(h.Invocation)
	switch {
	case h.Name == "":
		err = errors.New("front matter has no name")
	case !skillName.MatchString(h.Name):
		err = fmt.Errorf("name %.80q: take letters, digits, spaces and . _ : -, at most 64", h.Name)
	case h.Description == "":
		err = errors.New("front matter has no description")
	}
	return h, strings.TrimSpace(body), err
}

// split parts the front matter from what follows it.
func split(text string) (block, body string, err error) {
	first, rest, _ := strings.Cut(text, "\n")
	if strings.TrimRight(first, " \t") != "---" {
		return "", "", errors.New("no front matter: the first line is not ---")
	}
	for at := 0; at < len(rest) && at <= maxFrontMatter; {
		line, _, _ := strings.Cut(rest[at:], "\n")
		next := min(at+len(line)+1, len(rest))
		if strings.TrimRight(line, " \t") == "---" {
			return rest[:at], rest[next:], nil
		}
		at = next
	}
	return "", "", fmt.Errorf("front matter is not closed by --- within %d bytes", maxFrontMatter)
}

// decode reads YAML without aliases, which could make much of little.
func decode(block string, h *header) (err error) {
	// The parser is not ours and the bytes are anybody's: a bug in it must not end the process.
	defer func() {
		if recover() != nil {
			err = errors.New("front matter is no YAML that can be read")
		}
	}()
	var doc yaml.Node
	if err := yaml.Unmarshal([]byte(block), &doc); err != nil {
		return fmt.Errorf("front matter: %s", oneLine(err.Error()))
	}
	if len(doc.Content) != 1 || doc.Content[0].Kind != yaml.MappingNode {
		return errors.New("front matter is no mapping")
	}
	if aliased(&doc) {
		return errors.New("front matter uses anchors or aliases")
	}
	if err := doc.Decode(h); err != nil {
		return fmt.Errorf("front matter: %s", oneLine(err.Error()))
	}
	return nil
}

func aliased(n *yaml.Node) bool {
	if n.Kind == yaml.AliasNode || n.Anchor != "" {
		return true
	}
	for _, child := range n.Content {
		if aliased(child) {
			return true
		}
	}
	return false
}

// oneLine makes any blank space a single space.
func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }
