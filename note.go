package kioku

import (
	"context"

	"kioku/memory"
	"kioku/note"
)

const longTermFile = "MEMORY.md"

// newNotes returns the notes of the folder.
func (m *Memory) newNotes() *note.Folder {
	return note.New(note.Options{
		Path: m.workspace, State: m.stateOf("note"), MaxFileBytes: m.opt.Index.maxFileBytes(), Location: m.opt.Location, Now: m.opt.Now, Log: m.log,
		Prepare: m.keepWhole,
		Owns: func(path string) (string, bool) {
			root, _, ok := m.indexer.Owns(path)
			return root, ok
		},
	})
}

// writing runs a call that changes notes. If it has changed any, the owner of the index starts a sync, and nobody waits for that.
func (m *Memory) writing(ctx context.Context, call func() (changed bool, err error)) error {
	if err := m.enter(); err != nil {
		return err
	}
	defer m.leave()
	if m.opt.Mode == ReadOnly {
		return memory.ErrReadOnly
	}
	changed, err := call()
	if changed && m.opt.Mode == Own {
		m.syncInBackground(ctx)
	}
	return err
}

// Append writes a note at the end of today's file, of that of a group, or of MEMORY.md, and fsyncs it; see note.Folder.Append. It starts a
// sync and does not wait for it. In the mode ReadIndex, the owner of the index finds the note. No search finds or shows markers.
//
// Before the first note of a folder that is indexed whole, Append records in its settings file that the rest of its Markdown stays
// indexed; see IncludeAll. It returns memory.ErrReadOnly in the mode ReadOnly.
func (m *Memory) Append(ctx context.Context, n memory.Note) (a memory.Appended, err error) {
	err = m.writing(ctx, func() (bool, error) {
		a, err = m.notes.Append(ctx, n)
		if err != nil || a.Deduplicated {
			return false, err
		}
		m.notesWritten.Add(1)
		return true, nil
	})
	return a, err
}

// Update replaces a text in a file of what stays true; see note.Folder.Update.
func (m *Memory) Update(ctx context.Context, u memory.Update) (done memory.Updated, err error) {
	err = m.writing(ctx, func() (bool, error) {
		if u.Path != "" {
			if err := checkPath(u.Path); err != nil {
				return false, err
			}
			readings, _ := memory.Readings(u.Path)
			if r, ok := m.fileOf(readings); ok {
				u.Path = r.Path
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
	if err := m.enter(); err != nil {
		return nil, err
	}
	defer m.leave()
	return m.notes.Revisions(ctx)
}

// UndoWrites takes back the notes of a conversation, or those since a time; see note.Folder.UndoWrites.
func (m *Memory) UndoWrites(ctx context.Context, u memory.UndoWrites) (done memory.UndoneWrites, err error) {
	call := func() (bool, error) {
		done, err = m.notes.UndoWrites(ctx, u)
		return len(done.Revisions) > 0, err
	}
	if u.DryRun {
		if err := m.enter(); err != nil {
			return memory.UndoneWrites{}, err
		}
		defer m.leave()
		_, err = call()
		return done, err
	}
	err = m.writing(ctx, call)
	return done, err
}
