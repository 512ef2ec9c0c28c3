package agenthook

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"kioku/internal/files"
)

const (
	// maxGiven is the maximum size of the record of a session; what a longer one cannot hold is given again.
	maxGiven = 1 << 20
	// keepGiven is how long the record of a session is kept that did not end by its hook.
	keepGiven = 30 * 24 * time.Hour
)

// Passage is a text of a memory that a conversation was given.
type Passage struct {
	// Path of its file.
	Path string `json:"path"`
	// Text of the passage.
	Text string `json:"text"`
}

// Given records which passages a session was given, so that none is given twice while it stands in the conversation. It is a file of
// JSON lines in a folder that only the user can read.
type Given struct{ path string }

// GivenTo returns the record of a session of a program, in a folder that need not exist.
func GivenTo(dir, program, session string) Given {
	sum := sha256.Sum256([]byte(program + "\x00" + session))
	return Given{filepath.Join(dir, hex.EncodeToString(sum[:16])+".jsonl")}
}

// Has reports whether the session was given a text of a file, alone or in a longer passage.
func (g Given) Has(p Passage) bool {
	data, err := os.ReadFile(g.path)
	if err != nil {
		return false // it is given again
	}
	for line := range bytes.Lines(data) {
		var given Passage
		if json.Unmarshal(line, &given) == nil && given.Path == p.Path && strings.Contains(given.Text, strings.TrimSpace(p.Text)) {
			return true
		}
	}
	return false
}

// Add records passages.
func (g Given) Add(passages []Passage) (err error) {
	if len(passages) == 0 {
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(g.path), 0o700); err != nil {
		return err
	}
	f, err := os.OpenFile(g.path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	if info, err := f.Stat(); err != nil || info.Size() > maxGiven {
		return err
	}
	var lines bytes.Buffer
	for _, p := range passages {
		if err := json.NewEncoder(&lines).Encode(p); err != nil {
			return err
		}
	}
	return files.Append(f, lines.Bytes())
}

// Forget removes the record, and those of sessions that were not used for long.
func (g Given) Forget(now time.Time) error {
	err := os.Remove(g.path)
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	entries, _ := os.ReadDir(filepath.Dir(g.path)) // there may be none
	for _, e := range entries {
		if info, infoErr := e.Info(); infoErr == nil && now.Sub(info.ModTime()) > keepGiven {
			err = errors.Join(err, os.Remove(filepath.Join(filepath.Dir(g.path), e.Name())))
		}
	}
	return err
}
