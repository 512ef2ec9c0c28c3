package folder

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
	"sync"
	"syscall"

	"kioku/council"
	"kioku/internal/files"
)

// MaxFile is the maximum size of a file of JSON.
const MaxFile = 1 << 20

// ErrTooLarge is the error of a record that could not be read again.
var ErrTooLarge = fmt.Errorf("the record has more than %d bytes", MaxFile)

// perm are the permissions of files; folders are 0700.
const perm = 0o600

// Folders below that of a council.
const (
	Inbox       = "inbox"
	Discussions = "discussions"
	Decisions   = "decisions"
	Evaluations = "evaluations"
	Nodes       = "nodes"
	Commands    = "commands"
	Suggestions = "suggestions"
	Schedules   = "schedules"
	Actions     = "rebuild_requests"
	Logs        = "logs"
	Archived    = "archive"
	Workspace   = "workspace"
)

// folders are those that every council has.
var folders = []string{Inbox, Inbox + "/rejected", Discussions, Decisions, Evaluations, Nodes, Commands, Suggestions, Actions, Logs, Archived}

// Folder is that of a council. Its methods may be called concurrently.
type Folder struct {
	root *os.Root
	path string
	lock *os.File

	mu sync.Mutex
	// tasks are the snapshots of tasks that have not changed; see Task. mu protects the map.
	tasks map[string]cached
}

// HeldError says who holds the lock of a council. It is files.ErrHeld.
type HeldError struct {
	Holder string // process and host
}

// Error implements error.
func (e *HeldError) Error() string {
	return "another engine runs this council: " + e.Holder + "; stop it, or use the commands that only read"
}

// Unwrap returns files.ErrHeld.
func (e *HeldError) Unwrap() error { return files.ErrHeld }

// Open opens the folder of a council and creates what is missing of it.
func Open(dir string) (*Folder, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("council: %w", err)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, fmt.Errorf("council: %w", err)
	}
	f := &Folder{root: root, path: dir, tasks: map[string]cached{}}
	if err := f.refuseLinks(); err != nil {
		return nil, errors.Join(fmt.Errorf("council: %w", err), root.Close())
	}
	for _, sub := range folders {
		if err := root.MkdirAll(sub, 0o700); err != nil {
			return nil, errors.Join(fmt.Errorf("council: %w", err), root.Close())
		}
	}
	return f, nil
}

// refuseLinks returns an error if a folder of the council, or of one of its members, workers, schedules and cycles, is a link: what is read
// there would be somebody else's.
func (f *Folder) refuseLinks() error {
	for _, dir := range []string{".", Nodes, Commands, Suggestions, Schedules, Evaluations} {
		entries, err := f.entries(dir)
		if err != nil {
			return err
		}
		for _, e := range entries {
			if e.Type()&fs.ModeSymlink == 0 {
				continue
			}
			if rel := path.Join(dir, e.Name()); dir != "." || e.Name() == Schedules || slices.Contains(folders, e.Name()) {
				return fmt.Errorf("%s is a link; put the folder itself in its place", rel)
			}
		}
	}
	return nil
}

// Path returns the path of the folder.
func (f *Folder) Path() string { return f.path }

// Root returns the folder as a root. It is closed by Close.
func (f *Folder) Root() *os.Root { return f.root }

// Lock makes this process the only engine of the council until Close. It returns a *HeldError if another one is.
func (f *Folder) Lock() error {
	file, err := f.root.OpenFile(".lock", os.O_CREATE|os.O_RDWR|syscall.O_NOFOLLOW, perm)
	if err != nil {
		return fmt.Errorf("lock the council: %w", err)
	}
	if err := files.TryLock(file); err != nil {
		defer file.Close()
		if !errors.Is(err, files.ErrHeld) {
			return fmt.Errorf("lock the council: %w", err)
		}
		holder, _ := io.ReadAll(io.LimitReader(file, 200))
		return &HeldError{Holder: strings.TrimSpace(string(holder))}
	}
	host, _ := os.Hostname() // only for people
	if err := file.Truncate(0); err == nil {
		_, err = fmt.Fprintf(file, "process %d on %s\n", os.Getpid(), host)
		if err != nil {
			return errors.Join(err, file.Close())
		}
	}
	f.lock = file
	return nil
}

// Locked reports whether this Folder has the lock.
func (f *Folder) Locked() bool { return f.lock != nil }

// Close releases the lock and the folder.
func (f *Folder) Close() error {
	var err error
	if f.lock != nil {
		err = files.Unlock(f.lock)
	}
	return errors.Join(err, f.root.Close())
}

