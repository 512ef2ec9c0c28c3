package history

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"kioku/internal/filelock"
	"kioku/internal/secrets"
	"kioku/memory"
)

const (
	// DefaultJournalBytes is the size that a journal keeps to.
	DefaultJournalBytes = 256 << 20
	// journalLock is the file that who writes the journal has locked.
	journalLock = "lock"
)

// JournalOptions say where a journal is and how much it keeps.
type JournalOptions struct {
	// Folder of the journal, outside of the folder of notes. It is made, 0700, when something is recorded.
	Folder string
	// MaxBytes is the size of the journal on the disk above which its oldest versions are removed; 0 means DefaultJournalBytes. The
	// last version always stays.
	MaxBytes int64
	// MaxAge is the age above which versions are removed; 0 means never.
	MaxAge time.Duration
	// Now is the clock; nil means time.Now.
	Now func() time.Time
}

// Journal is the history of a folder that Kioku keeps itself: the texts of notes, each once, compressed, by the hash of what they say,
// and a log of which file had which text since when. Passwords and keys of known shapes are not in it. A version is what one Record
// has added.
type Journal struct {
	opt JournalOptions
}

// NewJournal returns the journal in a folder, which may not exist yet.
func NewJournal(opt JournalOptions) *Journal {
	opt.MaxBytes = cmp.Or(opt.MaxBytes, DefaultJournalBytes)
	if opt.Now == nil {
		opt.Now = time.Now
	}
	return &Journal{opt: opt}
}

// Noted is a file as the folder has it now.
type Noted struct {
	// Path of the file.
	Path string
	// Hash of its text in the index: as long as it is the same, the text is not read.
	Hash string
}

