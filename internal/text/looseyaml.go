package text

import (
	"fmt"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

var (
	// keyLine is a line "key: value" whose key is at most three words. The value may be empty.
	keyLine = NewRegexp(`^["']?([\p{L}_][\p{L}\p{N}_.-]*(?: [\p{L}\p{N}_.-]+){0,2})["']?[ \t]*:(?:[ \t]+(.*)|([^/\s].*)|)$`)
	// yamlSlip is an error of parseMapping: the line in the text that was parsed, if it is known, and what is wrong.
	yamlSlip = NewRegexp(`^front matter:? (?:yaml: )?(?:line (\d+): )?(.*)$`)
	// signedTag is a tag with its sign as an item or as the value of a key for tags, which YAML takes for a comment.
	signedTag = NewRegexp(`(?mi)^(\s*- |tags?:[ \t]+)(#[^\s#"\\][^"\\\n]*)$`)
	// anchor is the mark of YAML before a value, and alias a value that repeats another one.
	anchor = NewRegexp(`^&[\w-]+(?:\s+|$)`)
	alias  = NewRegexp(`^\*[\w-]+$`)
)

// LooseFrontMatter returns what [FrontMatter] returns, also of a block that is no valid YAML if its first property is "key: value". Then slip is
// the first thing that is wrong, "front matter, line 3: found unexpected end of stream", with the line in s. Each key of such a block is read as YAML with the
// lines below it; if that fails, its lines "key: value" and "- item" are read as they stand. A key may be there twice, and "tags: #tea" is no comment.
// The mapping is nil and the length 0 if there is no front matter.
func LooseFrontMatter(s string) (mapping *yaml.Node, length int, slip string) {
	block, length, err := FrontMatterBlock(s)
	if err != nil {
		return nil, 0, ""
	}
	block = signedTag.ReplaceAllString(block, `$1"$2"`)
	mapping, err = parseMapping(block)
	if err == nil {
		return mapping, length, ""
	}
	if !keyLine.MatchString(FirstProperty(block)) {
		return nil, 0, ""
	}
	r := looseReader{mapping: &yaml.Node{Kind: yaml.MappingNode}, keys: map[string]bool{}, next: 2}
	for _, entry := range entriesOf(block) {
		r.readEntry(entry)
	}
	if r.slip == "" {
		r.next = 2
		r.tell(err, block)
	}
	return r.mapping, length, r.slip
}

// entriesOf cuts a block before each line that is a key and not indented.
func entriesOf(block string) []string {
	var entries []string
	for line := range strings.Lines(block) {
		isKey := keyLine.MatchString(strings.TrimRight(line, " \t\n"))
		if isKey || len(entries) == 0 {
			entries = append(entries, "")
		}
		entries[len(entries)-1] += line
	}
	return entries
}

// looseReader collects what can be read of front matter.
type looseReader struct {
	mapping *yaml.Node
	keys    map[string]bool
	// next is the number of the first line of the next entry.
	next int
	slip string
}

// readEntry reads a key with the lines below it.
func (r *looseReader) readEntry(entry string) {
	read, err := parseMapping(entry)
	if err != nil && strings.TrimSpace(entry) != "" {
		read = readLines(entry)
		r.tell(err, entry)
	}
	if read != nil {
		for i := 0; i < len(read.Content); i += 2 {
			key := read.Content[i].Value
			if r.keys[key] {
				r.tell(fmt.Errorf("front matter: the key %.80q is already defined", key), entry)
			}
			r.keys[key] = true
		}
		r.mapping.Content = append(r.mapping.Content, read.Content...)
	}
	r.next += strings.Count(entry, "\n")
}

// tell records what is wrong in the text that begins at the next line, if nothing was wrong before.
func (r *looseReader) tell(err error, read string) {
	m := yamlSlip.FindStringSubmatch(err.Error())
	if m == nil || r.slip != "" {
		return
	}
	line, _ := strconv.Atoi(m[1])
	if line > strings.Count(read, "\n") {
		line = 1 // the parser was at the end of the text
	}
	r.slip = fmt.Sprintf("front matter, line %d: %s", r.next+max(line-1, 0), m[2])
}

// readLines returns the mapping of the lines "key: value" and "- item" of an entry. Other lines go on with the value above them.
func readLines(entry string) *yaml.Node {
	mapping := &yaml.Node{Kind: yaml.MappingNode}
	var value *yaml.Node
	for line := range strings.Lines(entry) {
		line = strings.TrimSpace(line)
		m := keyLine.FindStringSubmatch(line)
		item, isItem := strings.CutPrefix(line, "- ")
		switch {
		case line == "" || line[0] == '#':
		case isItem && value != nil:
			value.Kind = yaml.SequenceNode
			value.Content = append(value.Content, scalarNode(item))
		case m != nil:
			value = &yaml.Node{Kind: yaml.ScalarNode, Value: m[2] + m[3]}
			mapping.Content = append(mapping.Content, scalarNode(m[1]), value)
		case value != nil:
			value.Value += " " + line
		}
	}
	for i := 1; i < len(mapping.Content); i += 2 {
		readValue(mapping.Content[i])
	}
	return mapping
}

// readValue makes a list of the scalar "[a, b]", whose last bracket may be missing, and takes the marks of YAML from another one.
func readValue(value *yaml.Node) {
	value.Value = anchor.ReplaceAllString(strings.TrimSpace(value.Value), "")
	list, isList := strings.CutPrefix(value.Value, "[")
	switch {
	case value.Kind == yaml.SequenceNode:
		value.Value = ""
	case isList && !strings.HasPrefix(list, "["):
		value.Kind, value.Value = yaml.SequenceNode, ""
		for item := range strings.SplitSeq(strings.TrimRight(list, "] "), ",") {
			value.Content = append(value.Content, scalarNode(item))
		}
	default:
		*value = *scalarNode(value.Value)
	}
}

// scalarNode returns a scalar without the quotation marks around it, of which one may be missing, and without a comment behind it.
func scalarNode(said string) *yaml.Node {
	said, _, _ = strings.Cut(said, " # ")
	if said = strings.TrimSpace(said); alias.MatchString(said) {
		said = ""
	}
	for _, mark := range []string{`"`, `'`} {
		if inner, ok := strings.CutPrefix(said, mark); ok && (strings.HasSuffix(inner, mark) || !strings.Contains(inner, mark)) {
			said = strings.TrimSuffix(inner, mark)
		}
	}
	return &yaml.Node{Kind: yaml.ScalarNode, Value: said}
}
