package setup

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"unicode/utf8"

	"github.com/tailscale/hujson"
)

// byteOrderMark may stand before the text of a file.
const byteOrderMark = "\ufeff"

// jsonFormat is JSON, in which the entries are members of a block.
type jsonFormat struct {
	// blocks are the paths of the blocks that the client reads. An entry goes into the first that exists, else into the last.
	blocks [][]string
	// comments says that the client accepts comments and trailing commas.
	comments bool
	// fields are the keys of an entry.
	fields func(Server) []field
}

// parse returns the mark before the text, the text of the document and its tree.
func (f jsonFormat) parse(text []byte) (mark string, doc []byte, tree hujson.Value, err error) {
	if doc = text; bytes.HasPrefix(doc, []byte(byteOrderMark)) {
		mark, doc = byteOrderMark, doc[len(byteOrderMark):]
	}
	if len(bytes.TrimSpace(doc)) == 0 {
		doc = []byte("{}\n")
	}
	if !utf8.Valid(doc) {
		return "", nil, tree, errors.New(placeOf(doc, validPrefix(doc)) + ": not valid UTF-8")
	}
	if err = checkDepth(doc, skipJSON); err != nil {
		return "", nil, tree, err
	}
	if !f.comments {
		if err = checkStrict(doc); err != nil {
			return "", nil, tree, err
		}
	}
	if tree, err = hujson.Parse(doc); err != nil {
		return "", nil, tree, errors.New(strings.TrimPrefix(err.Error(), "hujson: "))
	}
	if _, ok := tree.Value.(*hujson.Object); !ok {
		return "", nil, tree, errors.New("line 1, column 1: not a JSON object")
	}
	return mark, doc, tree, nil
}

// checkStrict returns an error with its place if a text is not JSON as RFC 8259 defines it.
func checkStrict(doc []byte) error {
	var v any
	err := json.Unmarshal(doc, &v)
	var syntax *json.SyntaxError
	if !errors.As(err, &syntax) {
		return err
	}
	return fmt.Errorf("%s: %w", placeOf(doc, int(syntax.Offset)-1), syntax)
}

// block returns the path of the block for entries.
func (f jsonFormat) block(tree hujson.Value) []string {
	for _, path := range f.blocks {
		if v, err := follow(tree, path); err == nil && v != nil {
			return path
		}
	}
	return f.blocks[len(f.blocks)-1]
}

// decode returns the content of the text.
func (f jsonFormat) decode(text []byte) (map[string]any, error) {
	_, _, tree, err := f.parse(text)
	if err != nil {
		return nil, err
	}
	content := map[string]any{}
	tree = tree.Clone()
	tree.Standardize()
	return content, json.Unmarshal(tree.Pack(), &content)
}

// entries returns the command lines of the entries.
func (f jsonFormat) entries(text []byte) (map[string][]string, error) {
	_, _, tree, err := f.parse(text)
	if err != nil {
		return nil, err
	}
	content, err := f.decode(text)
	if err != nil {
		return nil, err
	}
	for _, name := range f.block(tree) {
		content, _ = content[name].(map[string]any)
	}
	return commandLines(content), nil
}

// commandLines returns the command line of each entry, nil for what has none. The command is a text with arguments beside it, or
// a list.
func commandLines(block map[string]any) map[string][]string {
	lines := map[string][]string{}
	for name, entry := range block {
		lines[name] = nil
		m, _ := entry.(map[string]any)
		if command, ok := m["command"].(string); ok {
			lines[name] = append([]string{command}, texts(m["args"])...)
		} else {
			lines[name] = texts(m["command"])
		}
	}
	return lines
}

// texts returns the texts of a list.
func texts(list any) []string {
	var found []string
	items, _ := list.([]any)
	for _, item := range items {
		text, _ := item.(string)
		found = append(found, text)
	}
	return found
}

