package kioku

import (
	"cmp"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"kioku/internal/atomicfile"
)

const (
	// maxRefusals is the maximum number of secrets that are recorded.
	maxRefusals = 1000
	// refusalKey is the name of the file with the key of their fingerprints.
	refusalKey = "key"
)

// refusals is a folder that records which secrets were left out of notes: an empty file for each, whose name is a fingerprint of it
// under a random key. Nothing of a secret can be told from a fingerprint without the key.
type refusals struct {
	// path of the folder. It is made, 0700, if it is missing.
	path string
}

// refusals returns the secrets that were left out of the notes of the agent.
func (m *Memory) refusals() refusals {
	return refusals{path: filepath.Join(m.opt.StateDir, "agents", m.opt.Agent, "refused")}
}

// has reports whether a secret is recorded.
func (r refusals) has(secret string) bool {
	key, err := os.ReadFile(filepath.Join(r.path, refusalKey))
	if err != nil {
		return false
	}
	_, err = os.Lstat(filepath.Join(r.path, refusalName(key, secret)))
	return err == nil
}

// add records a secret. The oldest ones are forgotten if there are too many.
func (r refusals) add(secret string) error {
	if err := os.MkdirAll(r.path, 0o700); err != nil {
		return err
	}
	root, err := os.OpenRoot(r.path)
	if err != nil {
		return err
	}
	defer root.Close()
	key, err := readRefusalKey(root)
	if err != nil {
		return err
	}
	if err := root.WriteFile(refusalName(key, secret), nil, 0o600); err != nil {
		return err
	}
	return r.prune(root)
}

// readRefusalKey returns the key of the fingerprints, which the first caller makes.
func readRefusalKey(root *os.Root) ([]byte, error) {
	key, err := root.ReadFile(refusalKey)
	if !errors.Is(err, fs.ErrNotExist) {
		return key, err
	}
	key = make([]byte, sha256.Size)
	_, _ = rand.Read(key) // never fails
	if err := atomicfile.Create(root, refusalKey, key, 0o600); !errors.Is(err, fs.ErrExist) {
		return key, err
	}
	return root.ReadFile(refusalKey) // another process was faster
}

// refusalName returns the name of the file that stands for a secret.
func refusalName(key []byte, secret string) string {
	sum := hmac.New(sha256.New, key)
	sum.Write([]byte(secret))
	return hex.EncodeToString(sum.Sum(nil))
}

// prune removes the oldest files if there are too many.
func (r refusals) prune(root *os.Root) error {
	entries, err := os.ReadDir(r.path)
	if err != nil || len(entries) <= maxRefusals+1 {
		return err
	}
	var all []fs.FileInfo
	for _, e := range entries {
		if info, err := e.Info(); err == nil && e.Name() != refusalKey {
			all = append(all, info)
		}
	}
	slices.SortFunc(all, func(a, b fs.FileInfo) int { return cmp.Compare(a.ModTime().UnixNano(), b.ModTime().UnixNano()) })
	for _, info := range all[:max(0, len(all)-maxRefusals)] {
		if gone := root.Remove(info.Name()); !errors.Is(gone, fs.ErrNotExist) {
			err = errors.Join(err, gone)
		}
	}
	return err
}
