package web

import (
	"strings"

	"go.yaml.in/yaml/v3"

	"kioku/chunker"
	"kioku/internal/text"
)

// field is an entry of the front matter of a note.
type field struct{ Name, Value string }

// frontMatter returns the entries of the front matter at the start of a text, and the number of its lines. Keys of mappings within
// mappings are joined by dots, entries of lists by commas. Front matter that is no valid YAML has no entries and no lines, so that it is shown
// as it is.
func frontMatter(src string) (fields []field, lines int) {
	lines, _ = chunker.FrontMatterLines(src)
	if lines == 0 {
		return nil, 0
	}
	mapping, _, err := text.FrontMatter(src)
	if err != nil {
		return nil, 0
	}
	return flatten("", mapping), lines
}

// flatten returns the entries of a mapping, with a prefix before their names.
func flatten(prefix string, mapping *yaml.Node) []field {
	var fields []field
	for i := 0; i+1 < len(mapping.Content); i += 2 {
		name, value := prefix+mapping.Content[i].Value, mapping.Content[i+1]
		if value.Kind == yaml.MappingNode {
			fields = append(fields, flatten(name+".", value)...)
		} else {
			fields = append(fields, field{name, flat(value)})
		}
	}
	return fields
}

// flat returns a value on one line.
func flat(value *yaml.Node) string {
	switch value.Kind {
	case yaml.SequenceNode, yaml.MappingNode:
		var parts []string
		for _, child := range value.Content {
			parts = append(parts, flat(child))
		}
		return strings.Join(parts, ", ")
	}
	return value.Value
}
