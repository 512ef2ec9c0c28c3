package session

import (
	"cmp"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"
)

// Errors of this package; test for them with errors.Is.
var (
	// ErrID: the id of a session or an agent is invalid.
	ErrID = errors.New("is no valid id")
	// ErrInUse: another process, or another Session of this one, has the transcript open.
	ErrInUse = errors.New("session is in use")
	// ErrClosed: the session was closed.
	ErrClosed = errors.New("session is closed")
	// ErrEntry: an entry does not fit to the entries before it, or lacks a field.
	ErrEntry = errors.New("entry cannot be appended")
)

const (
	// suffix ends the name of a transcript, and tornSuffix the name of the file with its unfinished lines.
	suffix     = ".jsonl"
	tornSuffix = suffix + ".torn"
)

var (
	// sessionID matches names that are safe as file names. Case is kept, because it matters in the ids of channels.
	sessionID = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$`)
	// agentID is the rule of the memory service.
	agentID = regexp.MustCompile(`^[a-z0-9][a-z0-9_-]{0,63}$`)
)

// CheckID returns ErrID, with the rule, if id cannot be the id of a session.
func CheckID(id string) error {
	if sessionID.MatchString(id) {
		return nil
	}
	return fmt.Errorf("session %.150q %w: take letters, digits, dots, hyphens and underscores, at most 128, a letter or digit first", id, ErrID)
}

// NewID returns an id that no other session has. Ids sort by time.
func NewID(now time.Time) string {
	return now.UTC().Format("20060102-150405-") + strings.ToLower(rand.Text()[:8])
}

// Folder returns the folder of an agent's transcripts, <state>/agents/<agent>/sessions. It returns ErrID if agent cannot be the
// id of an agent.
func Folder(state, agent string) (string, error) {
	if !agentID.MatchString(agent) {
		return "", fmt.Errorf("agent %.150q %w: take lower-case letters, digits, hyphens and underscores", agent, ErrID)
	}
	return filepath.Join(state, "agents", agent, "sessions"), nil
}

// Info describes a session.
type Info struct {
	// ID of the session, which is the name of its file without the extension.
	ID string
	// Bytes is the size of the transcript.
	Bytes int64
	// Modified is the time of the last change.
	Modified time.Time
}

// List returns the sessions in a folder, the last changed first. It returns none if the folder does not exist. It skips
// everything but regular files with the name of a transcript.
func List(folder string) ([]Info, error) {
	files, err := os.ReadDir(folder)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("list sessions: %w", err)
	}
	var out []Info
	for _, f := range files {
		id, named := strings.CutSuffix(f.Name(), suffix)
		if !named || !f.Type().IsRegular() || CheckID(id) != nil {
			continue
		}
		// A file may be removed while the folder is read.
		if info, err := f.Info(); err == nil {
			out = append(out, Info{ID: id, Bytes: info.Size(), Modified: info.ModTime()})
		}
	}
	slices.SortFunc(out, func(a, b Info) int {
		return cmp.Or(b.Modified.Compare(a.Modified), strings.Compare(b.ID, a.ID))
	})
	return out, nil
}
