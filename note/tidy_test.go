package note

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Entries that say the same, or contradict each other, are found; lists of different things are not.
func TestTidyFindsWhatIsSaidTwice(t *testing.T) {
	t.Parallel()
	src := `# Memory

## People

- Ines prefers green tea.
- Our releases are on Tuesdays.
- Ines prefers green tea in the morning.
- Dario lives in Porto.
- Our releases are on Thursdays.
- Dario lives in Lisbon.
- The office closes at 18:00.
- The office closes at 17:30.

## Ports

- Web listens on 8080.
- Metrics listens on 9090.
- Anna's birthday is on 3 May.
- Ben's birthday is on 7 June.
- Backup runs daily.

` + "```\nOur releases are on Tuesdays.\n```\n"
	var got [][4]any
	for _, u := range Tidy("MEMORY.md", []byte(src)) {
		got = append(got, [4]any{u.Kind, u.Line, u.OtherLine, u.Text})
	}
	want := [][4]any{
		{"duplicate", 5, 7, "Ines prefers green tea."},
		{"contradiction", 6, 9, "Our releases are on Tuesdays."},
		{"contradiction", 8, 10, "Dario lives in Porto."},
		{"contradiction", 11, 12, "The office closes at 18:00."},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}
