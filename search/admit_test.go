package search

import (
	"context"
	"errors"
	"testing"

	"kioku/memory"
)

// Hazard D12: a search reads the index only once it is admitted; a refusal ends it.
func TestSearchReadsTheIndexOnlyOnceItIsAdmitted(t *testing.T) {
	t.Parallel()
	refused := errors.New("too many searches")
	admitted, ended := 0, 0
	var fail error
	s := New(admitStore{t, &admitted}, nil, Options{Admit: func(context.Context) (func(), error) {
		if fail != nil {
			return nil, fail
		}
		admitted++
		return func() { ended++ }, nil
	}})
	if _, err := s.Search(t.Context(), memory.Query{Text: "tea"}); err == nil || admitted != 1 || ended != 1 {
		t.Errorf("admitted %d, ended %d, %v", admitted, ended, err)
	}
	fail = refused
	if _, err := s.Search(t.Context(), memory.Query{Text: "tea"}); !errors.Is(err, refused) || ended != 1 {
		t.Errorf("a refused search returns %v, ended %d", err, ended)
	}
}

// admitStore fails every view, and the test if it is reached by a search that is not admitted.
type admitStore struct {
	t        *testing.T
	admitted *int
}

func (s admitStore) View(context.Context, bool, func(Reader) error) error {
	if *s.admitted == 0 {
		s.t.Error("a search reads that is not admitted")
	}
	return errors.New("no index")
}
