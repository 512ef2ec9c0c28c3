// Package note edits the Markdown of notes: it appends, corrects and takes back, and reads what its markers say. DESIGN.md says how a file
// that others write to stays whole.
package note

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"kioku/note/forgotten"
	"log/slog"
	"time"
)

// Options say which folder of notes is edited and how. All fields are required.
type Options struct {
	// Path of the folder with MEMORY.md and memory/, absolute and without symbolic links.
	Path string
	// State is the folder of the change log. It is made, 0700, if it is missing.
	State string
	// MaxFileBytes is the size above which a file is not indexed, and takes no notes.
	MaxFileBytes int64
	// Owns returns the folder that has the file of a path in the index, and whether there is one.
	Owns func(path string) (root string, ok bool)
	// Prepare is called before a note is written, which it can prevent with an error.
	Prepare func(ctx context.Context) error
	// Location decides what "today" is.
	Location *time.Location
	// Now is the clock.
	Now func() time.Time
	// Log receives what no caller can be told.
	Log *slog.Logger
}

// Folder is a folder of notes. Its methods may be called concurrently, also by several processes.
type Folder struct {
	opt     Options
	changes changeLog
	// turns has a channel for each target of notes, which contains a token while a note is written there: who waits for the lock of a file
	// asks for it now and then, and may never meet it free beside a call that writes all the time.
	turns     map[string]chan struct{}
	forgotten *forgotten.Reader
}

// New returns the folder of notes of options.
func New(opt Options) *Folder {
	f := &Folder{opt: opt, changes: changeLog{dir: opt.State}, turns: map[string]chan struct{}{}, forgotten: forgotten.NewReader()}
	for _, target := range noteTargets {
		f.turns[target] = make(chan struct{}, 1)
	}
	return f
}

// takeTurn waits until no other call of this process writes to a target.
func (f *Folder) takeTurn(ctx context.Context, target string) (done func(), err error) {
	select {
	case f.turns[target] <- struct{}{}:
		return func() { <-f.turns[target] }, nil
	case <-ctx.Done():
		return nil, fmt.Errorf("wait for other notes: %w", ctx.Err())
	}
}

// NewID returns the id of a change: its time and a random number.
func (f *Folder) NewID() string {
	var n [4]byte
	_, _ = rand.Read(n[:]) // never fails
	return f.opt.Now().UTC().Format("20060102T150405Z-") + hex.EncodeToString(n[:])
}
