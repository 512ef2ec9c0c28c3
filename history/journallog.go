package history

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"kioku/internal/atomicfile"
	"kioku/memory"
)

// journalFile is the log of a journal: a line for each file that a version has changed.
const journalFile = "log.jsonl"

// entry is what a version has done to a file.
type entry struct {
	// Version is its number, from 1.
	Version int `json:"n"`
	// Time of the version.
	Time time.Time `json:"t"`
	// Path of the file.
	Path string `json:"p"`
	// Object names the text; empty if the file is gone.
	Object string `json:"h,omitempty"`
	// Source is the hash that the index had of the file.
	Source string `json:"s,omitempty"`
	// Size of the text, and Stored that of its object on the disk.
	Size   int64 `json:"b,omitempty"`
	Stored int64 `json:"z,omitempty"`
}

// version returns the version of an entry.
func (e entry) version() memory.FolderVersion {
	return memory.FolderVersion{ID: "j" + strconv.Itoa(e.Version), Time: e.Time, History: memory.HistoryJournal}
}

// journalLog is the entries of a journal, the oldest first. Those of the first version are all files that the folder had then.
type journalLog struct {
	entries []entry
	// torn says that the end of the file is half an entry, which a crash has left.
	torn bool
}

// readLog returns the log, an empty one if there is no journal.
func (j *Journal) readLog() (*journalLog, error) {
	data, err := os.ReadFile(filepath.Join(j.opt.Folder, journalFile))
	if errors.Is(err, fs.ErrNotExist) {
		return &journalLog{}, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read the journal: %w", err)
	}
	log := &journalLog{torn: len(data) > 0 && data[len(data)-1] != '\n'}
	for line := range bytes.Lines(data) {
		var e entry
		if json.Unmarshal(line, &e) != nil || e.Version < log.last() || e.Path == "" {
			log.torn = true
			continue
		}
		log.entries = append(log.entries, e)
	}
	return log, nil
}

// last returns the number of the last version, 0 if there is none.
func (l *journalLog) last() int {
	if len(l.entries) == 0 {
		return 0
	}
	return l.entries[len(l.entries)-1].Version
}

// begin returns the time of the first version.
func (l *journalLog) begin() time.Time { return l.entries[0].Time }

// by returns the number of the last version of a time, 0 if the journal begins later.
func (l *journalLog) by(t time.Time) int {
	n := 0
	for _, e := range l.entries {
		if e.Time.After(t) {
			break
		}
		n = e.Version
	}
	return n
}

// version returns a version by its number.
func (l *journalLog) version(n int) (memory.FolderVersion, bool) {
	i := slices.IndexFunc(l.entries, func(e entry) bool { return e.Version == n })
	if i < 0 {
		return memory.FolderVersion{}, false
	}
	return l.entries[i].version(), true
}

// at returns the files of a version.
func (l *journalLog) at(n int) map[string]entry {
	files := map[string]entry{}
	for _, e := range l.entries {
		if e.Version > n {
			break
		}
		if files[e.Path] = e; e.Object == "" {
			delete(files, e.Path)
		}
	}
	return files
}

// append writes entries behind the others.
func (j *Journal) append(l *journalLog, added []entry) error {
	l.entries = append(l.entries, added...)
	if l.torn {
		return j.rewrite(l)
	}
	f, err := os.OpenFile(filepath.Join(j.opt.Folder, journalFile), os.O_CREATE|os.O_RDWR|os.O_APPEND, 0o600)
	if err != nil {
		return fmt.Errorf("write the journal: %w", err)
	}
	err = atomicfile.Append(f, encode(added))
	return errors.Join(err, f.Close())
}

// encode returns entries as lines.
func encode(entries []entry) []byte {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	for _, e := range entries {
		_ = enc.Encode(e) // it has a JSON form
	}
	return b.Bytes()
}

// shrink removes the oldest versions until the journal keeps to its size and its age.
func (j *Journal) shrink(l *journalLog) error {
	oldest := time.Time{}
	if j.opt.MaxAge > 0 {
		oldest = j.opt.Now().Add(-j.opt.MaxAge)
	}
	tooOld := func() bool {
		return len(l.entries) > 0 && l.begin().Before(oldest) && l.second() != nil && !l.second().Time.After(oldest)
	}
	changed := false
	for size := l.size(); size > j.opt.MaxBytes || tooOld(); size = l.size() {
		if !l.dropFirst() {
			break
		}
		changed = true
	}
	if !changed {
		return nil
	}
	return j.rewrite(l)
}

// size returns how many bytes a journal has on the disk, each text counted once.
func (l *journalLog) size() int64 {
	const lineBytes = 200
	seen, size := map[string]bool{}, int64(len(l.entries)*lineBytes)
	for _, e := range l.entries {
		if !seen[e.Object] {
			seen[e.Object] = true
			size += e.Stored
		}
	}
	return size
}

// second returns the first entry of the second version, nil if there is none.
func (l *journalLog) second() *entry {
	i := slices.IndexFunc(l.entries, func(e entry) bool { return e.Version != l.entries[0].Version })
	if i < 0 {
		return nil
	}
	return &l.entries[i]
}

// dropFirst makes the second version the first one: with all files that the folder had then. It reports whether there was a second one.
func (l *journalLog) dropFirst() bool {
	second := l.second()
	if second == nil {
		return false
	}
	n, at := second.Version, second.Time
	files := l.at(n)
	var kept []entry
	for _, e := range l.entries {
		if e.Version > n {
			kept = append(kept, e)
		}
	}
	var first []entry
	for _, e := range files {
		e.Version, e.Time = n, at
		first = append(first, e)
	}
	slices.SortFunc(first, func(a, b entry) int { return bytes.Compare([]byte(a.Path), []byte(b.Path)) })
	if len(first) == 0 { // everything was removed then
		first = append(first, entry{Version: n, Time: at, Path: second.Path})
	}
	l.entries = append(first, kept...)
	return true
}

// rewrite writes the whole log anew, and then removes the texts that it does not name.
func (j *Journal) rewrite(l *journalLog) error {
	root, err := os.OpenRoot(j.opt.Folder)
	if err != nil {
		return fmt.Errorf("write the journal: %w", err)
	}
	defer root.Close()
	if err := atomicfile.Write(root, journalFile, encode(l.entries), 0o600); err != nil {
		return fmt.Errorf("write the journal: %w", err)
	}
	l.torn = false
	return j.removeObjects(l)
}
