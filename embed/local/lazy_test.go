package local_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"kioku/embed/local"
)

// A command that embeds nothing does not read the model, and knows its space: Info is that of a model that was read.
func TestOpenLazilyKnowsTheModelWithoutReadingIt(t *testing.T) {
	t.Parallel()
	for name, write := range map[string]func(dir string){
		"static":      func(dir string) { writeStatic(t, dir) },
		"transformer": func(dir string) { writeTransformer(t, dir, modelShape{}) },
	} {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "model")
			write(dir)
			lazy := open(t, dir, local.Options{Lazy: true})
			if local.IsLoaded(lazy) {
				t.Error("it was read")
			}
			eager := open(t, dir, local.Options{}).Info()
			if known := lazy.Info(); known != eager {
				t.Errorf("it is %+v, and %+v after it was read", known, eager)
			}
			if embed(t, lazy, "laptop"); lazy.Info() != eager || !local.IsLoaded(lazy) {
				t.Errorf("after a text it is %+v", lazy.Info())
			}
		})
	}
}

// What only the reading of a model shows to be wrong is the error of each text.
func TestLazyModelThatCannotBeReadSaysWhy(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "model")
	writeStatic(t, dir)
	if err := os.Truncate(filepath.Join(dir, "tokenizer.json"), 50); err != nil {
		t.Fatal(err)
	}
	m := open(t, dir, local.Options{Lazy: true})
	for range 2 {
		if _, err := m.Embed(t.Context(), local.Query, []string{"laptop"}); !errors.Is(err, local.ErrNoModel) || !strings.Contains(err.Error(), "tokenizer.json") {
			t.Errorf("the error is %v", err)
		}
	}
	if err := m.Load(); !errors.Is(err, local.ErrNoModel) {
		t.Errorf("the error of Load is %v", err)
	}
}