// Publish writes a file that must not exist, and never changes. It returns fs.ErrExist if it does; of several callers one succeeds. It
// returns ErrTooLarge for a record of more than MaxFile bytes.
func (f *Folder) Publish(rel string, v any) error {
	data, err := Encode(v)
	if err != nil {
		return err
	}
	if len(data) > MaxFile {
		return fmt.Errorf("%s: %w", rel, ErrTooLarge)
	}
	return f.PublishBytes(rel, data)
}

// PublishBytes is Publish for bytes.
func (f *Folder) PublishBytes(rel string, data []byte) error {
	if err := f.root.MkdirAll(path.Dir(rel), 0o700); err != nil {
		return err
	}
	return files.Create(f.root, rel, data, perm)
}

// Write replaces a file that follows from others. It writes nothing and returns false if the file is the same already. It returns
// ErrTooLarge for a record of more than MaxFile bytes.
func (f *Folder) Write(rel string, v any) (changed bool, err error) {
	data, err := Encode(v)
	if err != nil {
		return false, err
	}
	if len(data) > MaxFile {
		return false, fmt.Errorf("%s: %w", rel, ErrTooLarge)
	}
	if old, err := f.ReadBytes(rel, MaxFile); err == nil && bytes.Equal(old, data) {
		return false, nil
	}
	if err := f.root.MkdirAll(path.Dir(rel), 0o700); err != nil {
		return false, err
	}
	return true, files.Write(f.root, rel, data, perm)
}

// Encode returns a record as it is on disk.
func Encode(v any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(v); err != nil {
		return nil, fmt.Errorf("encode a record of the council: %w", err)
	}
	return b.Bytes(), nil
}

// Read reads a record. It returns fs.ErrNotExist if there is none.
func (f *Folder) Read(rel string, v any) error {
	data, err := f.ReadBytes(rel, MaxFile)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(data, v); err != nil {
		return fmt.Errorf("%s: %w", rel, err)
	}
	return nil
}

// ReadBytes reads a regular file of at most limit bytes. Links are not followed.
func (f *Folder) ReadBytes(rel string, limit int64) ([]byte, error) {
	file, err := f.root.OpenFile(rel, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return nil, err
	}
	// A Root follows links that stay within it, whatever the flags say.
	if named, err := f.root.Lstat(rel); err != nil || !info.Mode().IsRegular() || !os.SameFile(named, info) {
		return nil, fmt.Errorf("%s is not a regular file; put a copy of the file in its place", rel)
	}
	if info.Size() > limit {
		return nil, fmt.Errorf("%s has more than %d bytes", rel, limit)
	}
	data := make([]byte, 0, info.Size()+1)
	buf := bytes.NewBuffer(data)
	if _, err := buf.ReadFrom(io.LimitReader(file, limit)); err != nil {
		return nil, err
	}
	return buf.Bytes(), nil
}

// Names returns the names in a folder, sorted, without temporary files; none if there is no such folder.
func (f *Folder) Names(rel string) ([]string, error) {
	entries, err := f.entries(rel)
	if err != nil {
		return nil, err
	}
	names := make([]string, len(entries))
	for i, e := range entries {
		names[i] = e.Name()
	}
	return names, nil
}

// entries returns what is in a folder, sorted, without temporary files.
func (f *Folder) entries(rel string) ([]fs.DirEntry, error) {
	dir, err := f.root.Open(rel)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	all, err := dir.ReadDir(-1)
	if err != nil {
		return nil, err
	}
	kept := all[:0]
	for _, e := range all {
		if !files.IsTemp(e.Name()) {
			kept = append(kept, e)
		}
	}
	sortEntries(kept)
	return kept, nil
}

// Exists reports whether there is something of that name.
func (f *Folder) Exists(rel string) bool {
	_, err := f.root.Lstat(rel)
	return err == nil
}

// Move renames a file or folder and flushes both folders. The new name must not exist.
func (f *Folder) Move(from, to string) error {
	if err := f.root.MkdirAll(path.Dir(to), 0o700); err != nil {
		return err
	}
	if f.Exists(to) {
		return fmt.Errorf("%s: %w", to, fs.ErrExist)
	}
	if err := f.root.Rename(from, to); err != nil {
		return err
	}
	return errors.Join(files.SyncFolder(f.root, path.Dir(to)), files.SyncFolder(f.root, path.Dir(from)))
}

