package vectors

import (
	"context"
	"errors"
	"path/filepath"
	"testing"

	"kioku/embed"
)

// A damaged file is mended for all callers, also if the one that has met the damage has gone; what was there is in the new file, and what
// is stored then is too. Of two that have met it, one mends.
func TestDamageMetByACallerWhoHasGoneIsMended(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "embeddings.sqlite")
	c, err := Open(t.Context(), path, Options{Entries: 100})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	space := embed.Space{Provider: "test", Model: "m", Dims: 2}
	put := func(first byte) {
		t.Helper()
		if err := c.Put(t.Context(), space, map[Key][]float32{{Document, Hash{first}}: {1, 0}}); err != nil {
			t.Fatal(err)
		}
	}
	put(1)
	damaged := c.db
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	if err := errors.Join(c.heal(gone, damaged, errDamaged), c.heal(gone, damaged, errDamaged)); err != nil {
		t.Fatal(err)
	}
	put(2)
	reader, err := Open(t.Context(), path, Options{ReadOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	defer reader.Close()
	if found, err := reader.Documents(t.Context(), space, []Hash{{1}, {2}}); err != nil || len(found) != 2 || c.db == damaged {
		t.Errorf("%d of 2 vectors are in the new file, %v", len(found), err)
	}
}
