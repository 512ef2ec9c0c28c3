package note

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"os"

	"kioku/internal/files"
	"kioku/memory"
	"kioku/note/forgotten"
)

// Forgotten returns what people have had forgotten in the folder. A file that cannot be read says nothing, which is logged.
func (f *Folder) Forgotten() *forgotten.Set {
	set, err := f.forgotten.In(f.opt.Path)
	if err != nil {
		f.opt.Log.Error("what was forgotten cannot be read, and may be found again", "file", forgotten.File, "err", err)
	}
	return set
}

// bury adds a line to the file, for the sentences that were forgotten.
func (f *Folder) bury(ctx context.Context, id string, sentences []string) error {
	t := forgotten.Stone{ID: id, Time: f.opt.Now().UTC(), Salt: rand.Text()}
	if known := f.Forgotten().Stones; len(known) > 0 {
		t.Salt = known[0].Salt // so that a word is hashed once
	}
	for _, s := range sentences {
		t.Add(s)
	}
	if len(t.Said) == 0 {
		return nil
	}
	return f.addTombstone(ctx, t)
}

// mayHold has what a person writes hold again. It returns a *memory.InputError for what a model writes although a person has had it forgotten.
func (f *Folder) mayHold(ctx context.Context, newText, source string) error {
	if source == memory.NoteFromUser {
		return f.lift(ctx, newText)
	}
	if id, said := f.Forgotten().Restates(newText); id != "" {
		return &memory.InputError{Field: "new_text", Problem: fmt.Sprintf("says what the user has had forgotten (%.80q); leave it out, or ask the user to run: kioku forget --undo %s", said, id)}
	}
	return nil
}

// lift takes back that the sentences of a text were forgotten.
func (f *Folder) lift(ctx context.Context, said string) error {
	for {
		lifts := f.Forgotten().Lifts(said)
		if len(lifts) == 0 {
			return nil
		}
		for _, t := range lifts {
			t.Time = f.opt.Now().UTC()
			if err := f.addTombstone(ctx, t); err != nil {
				return err
			}
		}
	}
}

// addTombstone writes a line to the file.
func (f *Folder) addTombstone(ctx context.Context, t forgotten.Stone) error {
	line, err := json.Marshal(t)
	if err != nil {
		return err
	}
	root, err := os.OpenRoot(f.opt.Path)
	if err != nil {
		return err
	}
	defer root.Close()
	file, err := openWithLock(ctx, root, forgotten.File, 0o600)
	if err != nil {
		return err
	}
	return errors.Join(files.Append(file, append(line, '\n')), files.Unlock(file))
}