// AppendLine adds a record as a line of JSON to a file of at most limit bytes. A longer file is not added to.
func (f *Folder) AppendLine(rel string, v any, limit int64) error {
	line, err := json.Marshal(v)
	if err != nil {
		return err
	}
	if err := f.root.MkdirAll(path.Dir(rel), 0o700); err != nil {
		return err
	}
	file, err := f.root.OpenFile(rel, os.O_CREATE|os.O_APPEND|os.O_RDWR|syscall.O_NOFOLLOW, perm)
	if err != nil {
		return err
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil || info.Size()+int64(len(line)) > limit {
		return err
	}
	if info.Size() > 0 { // what a crash has left of a line ends here
		last := make([]byte, 1)
		if _, err := file.ReadAt(last, info.Size()-1); err == nil && last[0] != '\n' {
			line = append([]byte{'\n'}, line...)
		}
	}
	_, err = file.Write(append(line, '\n'))
	return err
}

// Lines reads the last n lines of a file of lines of JSON; lines that are none are skipped. There are none if there is no file.
func Lines[T any](f *Folder, rel string, n int) ([]T, error) {
	data, err := f.ReadBytes(rel, 16<<20)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var all []T
	for line := range bytes.Lines(data) {
		var v T
		if json.Unmarshal(line, &v) == nil {
			all = append(all, v)
		}
	}
	return all[max(0, len(all)-n):], nil
}

// Sweep removes temporary files that a crash has left. Only an engine may, which is alone.
func (f *Folder) Sweep() error {
	var errs []error
	err := fs.WalkDir(f.root.FS(), ".", func(rel string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			errs = append(errs, err)
		case d.IsDir() && (rel == Archived || rel == Workspace):
			return fs.SkipDir
		case !d.IsDir() && files.IsTemp(d.Name()):
			errs = append(errs, f.root.Remove(rel))
		}
		return nil
	})
	return errors.Join(append(errs, err)...)
}

// Task paths. An id must be valid.

// TaskDir returns the folder of a task.
func TaskDir(id string) string { return Discussions + "/" + id }

// RoundDir returns the folder of an attempt at a round: round_<n>, and round_<n>/attempt_<k> for further attempts.
func RoundDir(id string, round, attempt int) string {
	dir := fmt.Sprintf("%s/round_%d", TaskDir(id), round)
	if attempt > 1 {
		dir += fmt.Sprintf("/attempt_%d", attempt)
	}
	return dir
}

// DecisionPath returns the path of the record of a decision, or of a file beside it: suffix "_result", "_history".
func DecisionPath(id, suffix string) string { return Decisions + "/" + id + suffix + ".json" }

// BallotProblem says why the bytes of a ballot do not count, "" if they do.
func BallotProblem(b council.Ballot, node string, round int) string {
	switch {
	case b.Node != node:
		return fmt.Sprintf("the ballot names the node %.80q", b.Node)
	case b.Round != round:
		return fmt.Sprintf("the ballot names the round %d", b.Round)
	case b.Vote != council.VoteApprove && b.Vote != council.VoteWithChanges && b.Vote != council.VoteReject:
		return fmt.Sprintf("%.80q is not a vote", b.Vote)
	}
	return ""
}

// WriteLoose replaces a file without flushing it to the disk, for what is worth nothing after a crash.
func (f *Folder) WriteLoose(rel string, v any) error {
	data, err := Encode(v)
	if err != nil {
		return err
	}
	if err := f.root.MkdirAll(path.Dir(rel), 0o700); err != nil {
		return err
	}
	temp := path.Join(path.Dir(rel), ".kioku-loose.tmp")
	if err := f.root.WriteFile(temp, data, perm); err != nil {
		return err
	}
	return f.root.Rename(temp, rel)
}

// Leave removes the records of a task that was moved to the archive: they were copied into dir before.
func (f *Folder) Leave(id, dir string) error {
	f.Forget(id)
	var errs []error
	for _, suffix := range []string{"", "_result", "_history"} {
		if err := f.root.Remove(DecisionPath(id, suffix)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			errs = append(errs, err)
		}
	}
	progress := Decisions + "/" + id + "_progress.jsonl"
	if f.Exists(progress) {
		errs = append(errs, f.Move(progress, dir+"/progress.jsonl"))
	}
	return errors.Join(errs...)
}

// Probe returns a *HeldError if somebody runs the council, and nil if nobody does.
func (f *Folder) Probe() error {
	file, err := f.root.OpenFile(".lock", os.O_RDWR|syscall.O_NOFOLLOW, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	if err := files.TryLock(file); errors.Is(err, files.ErrHeld) {
		defer file.Close()
		holder, _ := io.ReadAll(io.LimitReader(file, 200))
		return &HeldError{Holder: strings.TrimSpace(string(holder))}
	} else if err != nil {
		return errors.Join(err, file.Close())
	}
	return files.Unlock(file)
}

// Look opens a folder to read it. Nothing is created.
func Look(dir string) (*Folder, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, fmt.Errorf("council: %w", err)
	}
	return &Folder{root: root, path: dir, tasks: map[string]cached{}}, nil
}

// Sum returns the SHA-256 of bytes in hexadecimal digits, as seals have it.
func Sum(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}