// Record adds a version with the files that are new, have another text or are gone since the last one; none if nothing has changed.
// read returns the text of a file; one that cannot be read stays as it was. Record returns how many files have changed.
func (j *Journal) Record(ctx context.Context, files []Noted, read func(path string) ([]byte, error)) (changed int, err error) {
	lock, err := j.lock(ctx)
	if err != nil {
		return 0, fmt.Errorf("write the journal: %w", err)
	}
	defer func() { _ = filelock.Unlock(lock) }()
	log, err := j.readLog()
	if err != nil {
		return 0, err
	}
	last := log.at(log.last())
	var added []entry
	seen := map[string]bool{}
	next := entry{Version: log.last() + 1, Time: j.opt.Now().UTC()}
	for _, file := range files {
		seen[file.Path] = true
		if have, ok := last[file.Path]; ok && have.Source == file.Hash {
			continue
		}
		if err := ctx.Err(); err != nil {
			return 0, err
		}
		e, err := j.keep(next, file, read)
		if err != nil {
			return 0, fmt.Errorf("write the journal: %w", err)
		}
		if e.Object != "" {
			added = append(added, e)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(last)) {
		if !seen[name] {
			gone := next
			gone.Path = name
			added = append(added, gone)
		}
	}
	if len(added) > 0 {
		err = j.append(log, added)
	}
	return len(added), cmp.Or(err, j.shrink(log))
}

// keep stores the text of a file and returns its entry, which has no object if the file cannot be read.
func (j *Journal) keep(e entry, file Noted, read func(path string) ([]byte, error)) (entry, error) {
	src, err := read(file.Path)
	if err != nil {
		return entry{}, nil
	}
	text, _ := secrets.Redact(string(src))
	sum := sha256.Sum256([]byte(text))
	e.Path, e.Source, e.Object, e.Size = file.Path, file.Hash, hex.EncodeToString(sum[:]), int64(len(text))
	e.Stored, err = j.writeObject(e.Object, []byte(text))
	return e, err
}

// lock makes the folder and waits until nobody else writes the journal.
func (j *Journal) lock(ctx context.Context) (*os.File, error) {
	if err := os.MkdirAll(j.opt.Folder, 0o700); err != nil {
		return nil, err
	}
	f, err := os.OpenFile(filepath.Join(j.opt.Folder, journalLock), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	if err := filelock.Lock(ctx, f); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// Exists reports whether the journal has a version.
func (j *Journal) Exists() bool {
	log, err := j.readLog()
	return err == nil && log.last() > 0
}

// Find returns the last version that was made by a time, or the one with an id.
func (j *Journal) Find(_ context.Context, at memory.Moment) (memory.FolderVersion, error) {
	log, err := j.readLog()
	if err != nil {
		return memory.FolderVersion{}, err
	}
	n := log.last()
	switch {
	case at.Revision != "":
		number, ok := strings.CutPrefix(at.Revision, "j")
		if n, err = strconv.Atoi(number); !ok || err != nil {
			return memory.FolderVersion{}, fmt.Errorf("%w: the journal has ids such as j12, and not %.80q", memory.ErrNoVersion, at.Revision)
		}
	case !at.Time.IsZero():
		n = log.by(at.Time)
	}
	v, ok := log.version(n)
	if !ok && log.last() > 0 {
		return v, fmt.Errorf("%w: the journal has the versions since %s", memory.ErrNoVersion, log.begin().Format(time.RFC3339))
	}
	if !ok {
		return v, fmt.Errorf("%w: the journal is empty", memory.ErrNoHistory)
	}
	return v, nil
}

// Log returns changes. The files of the first version count as added then.
func (j *Journal) Log(_ context.Context, q memory.LogQuery) ([]memory.FileChange, error) {
	log, err := j.readLog()
	if err != nil {
		return nil, err
	}
	known := map[string]bool{}
	var all []memory.FileChange
	for _, e := range log.entries {
		change := memory.FileChanged
		if !known[e.Path] {
			change = memory.FileAdded
		}
		if known[e.Path] = e.Object != ""; e.Object == "" {
			change = memory.FileRemoved
		}
		out := !q.Since.IsZero() && e.Time.Before(q.Since) || !q.Until.IsZero() && e.Time.After(q.Until)
		if !out && isBelow(e.Path, q.Path) {
			all = append(all, memory.FileChange{FolderVersion: e.version(), Path: e.Path, Change: change})
		}
	}
	slices.Reverse(all)
	if q.Limit > 0 {
		all = all[:min(len(all), q.Limit)]
	}
	return all, nil
}

// Tree returns the files of a version.
func (j *Journal) Tree(_ context.Context, v memory.FolderVersion) (Tree, error) {
	log, err := j.readLog()
	if err != nil {
		return Tree{}, err
	}
	n, err := strconv.Atoi(strings.TrimPrefix(v.ID, "j"))
	if _, ok := log.version(n); err != nil || !ok {
		return Tree{}, fmt.Errorf("%w: the journal has no %s", memory.ErrNoVersion, v.ID)
	}
	files, sum := log.at(n), sha256.New()
	var t Tree
	for _, name := range slices.Sorted(maps.Keys(files)) {
		e := files[name]
		t.Files = append(t.Files, File{Path: name, Hash: e.Object, Size: e.Size})
		fmt.Fprintf(sum, "%s\x00%s\x00", name, e.Object)
	}
	t.ID = hex.EncodeToString(sum.Sum(nil))[:40]
	return t, nil
}

// Read reads files of a tree.
func (j *Journal) Read(ctx context.Context, files []File, f func(file File, text []byte) error) error {
	for _, file := range files {
		if err := ctx.Err(); err != nil {
			return err
		}
		text, err := j.readObject(file.Hash)
		if errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("%w of %s: its text was removed from the journal", memory.ErrNoVersion, file.Path)
		}
		if err == nil {
			err = f(file, text)
		}
		if err != nil {
			return fmt.Errorf("read %s: %w", file.Path, err)
		}
	}
	return nil
}

// Purge removes all versions of a file, or of the files of a folder, and everything if the path is empty. What the folder of notes
// has then is recorded again by the next Record. Purge returns how many versions of files it has removed.
func (j *Journal) Purge(ctx context.Context, name string) (removed int, err error) {
	if _, err := os.Stat(j.opt.Folder); errors.Is(err, fs.ErrNotExist) {
		return 0, nil
	}
	lock, err := j.lock(ctx)
	if err != nil {
		return 0, fmt.Errorf("purge the journal: %w", err)
	}
	defer func() { _ = filelock.Unlock(lock) }()
	log, err := j.readLog()
	if err != nil {
		return 0, err
	}
	before := len(log.entries)
	log.entries = slices.DeleteFunc(log.entries, func(e entry) bool { return isBelow(e.Path, name) })
	if len(log.entries) == before {
		return 0, nil
	}
	return before - len(log.entries), j.rewrite(log)
}
