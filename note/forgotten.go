package note

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"kioku/internal/files"
	"kioku/note/forgotten"
	"os"
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
	if len(t.Values) == 0 {
		return nil
	}
	return f.addTombstone(ctx, t)
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
