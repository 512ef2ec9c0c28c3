package embed

import (
	"context"
	"errors"
	"sync"
)

// ErrLoading is wrapped by the error of a call whose time is over before a local model is loaded. Loading goes on, so a later call
// finds the model ready.
var ErrLoading = errors.New("the model is still being loaded: ask again in a few seconds")

// lazyModel loads a model when it is first needed: most commands never search. No call waits for it longer than it has time.
type lazyModel struct {
	open   func() scorer
	begin  sync.Once
	loaded chan struct{} // closed when scorer is set
	scorer scorer
}

func newLazyModel(open func() scorer) *lazyModel {
	return &lazyModel{open: open, loaded: make(chan struct{})}
}

// score implements scorer.
func (l *lazyModel) score(ctx context.Context, query string, passages []string) ([]float64, error) {
	l.begin.Do(func() { go l.load() })
	select {
	case <-l.loaded:
		return l.scorer.score(ctx, query, passages)
	case <-ctx.Done():
		return nil, ErrLoading
	}
}

// load loads the model. It outlives the call that began it, because nobody can stop it.
func (l *lazyModel) load() {
	defer close(l.loaded)
	l.scorer = l.open()
}
