package kioku

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"kioku/history"

	"kioku/indexer"
	"kioku/memory"
	"kioku/note"
)

// stateOf returns a folder of the agent in the state folder.
func (m *Memory) stateOf(name string) string {
	return filepath.Join(m.opt.StateDir, "agents", m.opt.Agent, name)
}

// newNotes returns the notes of the folder.
func (m *Memory) newNotes() *note.Folder {
	return note.New(note.Options{
		Path: m.workspace, State: m.stateOf("note"), MaxFileBytes: m.opt.Index.MaxFileBytes, Location: m.opt.Location, Now: m.opt.Now, Log: m.log,
		Prepare: m.keepWhole,
		Owns: func(path string) (string, bool) {
			root, _, ok := m.indexer.Owns(path)
			return root, ok
		},
	})
}

// writing runs a call that changes notes. If it has changed any, a sync starts, and nobody waits for that.
func (m *Memory) writing(ctx context.Context, call func() (changed bool, err error)) error {
	if err := m.enter(); err != nil {
		return err
	}
	defer m.leave()
	if m.opt.Mode == ReadOnly {
		return memory.ErrReadOnly
	}
	changed, err := call()
	if changed && !m.opt.GivenVectors {
		m.catchUp(ctx)
	}
	return err
}

// Append writes a note at the end of today's file, of that of a group, or of MEMORY.md, and fsyncs it; see note.Folder.Append. It starts a
// sync and does not wait for it. No search finds or shows markers.
//
// Before the first note of a folder that is indexed whole, Append records in its settings file that the rest of its Markdown stays
// indexed; see IncludeAll. It returns memory.ErrReadOnly in the mode ReadOnly.
func (m *Memory) Append(ctx context.Context, n memory.Note) (a memory.Appended, err error) {
	err = m.writing(ctx, func() (bool, error) {
		a, err = m.notes.Append(ctx, n)
		if err != nil || a.Deduplicated || m.opt.GivenVectors { // which indexes what it writes itself
			return false, err
		}
		m.work.mu.Lock()
		defer m.work.mu.Unlock()
		m.work.written++
		return true, nil
	})
	return a, err
}

// Update replaces a text in a file of what stays true; see note.Folder.Update.
func (m *Memory) Update(ctx context.Context, u memory.Update) (done memory.Updated, err error) {
	err = m.writing(ctx, func() (bool, error) {
		if u.Path != "" {
			if err := memory.CheckPath(u.Path); err != nil {
				return false, err
			}
			if path, ok := m.fileNamed(u.Path); ok {
				u.Path = path
			}
		}
		done, err = m.notes.Update(ctx, u)
		return err == nil, err
	})
	return done, err
}

// Undo takes an update back; see note.Folder.Undo.
func (m *Memory) Undo(ctx context.Context, id string) (done memory.Updated, err error) {
	err = m.writing(ctx, func() (bool, error) {
		done, err = m.notes.Undo(ctx, id)
		return err == nil, err
	})
	return done, err
}

// Revisions returns the updates that were made, the latest first; none if there were none.
func (m *Memory) Revisions(ctx context.Context) ([]memory.Revision, error) {
	return inCall(m, func() ([]memory.Revision, error) {
		all, err := m.notes.Revisions(ctx)
		gone := m.notes.Forgotten()
		for i, r := range all {
			all[i].OldText, all[i].NewText = string(gone.Mask([]byte(r.OldText))), string(gone.Mask([]byte(r.NewText)))
		}
		return all, err
	})
}

// UndoWrites takes back the notes of a conversation, or those since a time; see note.Folder.UndoWrites.
func (m *Memory) UndoWrites(ctx context.Context, u memory.UndoWrites) (done memory.UndoneWrites, err error) {
	if u.DryRun {
		return inCall(m, func() (memory.UndoneWrites, error) { return m.notes.UndoWrites(ctx, u) })
	}
	err = m.writing(ctx, func() (bool, error) {
		done, err = m.notes.UndoWrites(ctx, u)
		return len(done.Revisions) > 0, err
	})
	return done, err
}

// includeAll is what IncludeAll adds to the settings file of a workspace.
const includeAll = "# All Markdown of this folder is indexed, not only MEMORY.md and memory/.\ninclude: [\"**/*.md\"]\n"

// IncludeAll adds to the settings file of a workspace, .kioku.yaml, that every Markdown file in it is indexed. It makes the file
// if there is none, and changes nothing if the file says already what to include. It returns an error that says what to do if
// the file cannot be written or is no YAML that a line can be added to.
func IncludeAll(ctx context.Context, workspace string) error {
	return note.AddLines(ctx, workspace, indexer.SettingsFile, includeAll, func(text []byte) (bool, error) {
		globs, err := indexer.ParseInclude(text)
		return len(globs) > 0, err
	})
}

// keepWhole makes sure that the files of a whole folder stay in the index once it has MEMORY.md or memory/, in which Append is
// about to write. The settings file says so: it survives the index, is copied with the folder, and people can read it.
func (m *Memory) keepWhole(ctx context.Context) error {
	hides, err := m.indexer.HidesFiles(ctx)
	if err != nil || !hides {
		return err
	}
	if err := IncludeAll(ctx, m.workspace); err != nil {
		return fmt.Errorf("%w; the note was not written, because with it the other files of the folder would no longer be indexed", err)
	}
	return nil
}

// pastWait is how long a search waits for another process that makes the same index of old notes.
const pastWait = time.Minute

