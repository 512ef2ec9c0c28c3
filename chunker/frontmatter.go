package chunker

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"time"

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
		value = cmp.Or(wikiLink(value), value)
		switch value.Kind {
		case yaml.ScalarNode:
			fields = append(fields, Field{Name: name, Values: appendValue(nil, value)})
		case yaml.SequenceNode:
			var values []string
			for _, item := range value.Content {
				values = appendValue(values, cmp.Or(wikiLink(item), item))
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

// wikiLink returns the scalar of a link without quotation marks, [[Note]], which YAML reads as a list in a list; nil if the value is none.
func wikiLink(value *yaml.Node) *yaml.Node {
	if value.Style&yaml.FlowStyle == 0 || len(value.Content) != 1 || value.Content[0].Kind != yaml.SequenceNode {
		return nil
	}
	var words []string
	for _, word := range value.Content[0].Content {
		if word.Kind != yaml.ScalarNode {
			return nil
		}
		words = append(words, word.Value)
	}
	return &yaml.Node{Kind: yaml.ScalarNode, Value: "[[" + strings.Join(words, ", ") + "]]"}
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
			separator := " "
			for _, sign := range []string{",", ";"} {
				if strings.Contains(f.scalar(), sign) {
					separator = sign
				}
			}
			for _, tag := range f.items(separator) {
				m.Tags = addTag(m.Tags, tag)
			}
		case "evergreen":
			m.Evergreen = slices.Contains([]string{"true", "yes", "on"}, strings.ToLower(f.scalar()))
		}
	}
	for _, keys := range dateKeys {
		for _, f := range m.Fields {
			if m.Date == "" && slices.Contains(keys, keyMarks.Replace(f.Name)) {
				m.Date = f.day()
			}
		}
	}
}

// keyMarks takes out of a key what other programs write in it or do not.
var keyMarks = strings.NewReplacer(" ", "", "-", "", "_", "")

// dateKeys are the keys that date a file, without keyMarks, those that count most first: its day, and when it was published, created and changed.
var dateKeys = [][]string{
	{"date", "day", "datetime", "datum", "fecha", "data", "дата", "日付", "日期", "날짜"},
	{"published", "publishdate", "publisheddate", "datepublished", "publishedat", "publishedon", "pubdate", "publicationdate", "postdate"},
	{"created", "datecreated", "createddate", "createdat", "createdon", "createdtime", "createtime", "creationdate", "creationtime", "creation", "dateadded", "ctime"},
	{"updated", "dateupdated", "updateddate", "updatedat", "updatedon", "updatedtime", "updatetime", "updatedate", "lastupdated", "lastupdate",
		"modified", "datemodified", "modifieddate", "modifiedat", "modifiedon", "modifiedtime", "modificationdate", "lastmodified", "lastmod", "mtime"},
}

// day returns the day with which the only value of a field begins, "" if there is none. A time counts in its own zone, seconds or milliseconds
// since 1970 in UTC.
func (f Field) day() string {
	if len(f.Values) != 1 {
		return ""
	}
	value := f.Values[0]
	if n, err := strconv.ParseInt(value, 10, 64); err == nil && (len(value) == 10 || len(value) == 13) {
		if len(value) == 13 {
			n /= 1000
		}
		return time.Unix(n, 0).UTC().Format(time.DateOnly)
	}
	return text.DayOf(value)
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
	tag = strings.Trim(strings.TrimLeft(strings.Trim(tag, " -[]“”„‘’\"'"), "#"), "/ ")
	same := func(t string) bool { return strings.EqualFold(t, tag) }
	if tag == "" || len(tags) >= maxValues || slices.ContainsFunc(tags, same) {
		return tags
	}
	return append(tags, tag)
}
