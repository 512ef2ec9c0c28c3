package records_test

import (
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"

	"kioku/internal/records"
)

func TestLinesPutAFullFileAside(t *testing.T) {
	t.Parallel()
	root, err := os.OpenRoot(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	bounded := records.Lines{Root: root, Name: "bounded.jsonl", Max: 8}
	rotated := records.Lines{Root: root, Name: "sub/rotated.jsonl", Max: 8, Aside: "sub/rotated.1.jsonl", Flush: true}
	for n := 100; n < 105; n++ {
		for _, l := range []records.Lines{bounded, rotated} {
			if err := l.Append(n); err != nil {
				t.Fatal(err)
			}
		}
	}
	for name, want := range map[string][]int{"bounded.jsonl": {100, 101}, "sub/rotated.jsonl": {104}, "sub/rotated.1.jsonl": {102, 103}, "none.jsonl": nil} {
		got, err := records.ReadLines[int](root, name, 10)
		if diff := cmp.Diff(want, got); diff != "" || err != nil {
			t.Errorf("%s: %v\n%s", name, err, diff)
		}
	}
}

func TestLinesEndWhatACrashHasLeft(t *testing.T) {
	t.Parallel()
	root, err := os.OpenRoot(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	if err := root.WriteFile("torn.jsonl", []byte("1\n\"to"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := (records.Lines{Root: root, Name: "torn.jsonl", Max: 100}).Append(2); err != nil {
		t.Fatal(err)
	}
	if got, err := records.ReadLines[int](root, "torn.jsonl", 10); err != nil || !cmp.Equal(got, []int{1, 2}) {
		t.Errorf("%v, %v", got, err)
	}
	if err := root.Symlink("torn.jsonl", "link.jsonl"); err != nil {
		t.Fatal(err)
	}
	if err := (records.Lines{Root: root, Name: "link.jsonl", Max: 100}).Append(2); err == nil {
		t.Error("a link is written to")
	}
	if _, err := records.ReadLines[int](root, "link.jsonl", 10); err == nil {
		t.Error("a link is read")
	}
}