// put returns the text with an entry.
func (f jsonFormat) put(text []byte, name string, srv Server) ([]byte, error) {
	mark, doc, tree, err := f.parse(text)
	if err != nil {
		return nil, err
	}
	path := append(append([]string{}, f.block(tree)...), name)
	old, err := follow(tree, path)
	switch {
	case err != nil:
		return nil, err
	case old == nil || old.Value.Kind() != '{':
		doc, err = setJSON(doc, path, object(f.fields(srv)))
	default:
		for _, part := range f.fields(srv) {
			if doc, err = setJSON(doc, append(append([]string{}, path...), part.key), part.value); err != nil {
				break
			}
		}
	}
	return append([]byte(mark), doc...), err
}

// restore returns the text with the entry as it is in an earlier text.
func (f jsonFormat) restore(text []byte, name string, earlier []byte) ([]byte, error) {
	mark, doc, tree, err := f.parse(text)
	if err != nil {
		return nil, err
	}
	_, earlierDoc, earlierTree, err := f.parse(earlier)
	if err != nil {
		return nil, fmt.Errorf("the copy: %w", err)
	}
	path := f.block(tree)
	for n := len(path) + 1; n > 0; n-- {
		at := append(append([]string{}, path...), name)[:n]
		was, err := follow(earlierTree, at)
		if err != nil {
			return nil, fmt.Errorf("the copy: %w", err)
		}
		is, err := follow(tree, at)
		if err != nil || is == nil {
			return append([]byte(mark), doc...), err
		}
		if n <= len(path) && !isEmptyObject(is) {
			break // others have entries in it
		}
		if was != nil {
			if n > len(path) || isEmptyObject(was) {
				doc = splice(doc, is.StartOffset, is.EndOffset, string(earlierDoc[was.StartOffset:was.EndOffset]))
			}
			break
		}
		if doc, err = removeJSON(doc, at); err != nil {
			return nil, err
		}
		if tree, err = hujson.Parse(doc); err != nil {
			return nil, err
		}
	}
	return append([]byte(mark), doc...), nil
}

// isEmptyObject reports whether a value is an object without members.
func isEmptyObject(v *hujson.Value) bool {
	obj, ok := v.Value.(*hujson.Object)
	return ok && len(obj.Members) == 0
}

// follow returns the value at a path of names, nil if there is none. It returns an error if something on the way is not an
// object. Of repeated names the last one counts, as for the clients.
func follow(v hujson.Value, path []string) (*hujson.Value, error) {
	for i, name := range path {
		obj, ok := v.Value.(*hujson.Object)
		if !ok {
			return nil, fmt.Errorf("%s is not an object", strings.Join(path[:i], "."))
		}
		at := memberOf(obj, name)
		if at < 0 {
			return nil, nil
		}
		v = obj.Members[at].Value
	}
	return &v, nil
}

// memberOf returns the index of a member, -1 if there is none.
func memberOf(obj *hujson.Object, name string) int {
	for i := len(obj.Members) - 1; i >= 0; i-- {
		if lit, ok := obj.Members[i].Name.Value.(hujson.Literal); ok && lit.String() == name {
			return i
		}
	}
	return -1
}

// setJSON returns the text with a value at a path, in objects that it creates where they are missing.
func setJSON(doc []byte, path []string, value any) ([]byte, error) {
	tree, err := hujson.Parse(doc)
	if err != nil {
		return nil, err
	}
	old, err := follow(tree, path)
	if err != nil {
		return nil, err
	}
	if old != nil {
		if sameJSON(doc[old.StartOffset:old.EndOffset], value) {
			return doc, nil
		}
		text := encodeJSON(value, indentOf(doc, old.StartOffset), unitOf(doc), newlineOf(doc))
		return splice(doc, old.StartOffset, old.EndOffset, text), nil
	}
	parent, missing := tree, 0
	for ; missing < len(path)-1; missing++ {
		child, err := follow(parent, path[missing:missing+1])
		if err != nil {
			return nil, err
		}
		if child == nil {
			break
		}
		parent = *child
	}
	for i := len(path) - 1; i > missing; i-- {
		value = object{{path[i], value}}
	}
	if _, ok := parent.Value.(*hujson.Object); !ok {
		return nil, fmt.Errorf("%s is not an object", strings.Join(path[:missing], "."))
	}
	return insertMember(doc, parent, path[missing], value), nil
}

