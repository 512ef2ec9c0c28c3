package server

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"go.yaml.in/yaml/v3"

	"kioku/internal/files"
)

// TokenEntry is an entry of a token file, without its hash.
type TokenEntry struct {
	// Name of the caller, which logs have.
	Name string
	// SAN is the name in the caller's certificate, empty for a caller with a token.
	SAN string
	// Agents are the ids of the agents that the caller may use, "*" for all.
	Agents []string
	// Write is the right to write.
	Write bool
	// Council are the rights in the council of the daemon: read, submit, owner, member:NAME, worker:NAME, bridge:PLATFORM.
	Council []string
	// Expires is the time from which on the entry is not valid; zero means never.
	Expires time.Time
}

// NewToken returns a new token, which nobody can guess.
func NewToken() string {
	var random [32]byte
	rand.Read(random[:]) // which never fails
	return "kioku_" + base64.RawURLEncoding.EncodeToString(random[:])
}

// ReadTokenFile returns the entries of a token file.
func ReadTokenFile(path string) ([]TokenEntry, error) {
	entries, _, err := readTokens(path)
	if err != nil {
		return nil, fmt.Errorf("token file %s: %w", path, err)
	}
	var list []TokenEntry
	for _, e := range entries {
		list = append(list, TokenEntry{Name: e.caller.name, SAN: e.san, Agents: e.caller.agents, Write: e.caller.write, Council: e.caller.council.list(), Expires: e.expires})
	}
	return list, nil
}

// AddToken adds an entry to a token file, which it makes, with mode 0600, if it is missing. Only the hash of the token is written;
// the token of an entry with a SAN is empty. Comments and other entries stay. If the entry is not valid, nothing is written.
func AddToken(ctx context.Context, path string, e TokenEntry, token string) error {
	return editTokens(ctx, path, func(list *yaml.Node) error {
		for _, n := range list.Content {
			if nameOf(n) == e.Name {
				return fmt.Errorf("it has the name %q already; remove that with kioku token revoke %s, or choose another name", e.Name, e.Name)
			}
		}
		list.Style &^= yaml.FlowStyle
		list.Content = append(list.Content, e.node(token))
		return nil
	})
}

// ErrNoToken reports that a token file has no entry with a name.
var ErrNoToken = errors.New("the token file has no entry with this name")

// RevokeToken removes the entry with a name from a token file, or returns ErrNoToken.
func RevokeToken(ctx context.Context, path, name string) error {
	return editTokens(ctx, path, func(list *yaml.Node) error {
		before := len(list.Content)
		list.Content = slices.DeleteFunc(list.Content, func(n *yaml.Node) bool { return nameOf(n) == name })
		if len(list.Content) == before {
			return ErrNoToken
		}
		if len(list.Content) == 0 {
			list.Style |= yaml.FlowStyle
		}
		return nil
	})
}

// nameOf returns the name of an entry; empty for what is none.
func nameOf(n *yaml.Node) string {
	var entry struct{ Name string }
	if n.Decode(&entry) != nil {
		return ""
	}
	return entry.Name
}

// node returns the YAML of an entry.
func (e TokenEntry) node(token string) *yaml.Node {
	n := &yaml.Node{Kind: yaml.MappingNode}
	add := func(key string, value *yaml.Node) {
		n.Content = append(n.Content, &yaml.Node{Kind: yaml.ScalarNode, Value: key}, value)
	}
	text := func(value string) *yaml.Node {
		v := &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: value}
		return v
	}
	add("name", text(e.Name))
	if e.SAN != "" {
		add("san", text(e.SAN))
	} else {
		sum := sha256.Sum256([]byte(token))
		add("sha256", text(hex.EncodeToString(sum[:])))
	}
	list := func(key string, values []string) {
		if len(values) == 0 {
			return
		}
		n := &yaml.Node{Kind: yaml.SequenceNode, Style: yaml.FlowStyle}
		for _, v := range values {
			n.Content = append(n.Content, text(v))
		}
		add(key, n)
	}
	list("agents", e.Agents)
	list("council", e.Council)
	if e.Write {
		add("write", &yaml.Node{Kind: yaml.ScalarNode, Value: "true"})
	}
	if !e.Expires.IsZero() {
		add("expires", text(e.Expires.UTC().Format(time.RFC3339)))
	}
	return n
}

// editTokens edits the list of a token file, checks the result, and replaces the file atomically.
func editTokens(ctx context.Context, path string, edit func(list *yaml.Node) error) error {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		path = real
	}
	err := lockedEdit(ctx, path, edit)
	if err != nil {
		return fmt.Errorf("token file %s: %w", path, err)
	}
	return nil
}

// lockedEdit holds the lock of the file's folder, so that of two edits at once none is lost.
func lockedEdit(ctx context.Context, path string, edit func(list *yaml.Node) error) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	dir, err := os.Open(filepath.Dir(path))
	if err != nil {
		return err
	}
	defer dir.Close()
	if err := files.Lock(ctx, dir); err != nil {
		return err
	}
	text, err := readToEdit(path)
	if err != nil {
		return err
	}
	if text, err = editedTokens(text, edit); err != nil {
		return err
	}
	root, err := os.OpenRoot(filepath.Dir(path))
	if err != nil {
		return err
	}
	defer root.Close()
	return files.Write(root, filepath.Base(path), text, 0o600)
}

// readToEdit returns the text of a token file, "tokens: []" for one that is missing. It refuses a file that nobody may write: it is made
// elsewhere, and mounted.
func readToEdit(path string) ([]byte, error) {
	data, info, err := readRegular(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return []byte("tokens: []\n"), nil
	case err != nil:
		return nil, err
	case info.Mode().Perm()&0o222 == 0:
		return nil, fmt.Errorf("nobody may write it (mode %04o): edit the secret that it is made from", info.Mode().Perm())
	}
	_, err = parseTokens(data)
	return data, err
}

// editedTokens returns the text of a token file after an edit of its list.
func editedTokens(text []byte, edit func(list *yaml.Node) error) ([]byte, error) {
	var doc yaml.Node
	if err := yaml.Unmarshal(text, &doc); err != nil {
		return nil, err
	}
	list := &yaml.Node{}
	for top := doc.Content[0].Content; len(top) > 1; top = top[2:] {
		if top[0].Value == "tokens" {
			list = top[1]
		}
	}
	if err := edit(list); err != nil {
		return nil, err
	}
	var out bytes.Buffer
	enc := yaml.NewEncoder(&out)
	enc.SetIndent(2)
	if err := errors.Join(enc.Encode(&doc), enc.Close()); err != nil {
		return nil, err
	}
	_, err := parseTokens(out.Bytes())
	return out.Bytes(), err
}
