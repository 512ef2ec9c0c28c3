package config

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"go.yaml.in/yaml/v3"

	"kioku/internal/atomicfile"
)

// Edit sets one key in a config file and creates the file (0600, its folder 0700) if it is missing. Comments and order are
// kept. The new file is checked before it atomically replaces the old one. If it would not load, Edit returns an *[Error]
// and writes nothing.
func Edit(src Sources, key, value string) (path string, err error) {
	check := newLoader(src)
	path, _ = check.filePath(src)
	if path == "" {
		return "", errors.New("no folder for the config file: HOME is not set; name one with --config")
	}
	f, ok := check.conf.lookup(key)
	if !ok {
		return "", check.conf.registry.unknown("", key)
	}
	if real, err := filepath.EvalSymlinks(path); err == nil {
		path = real
	}
	data, err := readBounded(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", fmt.Errorf("read the config file: %w", err)
	}
	if data, err = edited(path, data, f, anchored(f, value, src.Dir)); err != nil {
		return "", err
	}
	check.parse(path, data)
	check.agree()
	if len(check.errs) > 0 {
		return "", errors.Join(check.errs...)
	}
	return path, replaceFile(path, data)
}

// anchored makes the paths of a value absolute: people give them relative to where they are, not to the file.
func anchored(f Field, value, dir string) string {
	c := Default()
	c.registry.base, c.registry.home = dir, "~"
	switch f.Type {
	case "path", "paths", "blocks":
		if f, ok := c.lookup(f.Key); ok && f.value.Set(value) == nil {
			return f.value.String()
		}
	case "secret":
		return c.registry.reference(value)
	}
	return value
}

// edited returns the text of a file with one key set.
func edited(path string, data []byte, f Field, value string) ([]byte, error) {
	doc, err := parseYAML(path, data)
	if err != nil {
		return nil, err
	}
	if doc == nil {
		doc = &yaml.Node{Kind: yaml.DocumentNode, Content: []*yaml.Node{{Kind: yaml.MappingNode}}, HeadComment: strings.TrimSpace(string(data))}
	}
	top := resolve(doc.Content[0])
	if block := child(top, openClaw); f.memory && child(block, strings.Split(f.Key, ".")...) != nil {
		top = block
	}
	node, err := valueNode(f, value)
	if err != nil {
		return nil, fmt.Errorf("write %s: %w", path, err)
	}
	assign(top, strings.Split(f.Key, "."), node)
	var out bytes.Buffer
	enc := yaml.NewEncoder(&out)
	enc.SetIndent(2)
	if err := enc.Encode(doc); err != nil {
		return nil, fmt.Errorf("write %s: %w", path, err)
	}
	return out.Bytes(), enc.Close()
}

// child returns the value at a path of keys in a block, nil if there is none.
func child(block *yaml.Node, path ...string) *yaml.Node {
	if len(path) == 0 || block == nil {
		return block
	}
	for i := 0; block.Kind == yaml.MappingNode && i+1 < len(block.Content); i += 2 {
		if block.Content[i].Value == path[0] {
			return child(resolve(block.Content[i+1]), path[1:]...)
		}
	}
	return nil
}

// assign sets a value at a path of keys and creates the blocks that it needs.
func assign(block *yaml.Node, path []string, value *yaml.Node) {
	at := child(block, path[0])
	if at == nil {
		at = &yaml.Node{Kind: yaml.MappingNode}
		block.Content = append(block.Content, &yaml.Node{Kind: yaml.ScalarNode, Value: path[0]}, at)
	}
	if len(path) > 1 {
		if at.Kind != yaml.MappingNode {
			*at = yaml.Node{Kind: yaml.MappingNode}
		}
		assign(at, path[1:], value)
		return
	}
	value.LineComment, value.HeadComment, value.FootComment = at.LineComment, at.HeadComment, at.FootComment
	*at = *value
}

// valueNode returns the YAML of a value that is written in one line. For agents it is a block with the workspace of each.
func valueNode(f Field, value string) (*yaml.Node, error) {
	var v any = value
	switch f.value.kind {
	case anInteger, aNumber, aToggle:
		return &yaml.Node{Kind: yaml.ScalarNode, Value: value}, nil
	case aList:
		v = split(aList, value)
	case aMap:
		block := map[string]any{}
		for _, item := range split(aMap, value) {
			name, text, _ := strings.Cut(item, "=")
			block[name] = text
			if f.Key == "agents" {
				block[name] = map[string]string{"workspace": text}
			}
		}
		v = block
	}
	n := &yaml.Node{}
	return n, n.Encode(v)
}

// replaceFile replaces a file atomically.
func replaceFile(path string, data []byte) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return fmt.Errorf("make the folder of the config file: %w", err)
	}
	folder, err := os.OpenRoot(filepath.Dir(path))
	if err != nil {
		return fmt.Errorf("write the config file: %w", err)
	}
	defer folder.Close()
	if err := atomicfile.Write(folder, filepath.Base(path), data, 0o600); err != nil {
		return fmt.Errorf("write the config file: %w", err)
	}
	return nil
}
