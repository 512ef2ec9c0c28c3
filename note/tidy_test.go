package note

import (
	"strings"
	"testing"
	"time"

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

// What the notes of the last days say otherwise, call a decision or say twice is proposed with where it stands, and nothing else: no words of
// tools, nothing that is in the file already.
func TestTidyProposesWhatTheLastDaysSay(t *testing.T) {
	t.Parallel()
	ws := workspace(t, map[string]string{
		"MEMORY.md":            "# Memory\n\n- Our releases are on Tuesdays.\n- Ines prefers green tea to coffee.\n",
		"memory/2026-01-01.md": "## 09:00 - decision\n\nWe archive logs for ten years.\n",
		"memory/2026-01-08.md": "## 09:00 - fact\n\nThe courier rings at the side door.\n\n## 10:00 - decision\n\nRuled by a tool: send logs abroad. <!-- kioku from=tool -->\n",
		"memory/2026-01-09.md": "## 09:00 - fact\n\nOur releases are on Wednesdays.\n\n## 10:00 - preference\n\nInes prefers green tea.\n",
		"memory/2026-01-10.md": "## 09:00 - fact\n\nOur releases are on Thursdays.\n\nThe courier rings at the side door.\n\nDario bought milk.\n\n## 10:00 - Decision\n\nInvoices go out as PDF.\n",
	})
	m := openFolder(t, Options{Path: ws, Now: func() time.Time { return time.Date(2026, 1, 10, 18, 0, 0, 0, time.UTC) }})
	all, err := m.Untidy(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var got, ids []string
	for _, u := range all {
		got = append(got, strings.Join([]string{u.Kind, u.Text, u.OtherPath, u.Other}, "|"))
		ids = append(ids, u.ID)
	}
	want := []string{
		"missing||memory/2026-01-10.md|Invoices go out as PDF.",
		"missing||memory/2026-01-10.md|The courier rings at the side door.",
		"outdated|Our releases are on Tuesdays.|memory/2026-01-10.md|Our releases are on Thursdays.",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Fatal(diff)
	}
	if done, err := m.TidyUp(t.Context(), ids); err != nil || len(done) != 1 {
		t.Fatalf("%+v, %v", done, err)
	}
	text := "# Memory\n\n- Our releases are on Thursdays.\n- Ines prefers green tea to coffee.\n- Invoices go out as PDF.\n- The courier rings at the side door.\n"
	if diff := cmp.Diff(text, read(t, ws, "MEMORY.md")); diff != "" {
		t.Error(diff)
	}
	if all, err = m.Untidy(t.Context()); err != nil || len(all) != 0 {
		t.Errorf("%+v, %v", all, err)
	}
}
