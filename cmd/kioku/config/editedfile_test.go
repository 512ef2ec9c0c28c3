package config_test

import (
	"errors"
	"testing"

	"kioku/cmd/kioku/config"
)

// Prepare changes nothing until Write does, and applies several changes to one text.
func TestPrepareWritesOnlyWhenTold(t *testing.T) {
	t.Parallel()
	const before = "# mine\nquery:\n  maxResults: 3 # few\n"
	src := write(t, before)
	e, err := config.Prepare(src, config.Change{Key: "query.minScore", Value: "0.4"}, config.Change{Key: "query.hybrid.vectorWeight", Value: "0.35"})
	if err != nil {
		t.Fatal(err)
	}
	want := before + "  minScore: 0.4\n  hybrid:\n    vectorWeight: 0.35\n"
	if string(e.Before) != before || string(e.After) != want || read(t, src.File) != before {
		t.Errorf("%q, %q", e.After, read(t, src.File))
	}
	if err := e.Write(); err != nil || read(t, e.Path) != want {
		t.Errorf("%v, %q", err, read(t, e.Path))
	}
	if _, err := config.Prepare(src, config.Change{Key: "query.minScore", Value: "7"}); !errors.As(err, new(*config.Error)) {
		t.Errorf("%v", err)
	}
}