// newPast returns the past of the folder.
func (m *Memory) newPast() *history.Past {
	h := m.opt.History
	return history.NewPast(history.Options{
		Folder: m.workspace, State: m.stateOf(""), ReadOnly: m.opt.Mode == ReadOnly,
		KeepsJournal: h.Journal, Journal: history.JournalOptions{MaxBytes: h.MaxBytes, MaxAge: h.MaxAge},
		Owns: m.ownsNote, FileOf: m.fileNamed, Indexed: m.indexedNotes, Changes: m.notes,
		Index: m.indexPast, Search: m.searchPast, Recipe: fmt.Sprintf("%+v %s", m.opt.Chunking, markersVersion),
		MaxFileBytes: m.opt.Index.MaxFileBytes, Episodes: m.opt.Episodes, Location: m.opt.Location, Now: m.opt.Now,
	})
}

// ownsNote reports whether a path is one of a note of the workspace that the settings of today include.
func (m *Memory) ownsNote(name string) bool {
	root, rel, ok := m.indexer.Owns(name)
	return ok && root == m.workspace && rel == name && !m.indexer.IsTranscript(name)
}

// indexedNotes returns what the index has; a file whose text is not indexed has no hash.
func (m *Memory) indexedNotes(ctx context.Context) ([]history.Noted, error) {
	indexed, err := m.store.Files(ctx)
	notes := make([]history.Noted, 0, len(indexed))
	for path, f := range indexed {
		n := history.Noted{Path: path}
		if f.Skipped == "" {
			n.Hash = fmt.Sprintf("%x", f.SHA256)
		}
		notes = append(notes, n)
	}
	return notes, err
}

// indexPast makes an index of old notes in a state folder.
func (m *Memory) indexPast(ctx context.Context, notes, state string) error {
	past, err := Open(ctx, m.pastOptions(notes, state, Own))
	if err != nil {
		return err
	}
	_, err = past.Sync(ctx, SyncOptions{}, nil)
	return errors.Join(err, past.Close())
}

// searchPast answers a query from such an index.
func (m *Memory) searchPast(ctx context.Context, notes, state string, q memory.Query) (memory.Answer, error) {
	past, err := Open(ctx, m.pastOptions(notes, state, ReadOnly))
	if err != nil {
		return memory.Answer{}, err
	}
	answer, err := past.Search(ctx, q)
	if m.opt.Embedder.Enabled() {
		answer.Degraded = append(answer.Degraded, memory.Degradation{Code: memory.PastByWords, Text: "notes as they were are found by their words only"})
	}
	return answer, errors.Join(err, past.Close())
}

// pastOptions returns the options of the memory of a version.
func (m *Memory) pastOptions(notes, state string, mode Mode) Options {
	ranking := m.opt.Search
	if now := m.ranking.Load(); now != nil {
		ranking = *now
	}
	ranking.Now = nil
	return Options{
		Agent: m.opt.Agent, Workspace: notes, StateDir: state, Mode: mode, LockWait: pastWait,
		Chunking: m.opt.Chunking, Search: ranking, Location: m.opt.Location, Now: m.opt.Now, Log: m.log,
		Index: IndexOptions{Include: indexer.WholeFolder, MaxFileBytes: m.opt.Index.MaxFileBytes},
	}
}

// Log returns the changes of notes; see history.Past.Log.
func (m *Memory) Log(ctx context.Context, q memory.LogQuery) ([]memory.FileChange, error) {
	return inCall(m, func() ([]memory.FileChange, error) { return m.past.Log(ctx, q) })
}

// Show returns a note as it was; see history.Past.Show.
func (m *Memory) Show(ctx context.Context, name string, at memory.Moment, ceiling *memory.Sensitivity) (memory.PastFile, error) {
	return inCall(m, func() (memory.PastFile, error) {
		f, err := m.past.Show(ctx, name, at, ceiling)
		f.Text = string(m.notes.Forgotten().Mask([]byte(f.Text)))
		return f, err
	})
}

// Diff returns what two versions of the notes differ in; see history.Past.Diff.
func (m *Memory) Diff(ctx context.Context, q memory.DiffQuery) (memory.Diff, error) {
	return inCall(m, func() (memory.Diff, error) {
		if _, err := m.freshen(ctx); q.To == nil && err != nil {
			return memory.Diff{}, err
		}
		diff, err := m.past.Diff(ctx, q)
		for i := range diff.Files {
			diff.Files[i].Text = m.unsaidDiff(diff.Files[i].Text)
		}
		return diff, err
	})
}

// SearchPast answers a query from the notes as they were in a version; see history.Past.Search.
func (m *Memory) SearchPast(ctx context.Context, q memory.Query, at memory.Moment) (memory.PastAnswer, error) {
	return inCall(m, func() (memory.PastAnswer, error) {
		a, err := m.past.Search(ctx, q, at)
		a.Hits = m.withoutForgotten(a.Hits, q.Text)
		return a, err
	})
}

// ForgetPast removes what is kept of a text, and names what it cannot remove; see history.Past.Forget.
func (m *Memory) ForgetPast(ctx context.Context, paths, said []string) (remaining []string, err error) {
	return inCall(m, func() ([]string, error) { return m.past.Forget(ctx, paths, said) })
}

// PurgeHistory removes the versions of a file or folder from the journal; see history.Past.Purge.
func (m *Memory) PurgeHistory(ctx context.Context, name string) (memory.Purged, error) {
	return inCall(m, func() (memory.Purged, error) { return m.past.Purge(ctx, name) })
}