// insertMember returns the text with a new last member of an object.
func insertMember(doc []byte, at hujson.Value, name string, value any) []byte {
	obj := at.Value.(*hujson.Object)
	end, closing, comma, trailing := at.StartOffset+1, at.EndOffset-1, "", ""
	if n := len(obj.Members); n > 0 {
		last := obj.Members[n-1].Value
		end, comma = last.EndOffset, ","
		if last.AfterExtra != nil {
			comma, trailing = "", ","
		}
		if !bytes.Contains(doc[at.StartOffset:at.EndOffset], []byte("\n")) {
			member := encodeJSON(name, "", "", "") + ": " + encodeJSON(value, "", "", "")
			if comma == "" {
				end += len(last.AfterExtra) + 1
				return splice(doc, end, end, " "+member+trailing)
			}
			return splice(doc, end, end, ", "+member)
		}
	}
	nl, unit := newlineOf(doc), unitOf(doc)
	outer := indentOf(doc, at.StartOffset)
	inner := outer + unit
	if len(obj.Members) > 0 {
		if own := indentOf(doc, obj.Members[0].Name.StartOffset); own != outer {
			inner = own
		}
	}
	kept := bytes.TrimRight(doc[end:closing], " \t\r\n")
	rest := string(doc[end+len(kept) : closing])
	if !strings.Contains(rest, "\n") {
		rest = nl + outer
	}
	member := encodeJSON(name, "", "", "") + ": " + encodeJSON(value, inner, unit, nl)
	return splice(doc, end, closing, comma+string(kept)+nl+inner+member+trailing+rest)
}

// removeJSON returns the text without the member at a path, which exists.
func removeJSON(doc []byte, path []string) ([]byte, error) {
	tree, err := hujson.Parse(doc)
	if err != nil {
		return nil, err
	}
	parent, err := follow(tree, path[:len(path)-1])
	if err != nil || parent == nil {
		return doc, err
	}
	obj := parent.Value.(*hujson.Object)
	i := memberOf(obj, path[len(path)-1])
	start, end := obj.Members[i].Name.StartOffset, obj.Members[i].Value.EndOffset
	for start > 0 && (doc[start-1] == ' ' || doc[start-1] == '\t') {
		start--
	}
	if start > 0 && doc[start-1] == '\n' {
		start--
	}
	if start > 0 && doc[start-1] == '\r' {
		start--
	}
	if after := obj.Members[i].Value.AfterExtra; i < len(obj.Members)-1 || after != nil {
		return splice(doc, start, end+len(after)+1, ""), nil
	}
	doc = splice(doc, start, end, "")
	if i > 0 {
		before := obj.Members[i-1].Value
		comma := before.EndOffset + len(before.AfterExtra)
		doc = splice(doc, comma, comma+1, "")
	}
	return doc, nil
}

// object is a JSON object whose members keep their order.
type object []field

// MarshalJSON returns the object.
func (o object) MarshalJSON() ([]byte, error) {
	var b strings.Builder
	for i, f := range o {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(encodeJSON(f.key, "", "", "") + ":" + encodeJSON(f.value, "", "", ""))
	}
	return []byte("{" + b.String() + "}"), nil
}

// encodeJSON returns the text of a value; without a unit of indentation it is on one line. Values of an entry always marshal.
func encodeJSON(value any, prefix, unit, nl string) string {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if unit != "" {
		enc.SetIndent(prefix, unit)
	}
	_ = enc.Encode(value)
	text := strings.TrimSuffix(b.String(), "\n")
	if nl != "" {
		text = strings.ReplaceAll(text, "\n", nl)
	}
	return text
}

// sameJSON reports whether a text is the value.
func sameJSON(text []byte, value any) bool {
	standard, err := hujson.Standardize(text)
	var a, b any
	return err == nil && json.Unmarshal(standard, &a) == nil && json.Unmarshal([]byte(encodeJSON(value, "", "", "")), &b) == nil && reflect.DeepEqual(a, b)
}
