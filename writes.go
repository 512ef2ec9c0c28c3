package kioku

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"time"

	"kioku/internal/text"
	"kioku/memory"
)

const (
	// writesFile is the record of the notes that were appended, and writesBefore the one before it.
	writesFile, writesBefore = "writes.jsonl", "writes.1.jsonl"
	// maxWritesBytes is the size above which the record is begun anew.
	maxWritesBytes = 4 << 20
)

// writtenNote is the record of a note that was appended. It has no text, only fingerprints.
type writtenNote struct {
	Time    time.Time `json:"time"`
	Path    string    `json:"path"`
	Source  string    `json:"source,omitempty"`
	Session string    `json:"session,omitempty"`
	// Head is the fingerprint of the first line of the note in the file, and Block that of all its lines.
	Head  string `json:"head"`
	Block string `json:"block"`
	Lines int    `json:"lines"`
	// Key and Text are the fingerprints in its marker; empty if the marker lacks them.
	Key  string `json:"key,omitempty"`
	Text string `json:"text,omitempty"`
}

// writtenOf returns the record of a note that has the form of a block of Markdown.
func writtenOf(n memory.Note, block string, at time.Time, file string) writtenNote {
	lines := blockLines(block)
	w := writtenNote{Time: at.UTC(), Path: file, Source: n.Source, Session: n.Session, Head: fingerprint(lines[0]), Block: fingerprint(strings.Join(lines, "\n")), Lines: len(lines)}
	if n.Key != "" {
		w.Key = fingerprint(n.Key)
	}
	if n.Key != "" || beginsWithMarker(n) {
		w.Text = fingerprint(n.Text)
	}
	return w
}

// blockLines returns the lines of a text without their line breaks and the blanks before these.
func blockLines(block string) []string {
	lines := strings.Split(strings.TrimSuffix(block, "\n"), "\n")
	for i, line := range lines {
		lines[i] = strings.TrimRight(line, " \t\r")
	}
	return lines
}

// recordWrite records a note that was appended, so that UndoWrites knows it. A note is written without it too, so an error is logged.
func (m *Memory) recordWrite(p *notePlace, a memory.Appended) {
	if a.Deduplicated {
		return
	}
	if err := m.appendWrite(writtenOf(p.note, p.block, m.opt.Now(), a.Path)); err != nil {
		m.log.Warn("a note was written that kioku undo will not know", "path", a.Path, "err", err)
	}
}

// appendWrite adds a line to the record.
func (m *Memory) appendWrite(w writtenNote) error {
	line, err := json.Marshal(w)
	if err != nil {
		return err
	}
	dir := m.stateOf("")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	name := filepath.Join(dir, writesFile)
	if info, err := os.Stat(name); err == nil && info.Size() > maxWritesBytes {
		if err := os.Rename(name, filepath.Join(dir, writesBefore)); err != nil {
			return err
		}
	}
	f, err := os.OpenFile(name, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(append(line, '\n'))
	return errors.Join(err, f.Close())
}

// readWrites returns the record, the oldest first. It leaves out lines that a crash has cut off.
func (m *Memory) readWrites() ([]writtenNote, error) {
	var all []writtenNote
	for _, name := range []string{writesBefore, writesFile} {
		data, err := os.ReadFile(filepath.Join(m.stateOf(""), name))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, fmt.Errorf("read the record of notes: %w", err)
		}
		for line := range bytes.Lines(data) {
			var w writtenNote
			if json.Unmarshal(line, &w) == nil && w.Lines > 0 && w.Path != "" {
				all = append(all, w)
			}
		}
	}
	return all, nil
}

// targetOf returns the target of the notes that are appended to a file.
func targetOf(name string) string {
	day, _, _ := text.FindDay(path.Base(name))
	switch {
	case day == "" || !strings.HasPrefix(name, notesFolder+"/"):
		return memory.TargetLongTerm
	case path.Dir(name) == notesFolder:
		return memory.TargetDaily
	}
	return memory.TargetGroup
}

// foundNote is where a written note is in a text, whole lines from 0, end exclusive, and whether it is as it was written.
type foundNote struct {
	first, end int
	outcome    string
}

// findWritten finds notes in the lines of a text: those that are as they were written, and then the others by their first line or
// their marker.
func findWritten(lines []string, notes []writtenNote) []foundNote {
	found := make([]foundNote, len(notes))
	heads := map[string][]int{}
	for i, line := range lines {
		h := fingerprint(line)
		heads[h] = append(heads[h], i)
	}
	taken := map[int]bool{}
	for i, n := range notes {
		found[i].outcome = memory.WriteGone
		for _, at := range heads[n.Head] {
			end := at + n.Lines
			if !taken[at] && end <= len(lines) && fingerprint(strings.Join(lines[at:end], "\n")) == n.Block {
				found[i], taken[at] = foundNote{at, end, memory.WriteUndone}, true
				break
			}
		}
	}
	for i, n := range notes {
		if found[i].outcome != memory.WriteGone {
			continue
		}
		for _, at := range heads[n.Head] {
			if !taken[at] {
				found[i] = foundNote{at, min(at+n.Lines, len(lines)), memory.WriteEdited}
			}
		}
		if at := lineWithMarker(lines, n); found[i].outcome == memory.WriteGone && at >= 0 {
			found[i] = foundNote{at, at + 1, memory.WriteEdited}
		}
	}
	return found
}

// lineWithMarker returns the line with the marker of a note, -1 if there is none.
func lineWithMarker(lines []string, n writtenNote) int {
	for i, line := range lines {
		if n.Key != "" && strings.Contains(line, markerStart+":"+n.Key) || n.Key == "" && n.Text != "" && strings.Contains(line, " text="+n.Text) {
			return i
		}
	}
	return -1
}
