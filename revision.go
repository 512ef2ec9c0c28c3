package kioku

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"kioku/internal/atomicfile"
	"kioku/internal/marks"
	"kioku/internal/safefile"
	"kioku/memory"
)

const (
	// revisionFile is the file beside a kept copy that describes the update.
	revisionFile = "revision.json"
	// plannedFile is its name until the update is made.
	plannedFile = "planned.json"
)

// revisionID matches the name of the folder of a revision.
var revisionID = regexp.MustCompile(`^\d{8}T\d{6}-\d{9}Z-update(?:-\d+)?$`)

// revision is what is kept of an update beside the file as it was.
type revision struct {
	Path   string    `json:"path"`
	Time   time.Time `json:"time"`
	Line   int       `json:"line"`
	Old    string    `json:"old_text"`
	New    string    `json:"new_text"`
	Reason string    `json:"reason,omitempty"`
	Source string    `json:"source,omitempty"`
	Undoes string    `json:"undoes,omitempty"`
	// TookNotes says that notes were taken back, which may be in the file of a day.
	TookNotes bool `json:"took_notes,omitempty"`
	// Before and After are the changed lines and those around them, so that an undo finds them after other changes.
	Before string `json:"before"`
	After  string `json:"after"`
	// AfterSum is the fingerprint of the whole file after the update.
	AfterSum string `json:"after_sum"`
}

// describe fills in what a change does to a text, which is want then.
func (r *revision) describe(name string, have, want []byte, c textChange) {
	r.Path, r.Line = name, 1+countLineBreaks(have[:c.from])
	r.Old, r.New = string(have[c.from:c.to]), c.added
	start := 1 + bytes.LastIndexByte(have[:c.from], '\n')
	if start > 0 {
		start = 1 + bytes.LastIndexByte(have[:start-1], '\n')
	}
	end := c.to
	if end == 0 || end < len(have) && have[end-1] != '\n' {
		end = endOfLine(have, end)
	}
	if end < len(have) {
		end = endOfLine(have, end)
	}
	r.Before, r.After = string(have[start:end]), string(want[start:end+len(want)-len(have)])
	r.AfterSum = fingerprint(string(want))
}

// keepRevision keeps a copy of a file as it is, and what is about to be done to it. It is no revision until confirmRevision.
func (m *Memory) keepRevision(name string, src []byte, r revision) (id string, err error) {
	if id, err = m.kept().Keep("update", []string{name}, copyOf(src)); err != nil {
		return "", err
	}
	r.Time = m.opt.Now().UTC()
	data, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return "", err
	}
	root, err := os.OpenRoot(m.kept().Path)
	if err != nil {
		return "", err
	}
	defer root.Close()
	return id, atomicfile.Create(root, path.Join(id, plannedFile), append(data, '\n'), 0o600)
}

// forgetRevision removes the plan of an update that failed, unless it was made all the same. The copy stays.
func (m *Memory) forgetRevision(id string, r revision) {
	if m.isMade(r) {
		return
	}
	if err := os.Remove(filepath.Join(m.kept().Path, id, plannedFile)); err != nil {
		m.log.Warn("the plan of an update that failed stays", "revision", id, "err", err)
	}
}

// confirmRevision makes a planned update a revision. If that fails, the update is one as long as its file stays as it is.
func (m *Memory) confirmRevision(id string) {
	root, err := os.OpenRoot(filepath.Join(m.kept().Path, id))
	if err == nil {
		defer root.Close()
		err = cmp.Or(root.Rename(plannedFile, revisionFile), atomicfile.SyncFolder(root, "."))
	}
	if err != nil {
		m.log.Warn("an update may be missing in the list of revisions", "revision", id, "err", err)
	}
}

// readRevision returns a revision. It returns an error that is fs.ErrNotExist for an unknown id, and for an update that was planned and
// not made.
func (m *Memory) readRevision(id string) (revision, error) {
	if !revisionID.MatchString(id) {
		return revision{}, fs.ErrNotExist
	}
	folder := filepath.Join(m.kept().Path, id)
	r, err := readRevisionFile(filepath.Join(folder, revisionFile))
	if !errors.Is(err, fs.ErrNotExist) {
		return r, err
	}
	r, err = readRevisionFile(filepath.Join(folder, plannedFile))
	if err == nil && !m.isMade(r) {
		err = fs.ErrNotExist
	}
	return r, err
}

// readRevisionFile reads the description of an update.
func readRevisionFile(name string) (revision, error) {
	var r revision
	data, err := os.ReadFile(name)
	if err == nil {
		err = json.Unmarshal(data, &r)
	}
	if err != nil {
		return r, fmt.Errorf("read %s: %w", name, err)
	}
	return r, nil
}

// isMade reports whether a file is as a planned update leaves it, so that a crash came after the update.
func (m *Memory) isMade(r revision) bool {
	root, err := os.OpenRoot(m.workspace)
	if err != nil {
		return false
	}
	defer root.Close()
	src, _, err := safefile.Read(root, r.Path, m.opt.Index.maxFileBytes())
	return err == nil && fingerprint(string(src)) == r.AfterSum
}

// Revisions returns the updates that were made, the latest first; none if there were none. It leaves out those whose record cannot be
// read, and logs them.
func (m *Memory) Revisions(ctx context.Context) ([]memory.Revision, error) {
	if err := m.enter(); err != nil {
		return nil, err
	}
	defer m.leave()
	return m.revisions(ctx)
}

