package session

import (
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
	// ErrID: what is to be the id of a session or an agent cannot be one.
	ErrID = errors.New("is no valid id")
	// ErrInUse: another process, or another Session of this one, has the transcript open.
	ErrInUse = errors.New("session is in use")
	// ErrClosed: the session was closed.
	ErrClosed = errors.New("session is closed")
	// ErrEntry: an entry does not fit to those before it, or lacks what its kind needs.
	ErrEntry = errors.New("entry cannot be appended")
)

const (
	// suffix ends the name of a transcript, and tornSuffix that of the file with what was torn off its end.
	suffix     = ".jsonl"
	tornSuffix = suffix + ".torn"
)

var (
	// sessionID is safe as a file name. Case is kept, because channels have ids in which it matters.
	sessionID = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$`)
	// agentID is the memory service's rule.
	agentID = regexp.MustCompile(`^[a-z0-9][a-z0-9_-]{0,63}$`)
)

// CheckID returns ErrID, with what is allowed, for an id that a session cannot have.
func CheckID(id string) error {
	if sessionID.MatchString(id) {
		return nil
	}
	return fmt.Errorf("session %.150q %w: take letters, digits, dots, hyphens and underscores, at most 128, a letter or digit first", id, ErrID)
}

// NewID returns an id that no other session has. Ids sort by the time at which they are made.
func NewID(now time.Time) string {
	return now.UTC().Format("20060102-150405-") + strings.ToLower(rand.Text()[:8])
}

// Folder is where the transcripts of an agent are: <state>/agents/<agent>/sessions. It returns ErrID for an agent that
// cannot have this name.
func Folder(state, agent string) (string, error) {
	if !agentID.MatchString(agent) {
		return "", fmt.Errorf("agent %.150q %w: take lower-case letters, digits, hyphens and underscores", agent, ErrID)
	}
	return filepath.Join(state, "agents", agent, "sessions"), nil
}

// Info is what a listing tells of a session.
type Info struct {
	ID       string
	Bytes    int64
	Modified time.Time
}

// List returns the sessions in a folder, the one that changed last first. A folder that is not there has none. Whatever
// is not a regular file with the name of a transcript is left out.
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
		// A file may go while the folder is read.
		if info, err := f.Info(); err == nil {
			out = append(out, Info{ID: id, Bytes: info.Size(), Modified: info.ModTime()})
		}
	}
	slices.SortFunc(out, func(a, b Info) int {
		if c := b.Modified.Compare(a.Modified); c != 0 {
			return c
		}
		return strings.Compare(b.ID, a.ID)
	})
	return out, nil
}
