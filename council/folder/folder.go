package folder

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"slices"
	"sync"

	"kioku/council"
	"kioku/internal/records"
)

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
	*records.Folder

	mu sync.Mutex
	// tasks are the snapshots of tasks that have not changed; see Task. mu protects the map.
	tasks map[string]cached
}

// Open opens the folder of a council and creates what is missing of it.
func Open(dir string) (*Folder, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("council: %w", err)
	}
	f, err := Look(dir)
	if err != nil {
		return nil, err
	}
	if err := f.refuseLinks(); err != nil {
		return nil, errors.Join(fmt.Errorf("council: %w", err), f.Close())
	}
	for _, sub := range folders {
		if err := f.Root().MkdirAll(sub, 0o700); err != nil {
			return nil, errors.Join(fmt.Errorf("council: %w", err), f.Close())
		}
	}
	return f, nil
}

// Look opens a folder to read it. Nothing is created.
func Look(dir string) (*Folder, error) {
	f, err := records.Open(dir)
	if err != nil {
		return nil, fmt.Errorf("council: %w", err)
	}
	return &Folder{Folder: f, tasks: map[string]cached{}}, nil
}

// refuseLinks returns an error if a folder of the council, or of one of its members, workers, schedules and cycles, is a link: what is read
// there would be somebody else's.
func (f *Folder) refuseLinks() error {
	for _, dir := range []string{".", Nodes, Commands, Suggestions, Schedules, Evaluations} {
		entries, err := f.Entries(dir)
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

// held is the error of a council that another process runs.
func held(err error) error {
	if by, ok := errors.AsType[*records.HeldError](err); ok {
		return fmt.Errorf("another engine runs this council, %w; stop it, or use the commands that only read", by)
	}
	return err
}

// Lock makes this process the only engine of the council until Close. It returns a *records.HeldError if another one is.
func (f *Folder) Lock() error { return held(f.Folder.Lock()) }

// Probe returns a *records.HeldError if somebody runs the council, and nil if nobody does.
func (f *Folder) Probe() error { return held(f.Folder.Probe()) }

// AppendLines adds records as lines of JSON to a file of at most limit bytes. A longer file is not added to.
func (f *Folder) AppendLines(rel string, limit int64, all ...any) error {
	if f.Step != nil {
		f.Step(path.Base(rel) + ":before")
		defer f.Step(path.Base(rel) + ":after")
	}
	return records.Lines{Root: f.Root(), Name: rel, Max: limit}.Append(all...)
}

// Sweep removes temporary files that a crash has left. Only an engine may, which is alone.
func (f *Folder) Sweep() error { return f.Folder.Sweep(Archived, Workspace) }

// Task paths. An id must be valid.

// TaskDir returns the folder of a task: the task, its status, comments, attachments and ballots.
func TaskDir(id string) string { return Discussions + "/" + id }

// Own returns the hidden folder for what only the engine reads and writes of a task in a folder.
func Own(dir string) string { return dir + "/.engine" }

// OwnDir is Own for a task that is discussed.
func OwnDir(id string) string { return Own(TaskDir(id)) }

// RoundDir returns the folder of an attempt at a round in a folder: round_<n>, and round_<n>/attempt_<k> for further attempts.
func RoundDir(dir string, round, attempt int) string {
	dir = fmt.Sprintf("%s/round_%d", dir, round)
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

// Leave removes the records of a task that was moved to the archive: they were copied into dir before.
func (f *Folder) Leave(id, dir string) error {
	f.Forget(id)
	var errs []error
	for _, suffix := range []string{"", "_result", "_history"} {
		if err := f.Root().Remove(DecisionPath(id, suffix)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			errs = append(errs, err)
		}
	}
	progress := Decisions + "/" + id + "_progress.jsonl"
	if f.Exists(progress) {
		errs = append(errs, f.Move(progress, dir+"/progress.jsonl"))
	}
	return errors.Join(errs...)
}

// Sum returns the SHA-256 of bytes in hexadecimal digits, as seals have it.
func Sum(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}
