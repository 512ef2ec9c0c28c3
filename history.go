package kioku

import (
	"context"
	"errors"
	"fmt"
	"time"

	"kioku/history"
	"kioku/indexer"
	"kioku/memory"
)

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
	past, err := Open(ctx, m.pastOptions(notes, state, ReadIndex))
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
	return inCall(m, func() (memory.PastFile, error) { return m.past.Show(ctx, name, at, ceiling) })
}

// Diff returns what two versions of the notes differ in; see history.Past.Diff.
func (m *Memory) Diff(ctx context.Context, q memory.DiffQuery) (memory.Diff, error) {
	return inCall(m, func() (memory.Diff, error) {
		if _, err := m.freshen(ctx); q.To == nil && err != nil {
			return memory.Diff{}, err
		}
		return m.past.Diff(ctx, q)
	})
}

// SearchPast answers a query from the notes as they were in a version; see history.Past.Search.
func (m *Memory) SearchPast(ctx context.Context, q memory.Query, at memory.Moment) (memory.PastAnswer, error) {
	return inCall(m, func() (memory.PastAnswer, error) { return m.past.Search(ctx, q, at) })
}

// ForgetPast removes what is kept of a text, and names what it cannot remove; see history.Past.Forget.
func (m *Memory) ForgetPast(ctx context.Context, paths, said []string) (remaining []string, err error) {
	return inCall(m, func() ([]string, error) { return m.past.Forget(ctx, paths, said) })
}

// PurgeHistory removes the versions of a file or folder from the journal; see history.Past.Purge.
func (m *Memory) PurgeHistory(ctx context.Context, name string) (memory.Purged, error) {
	return inCall(m, func() (memory.Purged, error) { return m.past.Purge(ctx, name) })
}
