package store

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"kioku/internal/testkit"
)

// Hazards A08, A09: a process that is killed between two steps of replacing an index leaves nothing that the next start takes
// for a whole index, or leaves behind.
func TestFinishMoveAfterAKill(t *testing.T) {
	t.Parallel()
	moved := damagedSuffix + time.Now().UTC().Format(asideTime)
	for name, c := range map[string]struct{ files, want []string }{
		"draft":            {[]string{"", "-wal", ".new", ".new-journal"}, []string{"", "-wal"}},
		"index moved":      {[]string{"-wal", "-shm", moved, ".new"}, []string{moved, moved + "-shm", moved + "-wal"}},
		"half of the log":  {[]string{"-shm", moved, moved + "-wal"}, []string{moved, moved + "-wal"}},
		"all moved":        {[]string{moved, moved + "-wal", moved + "-shm", ".new"}, []string{moved, moved + "-shm", moved + "-wal"}},
		"log without all":  {[]string{"-wal", "-shm"}, nil},
		"log of a retired": {[]string{"-wal", corruptSuffix + moved[len(damagedSuffix):]}, []string{corruptSuffix + moved[len(damagedSuffix):]}},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			for _, suffix := range c.files {
				testkit.WriteFile(t, dir, "x"+suffix, "x")
			}
			if err := finishMove(filepath.Join(dir, "x")); err != nil {
				t.Fatal(err)
			}
			var got []string
			entries, err := os.ReadDir(dir)
			if err != nil {
				t.Fatal(err)
			}
			for _, e := range entries {
				got = append(got, strings.TrimPrefix(e.Name(), "x"))
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// Hazard A09: of the damaged indexes that are kept for people, only a few stay, and not for long.
func TestRetireKeepsAFewDamagedIndexes(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "x")
	now := time.Now()
	for i := range 3 * keepCorrupt {
		name := path + damagedSuffix + now.Add(time.Duration(i)*time.Hour).UTC().Format(asideTime)
		for _, suffix := range []string{"", "-wal"} {
			if err := os.WriteFile(name+suffix, nil, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if err := retire(path, name, now); err != nil {
			t.Fatal(err)
		}
	}
	if entries, err := os.ReadDir(filepath.Dir(path)); err != nil || len(entries) != 2*keepCorrupt {
		t.Errorf("%v, %v", entries, err)
	}
	if err := removeOldCorrupt(path, now.Add(2*keepCorruptFor)); err != nil {
		t.Fatal(err)
	}
	if entries, err := os.ReadDir(filepath.Dir(path)); err != nil || len(entries) != 0 {
		t.Errorf("%v, %v", entries, err)
	}
}
