package config

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"kioku/internal/files"
)

// Edit sets one key in the user's config file, or in that of the workspace src.Folder if it is not empty, and creates the file
// if it is missing. Comments and order are kept. The new file is checked before it atomically replaces the old one. If it would
// not load, Edit returns an *[Error] and writes nothing.
func Edit(src Sources, key, value string) (path string, err error) {
	e, err := Prepare(src, Change{key, value})
	if err != nil {
		return "", err
	}
	return e.Path, e.Write()
}

// Unset removes one key, or a block of keys, from the file that Edit writes. It returns false if the file does not have it.
// Blocks that are empty then are removed too, and so is the file of a workspace if nothing is left in it. A file that loaded before loads afterwards, or Unset returns an *[Error] and
// writes nothing.
func Unset(src Sources, key string) (path string, removed bool, err error) {
	path, data, err := openEdited(src)
	if err != nil {
		return "", false, err
	}
	doc, err := parseYAML(path, data)
	if err != nil {
		return "", false, err
	}
	if doc != nil {
		top, names := resolve(doc.Content[0]), strings.Split(key, ".")
		removed = remove(top, names)
	}
	c := Default()
	if _, known := c.lookup(key); !removed && !known && !c.registry.isBlock(key) {
		return "", false, c.registry.unknown("", key)
	}
	if !removed {
		return path, false, nil
	}
	after, err := encode(path, doc)
	if err != nil {
		return "", false, err
	}
	if len(checkEdited(src, path, data)) == 0 {
		if err := errors.Join(checkEdited(src, path, after)...); err != nil {
			return "", false, err
		}
	}
	if src.Folder != "" && len(after) == 0 {
		return path, true, os.Remove(path) // an empty one would still mark the folder as a workspace
	}
	return path, true, replaceFile(src, path, after)
}

// openEdited returns the path and the text of the file that is edited. The text is empty if there is no file.
func openEdited(src Sources) (path string, data []byte, err error) {
	if src.Folder != "" {
		path = filepath.Join(src.Folder, FolderFile)
		data, err = readFolderFile(src.Folder)
	} else {
		if path, _ = newLoader(src).filePath(src); path == "" {
			return "", nil, errors.New("no folder for the config file: HOME is not set; name one with --config")
		}
		if real, err := filepath.EvalSymlinks(path); err == nil {
			path = real
		}
		data, err = readBounded(path)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", nil, fmt.Errorf("read %s: %w", path, err)
	}
	return path, data, nil
}

// checkEdited returns what is wrong with the new text of a file.
func checkEdited(src Sources, path string, data []byte) []error {
	check := newLoader(src)
	if src.Folder != "" {
		check.readFile(src)
		check.parseFolder(path, data)
	} else {
		check.parse(path, data)
	}
	check.agree()
	return check.errs
}

// anchored makes the paths of a value absolute: people give them relative to where they are, not to the file.
func anchored(f Field, value string, src Sources) string {
	c := Default()
	c.registry.base, c.registry.home = src.Dir, "~"
	switch f.Type {
	case pathType, pathsType, blocksType:
		if f, ok := c.lookup(f.Key); ok && f.value.setText(value) == nil {
			return f.value.get()
		}
	case secretType:
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
	node, err := valueNode(f, value)
	if err != nil {
		return nil, fmt.Errorf("write %s: %w", path, err)
	}
	assign(top, strings.Split(f.Key, "."), node)
	return encode(path, doc)
}

// encode returns the text of a document. Without settings it consists of the comments, or is empty.
func encode(path string, doc *yaml.Node) ([]byte, error) {
	top := resolve(doc.Content[0])
	empty := top.Kind == yaml.MappingNode && len(top.Content) == 0
	if empty {
		*doc.Content[0] = yaml.Node{Kind: yaml.ScalarNode, Tag: "!!null", HeadComment: top.HeadComment, FootComment: top.FootComment}
	}
	var out bytes.Buffer
	enc := yaml.NewEncoder(&out)
	enc.SetIndent(2)
	if err := enc.Encode(doc); err != nil {
		return nil, fmt.Errorf("write %s: %w", path, err)
	}
	err := enc.Close()
	if text := bytes.TrimSpace(out.Bytes()); empty && len(text) > 0 {
		return append(text, '\n'), err
	} else if empty {
		return nil, err
	}
	return out.Bytes(), err
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

// remove removes the value at a path of keys from a block, with the blocks that are empty then. It returns false if there is none.
func remove(block *yaml.Node, path []string) bool {
	if block == nil || block.Kind != yaml.MappingNode {
		return false
	}
	for i := 0; i+1 < len(block.Content); i += 2 {
		if block.Content[i].Value != path[0] {
			continue
		}
		below := resolve(block.Content[i+1])
		if len(path) > 1 && !remove(below, path[1:]) {
			return false
		}
		if len(path) == 1 || len(below.Content) == 0 {
			block.Content = slices.Delete(block.Content, i, i+2)
		}
		return true
	}
	return false
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

// replaceFile replaces a file atomically. Only the user may read a file of the user's.
func replaceFile(src Sources, path string, data []byte) error {
	mode := fs.FileMode(0o600)
	if src.Folder != "" {
		mode = 0o644
	} else if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return fmt.Errorf("make the folder of the config file: %w", err)
	}
	folder, err := os.OpenRoot(filepath.Dir(path))
	if err != nil {
		return fmt.Errorf("write the config file: %w", err)
	}
	defer folder.Close()
	if err := files.Write(folder, filepath.Base(path), data, mode); err != nil {
		return fmt.Errorf("write the config file: %w", err)
	}
	return nil
}
