package indexer

import (
	"context"
	"errors"
)

// Compare counts the files that differ from the index into SyncState.PendingFiles, where the next comparison or sync
// replaces the number. It changes nothing in the index. Files that cannot be read now do not count.
func (x *Indexer) Compare(ctx context.Context) error {
	select {
	case x.turn <- struct{}{}:
	case <-ctx.Done():
		return ctx.Err()
	}
	defer func() { <-x.turn }()
	r := &syncRun{Indexer: x, req: request{compares: true}, onProgress: func(Progress) {}}
	stored, s, err := r.scanFolder(ctx)
	if err != nil {
		return err
	}
	defer s.close()
	differ := 0
	for t := range r.readFiles(ctx, r.plan(s, stored)) {
		if !t.unchanged && (t.err == nil || errors.Is(t.err, errMoved)) {
			differ++
		}
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	x.updateState(func(st *SyncState) { st.PendingFiles, st.Dirty = differ, differ > 0 })
	return nil
}
