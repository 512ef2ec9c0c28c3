package indexer

import (
	"context"
	"iter"
)

// Recut yields the texts of all files as a rebuild would cut them, the texts of a file at once. It changes nothing, and syncs may
// run meanwhile. It leaves out files that cannot be read now, of which the rebuild says why.
func (x *Indexer) Recut(ctx context.Context) iter.Seq2[[]Text, error] {
	return func(yield func([]Text, error) bool) {
		r := &syncRun{Indexer: x, req: request{textsOnly: true}, onProgress: func(Progress) {}}
		tasks, s, err := r.listAll(ctx)
		if err != nil {
			yield(nil, err)
			return
		}
		defer s.close()
		for t := range r.readFiles(ctx, tasks) {
			if t.err == nil && len(t.file.Chunks) > 0 && !yield(t.file.texts(), nil) {
				return
			}
		}
		if err := ctx.Err(); err != nil {
			yield(nil, err)
		}
	}
}

// listAll returns all files of the folder when it is the turn of the run. The caller closes the scan.
func (r *syncRun) listAll(ctx context.Context) ([]*fileTask, *scan, error) {
	select {
	case r.turn <- struct{}{}:
	case <-ctx.Done():
		return nil, nil, ctx.Err()
	}
	defer func() { <-r.turn }()
	_, s, err := r.scanFolder(ctx)
	if err != nil {
		return nil, nil, err
	}
	return newTasks(s), s, nil
}

// texts returns what is embedded of a file.
func (f *File) texts() []Text {
	texts := make([]Text, len(f.Chunks))
	for i, c := range f.Chunks {
		texts[i] = Text{Hash: c.Hash, Text: EmbeddedText(f.Names, c.Text), Body: c.Text}
	}
	return texts
}
