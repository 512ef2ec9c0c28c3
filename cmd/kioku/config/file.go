package config

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// maxFileBytes is the maximum size of a config file.
const maxFileBytes = 1 << 20

// readFile reads the config file if there is one.
func (l *loader) readFile(src Sources) {
	path, named := l.filePath(src)
	if path == "" {
		return
	}
	data, err := readBounded(path)
	if errors.Is(err, fs.ErrNotExist) && !named {
		return
	}
	if err != nil {
		l.fail("", "", fmt.Errorf("read the config file: %w", err))
		return
	}
	l.conf.File = path
	l.parse(path, data)
}

func readBounded(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxFileBytes+1))
	if err == nil && len(data) > maxFileBytes {
		err = fmt.Errorf("%s is larger than %d bytes", path, maxFileBytes)
	}
	return data, err
}

// parse reads the text of a config file.
func (l *loader) parse(path string, data []byte) {
	doc, err := parseYAML(path, data)
	switch {
	case err != nil:
		l.errs = append(l.errs, err)
	case doc != nil:
		p := fileParser{loader: l, layer: byFile, path: path, seen: map[string]string{}}
		p.block(resolve(doc.Content[0]), "")
	}
}

// parseYAML returns the document of a file, whose content is a block; nil if the file is empty.
func parseYAML(path string, data []byte) (*yaml.Node, error) {
	dec := yaml.NewDecoder(strings.NewReader(string(data)))
	var doc yaml.Node
	if err := dec.Decode(&doc); errors.Is(err, io.EOF) {
		return nil, nil
	} else if err != nil {
		line, problem := yamlProblem(data, err)
		return nil, &Error{Where: fmt.Sprintf("%s:%d", path, line), Problem: problem}
	}
	root := resolve(doc.Content[0])
	if root.Kind == yaml.ScalarNode && root.Tag == "!!null" {
		return nil, nil
	}
	if root.Kind != yaml.MappingNode {
		return nil, &Error{Where: position(path, root), Problem: "not a block of settings (key: value)"}
	}
	var second yaml.Node
	if err := dec.Decode(&second); !errors.Is(err, io.EOF) {
		return nil, &Error{Where: fmt.Sprintf("%s:%d", path, max(second.Line, 1)), Problem: "more than one document; keep one"}
	}
	return &doc, nil
}

func position(path string, n *yaml.Node) string {
	return fmt.Sprintf("%s:%d:%d", path, n.Line, n.Column)
}

func resolve(n *yaml.Node) *yaml.Node {
	if n.Kind == yaml.AliasNode {
		return n.Alias
	}
	return n
}

// fileParser walks the blocks of a file.
type fileParser struct {
	*loader
	layer layer
	path  string
	// seen contains the position of each setting.
	seen map[string]string
}

// block reads the settings of a mapping whose keys continue prefix.
func (p *fileParser) block(n *yaml.Node, prefix string) {
	for i := 0; i+1 < len(n.Content); i += 2 {
		name, value := n.Content[i], resolve(n.Content[i+1])
		key := prefix + name.Value
		where := position(p.path, name)
		f, known := p.conf.lookup(key)
		switch {
		case p.layer == byFolder && !p.mayStand(key, f):
			p.refuse(where, key, known)
		case slices.Contains(openClawBlocks, key):
			p.fail(where, key, errors.New("a block of OpenClaw is not read here; kioku config openclaw takes its settings over"))
		case prefix == "agents." && CheckAgent(name.Value) != nil:
			p.fail(where, "agents", CheckAgent(name.Value))
		case prefix == "agents.", key == "agents", f.Type == pairsType, p.conf.registry.isBlock(key):
			p.nested(value, where, key, key+".")
		case p.pairsOf(key) != "":
			p.pair(p.pairsOf(key), key, where, value)
		case !known:
			p.unknown(where, key)
		default:
			p.setting(f, where, value)
		}
	}
}

