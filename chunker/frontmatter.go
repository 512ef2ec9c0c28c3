package chunker

import (
	"cmp"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"kioku/internal/text"
)

// Limits of front matter. A file with more is no error; the rest of it is left out.
const (
	maxFields     = 64
	maxValues     = 64
	maxFieldName  = 64
	maxValueBytes = 256
	// maxDepth is how many mappings may be within each other.
	maxDepth = 4
)

// frontMatter returns what the YAML block at the start of a text says, and the length of the block with its fences. It
// returns 0 if there is no such block.
func frontMatter(src string) (Meta, int) {
	mapping, length, slip := text.LooseFrontMatter(src)
	if mapping == nil {
		return Meta{}, 0
	}
	meta := Meta{Fields: appendFields(nil, "", mapping, maxDepth), Slip: slip}
	meta.readKnown()
	return meta, length
}

// appendFields appends the fields of a mapping. Names get a prefix.
func appendFields(fields []Field, prefix string, mapping *yaml.Node, depth int) []Field {
	for pair := range slices.Chunk(mapping.Content, 2) {
		name, value := prefix+strings.ToLower(strings.TrimSpace(pair[0].Value)), pair[1]
		if pair[0].Kind != yaml.ScalarNode || name == prefix || len(name) > maxFieldName || len(fields) >= maxFields {
			continue
		}
		switch value.Kind {
		case yaml.ScalarNode:
			fields = append(fields, Field{Name: name, Values: appendValue(nil, value)})
		case yaml.SequenceNode:
			var values []string
			for _, item := range value.Content {
				values = appendValue(values, item)
			}
			fields = append(fields, Field{Name: name, Values: values, List: true})
		case yaml.MappingNode:
			if depth > 1 {
				fields = appendFields(fields, name+".", value, depth-1)
			}
		}
	}
	return fields
}

// appendValue appends the value of a scalar, unless it is blank, too long or one too many.
func appendValue(values []string, scalar *yaml.Node) []string {
	value := text.OneLine(scalar.Value)
	if scalar.Kind != yaml.ScalarNode || scalar.Tag == "!!null" || value == "" || len(value) > maxValueBytes || len(values) >= maxValues {
		return values
	}
	return append(values, value)
}

// readKnown fills in what Kioku knows from the fields.
func (m *Meta) readKnown() {
	for _, f := range m.Fields {
		switch f.Name {
		case "title":
			m.Title = cmp.Or(m.Title, f.scalar())
		case "alias", "aliases":
			m.Aliases = append(m.Aliases, f.items(",")...)
		case "tag", "tags":
			separator := ","
			if !strings.Contains(f.scalar(), ",") {
				separator = " "
			}
			for _, tag := range f.items(separator) {
				m.Tags = addTag(m.Tags, tag)
			}
		case "evergreen":
			m.Evergreen = slices.Contains([]string{"true", "yes", "on"}, strings.ToLower(f.scalar()))
		}
	}
	for _, name := range []string{"date", "published", "created", "updated"} {
		if m.Date == "" {
			m.Date = m.day(name)
		}
	}
}

// day returns the day with which the value of a field begins, "" if there is none. A time counts in its own zone.
func (m *Meta) day(name string) string {
	for _, f := range m.Fields {
		if f.Name == name {
			if day, start, _ := text.FindDay(f.scalar()); start == 0 {
				return day
			}
		}
	}
	return ""
}

// scalar returns the value of a field that is no list, "" if it has none.
func (f Field) scalar() string {
	if f.List || len(f.Values) == 0 {
		return ""
	}
	return f.Values[0]
}

// items returns the values of a list, or the parts of a scalar.
func (f Field) items(separator string) []string {
	if f.List {
		return f.Values
	}
	var items []string
	for item := range strings.SplitSeq(f.scalar(), separator) {
		if item = strings.TrimSpace(item); item != "" {
			items = append(items, item)
		}
	}
	return items
}

// addTag appends a tag without its sign, unless the list has it in any case or is full.
func addTag(tags []string, tag string) []string {
	tag = strings.Trim(strings.TrimLeft(strings.TrimSpace(tag), "#"), "/ ")
	same := func(t string) bool { return strings.EqualFold(t, tag) }
	if tag == "" || len(tags) >= maxValues || slices.ContainsFunc(tags, same) {
		return tags
	}
	return append(tags, tag)
}
