package indexer_test

import (
	"os"
	"testing"

	"kioku/indexer"
)

// Hazard K14: a name that is only a day is no name.
func TestNameOfADay(t *testing.T) {
	t.Parallel()
	for p, want := range map[string]string{
		"202602031030 heron.md": "heron", "202602031030.md": "", "2026/02/04.md": "", "2026/02/04 heron.md": "heron", "2026-02/04.md": "", "05.02.2026.md": "",
		"February 8th, 2026.md": "", "8 February 2026 heron.md": "heron", "2026年2月9日.md": "", "2026_2_9-heron.md": "heron", "2026-02-04/heron.md": "heron",
		"2026-02-04/README.md": "", "12345678901234.md": "12345678901234", "x/04.md": "04", "notes v1.2.md": "notes v1.2", "a.b.md": "a.b",
	} {
		if got := indexer.NameOf(p); got != want {
			t.Errorf("NameOf(%q) = %q, want %q", p, got, want)
		}
	}
}

// Hazard K14: the order of day and month in a name is that of the names beside it, and a full sync notices if they change.
func TestSyncReadsTheOrderOfDayAndMonthFromTheFolder(t *testing.T) {
	t.Parallel()
	f := setup(t, func(opt *indexer.Options) { opt.ExtraPaths = []string{"."} })
	for _, p := range []string{"j/05-06-2026.md", "j/05_07_2026 heron.md", "us/05-06-2026.md", "us/06-25-2026.md", "k/05-06-2026.md"} {
		f.write(p, "x "+p)
	}
	want := func(path, date, title string) {
		t.Helper()
		if got := f.index.files[path]; got.Date != date || got.Title != title {
			t.Errorf("%s is of %q, %q; want %q, %q", path, got.Date, got.Title, date, title)
		}
	}
	f.sync()
	want("j/05-06-2026.md", "", "05 06 2026")
	want("us/05-06-2026.md", "2026-05-06", "")
	f.write("j/25-06-2026.md", "x")
	f.write("k/25-06-2026.md", "x")
	f.write("k/06-25-2026.md", "x")
	f.sync()
	want("j/05-06-2026.md", "2026-06-05", "")
	want("j/05_07_2026 heron.md", "2026-07-05", "heron")
	want("j/25-06-2026.md", "2026-06-25", "")
	want("k/05-06-2026.md", "", "05 06 2026")
	written := len(f.index.commits)
	f.sync()
	if len(f.index.commits) != written {
		t.Error("a sync without changes writes")
	}
	f.must(os.Remove(f.path("j/25-06-2026.md")))
	f.sync()
	want("j/05-06-2026.md", "", "05 06 2026")
}