// nested reads a block, which may be empty.
func (p *fileParser) nested(value *yaml.Node, where, key, prefix string) {
	if isNull(value) {
		return
	}
	if value.Kind != yaml.MappingNode {
		p.fail(where, key, fmt.Errorf("not a block of settings"))
		return
	}
	p.block(value, prefix)
}

func isNull(n *yaml.Node) bool { return n.Kind == yaml.ScalarNode && n.Tag == "!!null" }

// pairsOf returns the setting of pairs that a key is in, "remote.headers" for "remote.headers.X-Team"; empty if it is in none.
func (p *fileParser) pairsOf(key string) string {
	for _, f := range p.conf.registry.fields {
		if f.Type == pairsType && strings.HasPrefix(key, f.Key+".") {
			return f.Key
		}
	}
	return ""
}

// pair reads one pair of a setting. The names of pairs are not known in advance, so that a pair is no registered setting.
func (p *fileParser) pair(setting, key, where string, value *yaml.Node) {
	f, _ := p.conf.lookup(setting)
	if value.Kind != yaml.ScalarNode || isNull(value) {
		p.fail(where, key, fmt.Errorf("not a text"))
		return
	}
	if p.again(key, where) {
		return
	}
	p.put(p.layer, where, filepath.Dir(p.path), f, strings.TrimPrefix(key, setting+".")+"="+value.Value)
}

// again reports an error if a setting was given before, and returns whether it was.
func (p *fileParser) again(key, where string) bool {
	before, ok := p.seen[key]
	if ok {
		p.fail(where, key, fmt.Errorf("set twice, first at %s", strings.TrimPrefix(before, p.path+":")))
	}
	p.seen[key] = where
	return ok
}

// setting reads a value. An empty value sets nothing.
func (p *fileParser) setting(f Field, where string, value *yaml.Node) {
	if p.again(f.Key, where) || isNull(value) {
		return
	}
	items, err := itemsOf(f, value)
	if err != nil {
		p.fail(position(p.path, value), f.Key, err)
		return
	}
	before := len(p.errs)
	p.put(p.layer, where, filepath.Dir(p.path), f, items...)
	if len(p.errs) > before {
		p.errs[before].(*Error).Where = position(p.path, value)
	}
}

// itemsOf returns the items of a value, or an error if its type is wrong.
func itemsOf(f Field, value *yaml.Node) ([]string, error) {
	if f.value.kind == aList {
		if f.value.typ == globsType && value.Kind == yaml.ScalarNode && value.Tag == "!!str" {
			return []string{value.Value}, nil
		}
		return listOf(value)
	}
	tags := map[kind][]string{
		aText: {"!!str"}, anInteger: {"!!int"}, aNumber: {"!!int", "!!float"}, aToggle: {"!!bool"},
	}[f.value.kind]
	if value.Kind != yaml.ScalarNode || !slices.Contains(tags, value.Tag) {
		return nil, fmt.Errorf("%s is not %s", describe(value), wanted(f.value.kind))
	}
	return []string{value.Value}, nil
}

func listOf(value *yaml.Node) ([]string, error) {
	if value.Kind != yaml.SequenceNode {
		return nil, fmt.Errorf("%s is not %s", describe(value), wanted(aList))
	}
	items := []string{}
	for _, n := range value.Content {
		if n = resolve(n); n.Kind != yaml.ScalarNode || n.Tag != "!!str" {
			return nil, fmt.Errorf("%s is not a text", describe(n))
		}
		items = append(items, n.Value)
	}
	return items, nil
}

func wanted(k kind) string {
	switch k {
	case anInteger:
		return "a whole number"
	case aNumber:
		return "a number"
	case aToggle:
		return "true or false"
	case aList:
		return "a list of texts ([a, b])"
	}
	return "a text; put it in quotes"
}

// describe names a value of the wrong type.
func describe(n *yaml.Node) string {
	switch n.Kind {
	case yaml.MappingNode:
		return "a block"
	case yaml.SequenceNode:
		return "a list"
	}
	return fmt.Sprintf("%q", shorten(n.Value))
}