// revisions is Revisions within a call.
func (m *Memory) revisions(ctx context.Context) ([]memory.Revision, error) {
	entries, err := os.ReadDir(m.kept().Path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("list revisions: %w", err)
	}
	var all []memory.Revision
	for _, entry := range entries {
		r, err := m.readRevision(entry.Name())
		if errors.Is(err, fs.ErrNotExist) {
			continue // a copy that another tool has kept, or of an update that was not made
		}
		if err != nil {
			m.log.Warn("a revision is left out", "revision", entry.Name(), "err", err)
			continue
		}
		all = append(all, memory.Revision{ID: entry.Name(), Time: r.Time, Path: r.Path, Line: r.Line, OldText: shownText(r.Old), NewText: shownText(r.New),
			Reason: r.Reason, Source: r.Source, Undoes: r.Undoes})
	}
	slices.SortStableFunc(all, func(a, b memory.Revision) int { return cmp.Compare(a.Time.UnixNano(), b.Time.UnixNano()) })
	setUndone(all)
	slices.Reverse(all)
	return all, ctx.Err()
}

// setUndone fills in which revisions were taken back, the oldest first. If a revision that takes another back is taken back itself, the
// other one holds again.
func setUndone(all []memory.Revision) {
	at := map[string]int{}
	for i, r := range all {
		at[r.ID] = i
		for undone, id := true, r.Undoes; ; undone = !undone {
			of, ok := at[id]
			if !ok {
				break
			}
			all[of].Undone, id = undone, all[of].Undoes
		}
	}
}

// shownText returns a text without markers.
func shownText(s string) string { return strings.TrimSpace(string(marks.Strip([]byte(s)))) }

// Undo takes an update back, the latest that was not taken back if the id is empty, and is an update itself. If the file was changed
// since, only the lines of the update become what they were. Undo returns a *memory.InputError, and changes nothing, for an unknown
// id, for an update that was taken back already, and if these lines were changed too; otherwise the errors of Update.
func (m *Memory) Undo(ctx context.Context, id string) (memory.Updated, error) {
	if err := m.enter(); err != nil {
		return memory.Updated{}, err
	}
	defer m.leave()
	id, r, err := m.undoable(ctx, id)
	if err != nil {
		return memory.Updated{}, err
	}
	if err := m.checkUpdated(r.Path); err != nil && !r.TookNotes {
		return memory.Updated{}, err
	}
	done, err := m.edit(ctx, r.Path, revision{Undoes: id, TookNotes: r.TookNotes}, func(src []byte) (textChange, error) { return m.undoing(id, r, src) })
	done.Revision = id
	return done, err
}

// undoing returns the change that takes an update back in a text.
func (m *Memory) undoing(id string, r revision, src []byte) (textChange, error) {
	before := filepath.Join(m.kept().Path, id, filepath.FromSlash(r.Path))
	if fingerprint(string(src)) == r.AfterSum {
		text, err := os.ReadFile(before)
		return narrow(textChange{0, len(src), string(text)}, src), err
	}
	from := bytes.Index(src, []byte(r.After))
	if from < 0 || bytes.LastIndex(src, []byte(r.After)) != from || !isWholeLines(src, from, from+len(r.After)) {
		return textChange{}, &memory.InputError{Field: "revision", Problem: fmt.Sprintf(
			"the lines of %s that it has changed were changed since; the file as it was before is %s", r.Path, before)}
	}
	return narrow(textChange{from, from + len(r.After), r.Before}, src), nil
}

// isWholeLines reports whether a part of a text begins and ends where lines do.
func isWholeLines(src []byte, from, to int) bool {
	begins := from == 0 || src[from-1] == '\n'
	return begins && (to == len(src) || to > 0 && src[to-1] == '\n')
}

// undoable returns the revision with an id, or the latest one. It returns a *memory.InputError for one that was taken back.
func (m *Memory) undoable(ctx context.Context, id string) (string, revision, error) {
	bad := func(problem string) (string, revision, error) {
		return "", revision{}, &memory.InputError{Field: "revision", Problem: problem}
	}
	all, err := m.revisions(ctx)
	if err != nil {
		return "", revision{}, err
	}
	at := slices.IndexFunc(all, func(r memory.Revision) bool {
		return r.ID == id || id == "" && !r.Undone && r.Undoes == ""
	})
	switch {
	case id == "" && at < 0:
		return bad("there is no update to take back")
	case at >= 0 && all[at].Undone:
		return bad(fmt.Sprintf("%s was taken back already; kioku undo --list lists the updates", id))
	case at >= 0:
		id = all[at].ID
	}
	r, err := m.readRevision(id)
	if errors.Is(err, fs.ErrNotExist) {
		return bad(fmt.Sprintf("there is no revision %.80q; kioku undo --list lists them", id))
	}
	return id, r, err
}

// narrow returns a change without what is the same at its beginning and end, in whole lines.
func narrow(c textChange, src []byte) textChange {
	for c.from < c.to {
		line := string(src[c.from:min(endOfLine(src, c.from), c.to)])
		if !strings.HasSuffix(line, "\n") || !strings.HasPrefix(c.added, line) {
			break
		}
		c.from += len(line)
		c.added = c.added[len(line):]
	}
	for c.from < c.to {
		line := string(src[1+bytes.LastIndexByte(src[c.from:c.to-1], '\n')+c.from : c.to])
		if !strings.HasSuffix(c.added, line) || len(c.added) > len(line) && c.added[len(c.added)-len(line)-1] != '\n' {
			break
		}
		c.to -= len(line)
		c.added = c.added[:len(c.added)-len(line)]
	}
	return c
}
