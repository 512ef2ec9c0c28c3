package skills

import (
	"errors"
	"fmt"
	"regexp"
	"strings"

	"go.yaml.in/yaml/v3"

	"kioku/internal/text"
)

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
	ModelMayNot bool   `yaml:"disable-model-invocation"`
	Requires    needs  `yaml:"requires"`
	OS          words  `yaml:"os"`
}

// parse returns the front matter and the body of a SKILL.md. Keys that it does not know are of other programs.
func parse(src string) (h header, body string, err error) {
	mapping, length, err := text.FrontMatter(src)
	if err != nil {
		return header{}, "", err
	}
	if err := decode(mapping, &h); err != nil {
		return header{}, "", fmt.Errorf("front matter: %s", text.OneLine(err.Error()))
	}
	h.Name, h.Description, h.Invocation = text.OneLine(h.Name), text.OneLine(h.Description), text.OneLine(h.Invocation)
	switch {
	case h.Name == "":
		err = errors.New("front matter has no name")
	case !skillName.MatchString(h.Name):
		err = fmt.Errorf("name %.80q: take letters, digits, spaces and . _ : -, at most 64", h.Name)
	case h.Description == "":
		err = errors.New("front matter has no description")
	}
	return h, strings.TrimSpace(src[length:]), err
}

// decode fills a header from a mapping. The bytes are foreign: a panic of the parser must not end the process.
func decode(mapping *yaml.Node, h *header) (err error) {
	defer func() {
		if recover() != nil {
			err = errors.New("cannot be parsed as YAML")
		}
	}()
	return mapping.Decode(h)
}
