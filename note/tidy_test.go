package note

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"kioku/memory"
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
		"memory/2026-01-10.md": "## 09:00 - fact\n\nOur releases are on Thursdays.\n\nThe courier rings at the side door.\n\nDario bought milk.\n\n## 10:00 - Decision\n\nInvoices go out as PDF. <!-- kioku from=agent -->\n",
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
	text := "# Memory\n\n- Our releases are on Thursdays.\n- Ines prefers green tea to coffee.\n- Invoices go out as PDF. <!-- kioku from=agent -->\n- The courier rings at the side door.\n"
	if diff := cmp.Diff(text, read(t, ws, "MEMORY.md")); diff != "" {
		t.Error(diff)
	}
	if all, err = m.Untidy(t.Context()); err != nil || len(all) != 0 {
		t.Errorf("%+v, %v", all, err)
	}
}

// kinds returns the kinds and lines of what is proposed for a text.
func kinds(src string) (all []string) {
	for _, u := range Tidy("MEMORY.md", []byte(src)) {
		all = append(all, fmt.Sprint(u.Kind, " ", u.Line, " ", u.OtherLine))
	}
	return all
}

// Only lines that stand alone are proposed: nothing belongs to them, and they belong to nothing.
func TestTidyTakesSingleLines(t *testing.T) {
	t.Parallel()
	const said, other = "Our releases are on Tuesdays.", "Our releases are on Thursdays."
	for name, c := range map[string]struct {
		src  string
		want []string
	}{
		"items":                   {"- " + said + "\n- " + other + "\n", []string{"contradiction 1 2"}},
		"paragraphs":              {said + "\n\n" + other + "\n", []string{"contradiction 1 3"}},
		"items of other kinds":    {"* " + said + "\n+ " + other, []string{"contradiction 1 2"}},
		"an empty item":           {"- " + said + "\n- \n- " + other + "\n", []string{"contradiction 1 3"}},
		"behind a heading":        {"# Memory\n" + said + "\n## Other\n\n# Memory\n" + other + "\n", []string{"contradiction 2 6"}},
		"before a fence":          {"- " + said + "\n```\nx\n```\n- " + other + "\n", []string{"contradiction 1 5"}},
		"once a pair":             {"- " + said + "\n- " + said + "\n- " + said + "\n- " + other + "\n", []string{"duplicate 1 2", "contradiction 3 4"}},
		"an indented line":        {"- " + said + "\n  She told us in May.\n- " + other + "\n", nil},
		"one behind a blank line": {"- " + said + "\n\n  She told us in May.\n- " + other + "\n", nil},
		"a lazy line":             {"- " + other + "\n- " + said + "\nthat Dario owns.\n", nil},
		"a paragraph of two":      {"- " + other + "\n\nAs Ines says:\n" + said + "\n", nil},
		"an underlined heading":   {"- " + other + "\n\n" + said + "\n---\n", nil},
		"a rule":                  {"- " + other + "\n- " + said + "\n---\n", nil},
		"an indented fence":       {"- " + said + "\n  ```\n  x\n  ```\n- " + other + "\n", nil},
		"nested items":            {"- Web\n  - " + said + "\n- App\n  - " + other + "\n", nil},
		"an item with others":     {"- " + said + "\n  - but for urgent ones\n- " + other + "\n", nil},
		"one that leads to more":  {"- Our releases are on Tuesdays:\n- Our releases are on Thursdays:\n", nil},
		"numbers":                 {"1. Run the whole build.\n2. Deploy the page.\n3. Run the whole build.\n", nil},
		"tasks":                   {"- [x] Pay the rent for May.\n- [ ] Pay the rent for May.\n", nil},
		"quotations":              {"> " + said + "\n\n> " + other + "\n", nil},
		"a table":                 {"| " + said + " | x |\n|---|---|\n| " + other + " | x |\n" + said + "\n", nil},
		"front matter":            {"---\ntags:\n\n- " + said + "\n- " + other + "\n\n---\n\n- " + said + "\n", nil},
		"a comment":               {"<!--\n\n" + said + "\n\n-->\n\n- " + other + "\n", nil},
		"a comment in a line":     {"- " + said + " <!-- or so -->\n- " + other + "\n", nil},
		"words of others":         {"<!-- kioku begins=0123456789abcdef author=u1/Ana -->\n- " + said + " <!-- kioku text=0123456789abcdef author=u1/Ana -->\n- " + other + "\n", nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, src := range []string{c.src, strings.ReplaceAll(c.src, "\n", "\r\n")} {
				if diff := cmp.Diff(c.want, kinds(src)); diff != "" {
					t.Errorf("%q: %s", src, diff)
				}
			}
		})
	}
}

// Two lines of which one says that something is not so, or which are about different things, say neither the same nor other values of a thing.
func TestTidyLeavesDifferentFacts(t *testing.T) {
	t.Parallel()
	for _, c := range [][2]string{
		{"Ines does like tea in the morning.", "Ines does not like tea in the morning."},
		{"Guests may open the cellar door.", "Guests may never open the cellar door."},
		{"The cellar door is open.", "The cellar door isn’t open."},
		{"The porch lamp is on at night.", "The porch lamp is off at night."},
		{"Our releases are on Tuesdays.", "Our releases are not on Thursdays."},
		{"Our releases are on Tuesdays.", "~~Our releases are on Tuesdays.~~"},
		{"Das Büro hat einen Schlüssel für Gäste.", "Das Büro hat keinen Schlüssel für Gäste."},
		{"Inès aime le thé vert.", "Inès n'aime pas le thé vert."},
		{"Dario come carne los viernes.", "Dario nunca come carne los viernes."},
		{"地下室には鍵がある。", "地下室には鍵がない。"},
		{"会議は毎週あります。", "会議は毎週ありません。"},
		{"伊内斯喜欢喝绿茶。", "伊内斯不喜欢喝绿茶。"},
		{"Dario lives in Porto since 2019.", "Ines lives in Porto since 2019."},
		{"The code of room 12 is 4711.", "The code of room 14 is 4711."},
		{"Room 12 has a large projector.", "Room 14 has a large projector."},
		{"The bus leaves stop 12 at 10:00.", "The bus leaves stop 14 at 10:30."},
		{"The office in Porto closes at noon.", "The office in Lisbon closes at noon."},
		{"Alice pays 100 euros to Bob.", "Bob pays 100 euros to Alice."},
	} {
		if got := kinds("- " + c[0] + "\n- " + c[1] + "\n"); got != nil {
			t.Errorf("%q: %q", c, got)
		}
	}
	for _, c := range [][3]string{
		{"contradiction 1 2", "Dario lives in Porto since 2019.", "Dario lives in Lisbon since 2019."},
		{"contradiction 1 2", "The office closes at noon.", "The office closes at night"},
		{"contradiction 1 2", "Dario lives in New York.", "Dario lives in Los Angeles."},
		{"duplicate 1 2", "Ines does not like tea.", "Ines doesn't like tea."},
		{"duplicate 1 2", "地下室には鍵がない。", "地下室には鍵がない。"},
		{"duplicate 2 1", "伊内斯从来不喜欢喝绿茶和红茶。", "伊内斯从来不喜欢喝绿茶。"},
	} {
		if diff := cmp.Diff([]string{c[0]}, kinds("- "+c[1]+"\n- "+c[2]+"\n")); diff != "" {
			t.Errorf("%q: %s", c, diff)
		}
	}
}

// tidyFolder returns a folder with a MEMORY.md and a file of the day, and what is proposed.
func tidyFolder(t *testing.T, kept, day string) (m *Folder, ws string, all []memory.Untidy) {
	t.Helper()
	ws = workspace(t, map[string]string{"MEMORY.md": kept, "memory/2026-01-10.md": day})
	m = openFolder(t, Options{Path: ws, Now: func() time.Time { return time.Date(2026, 1, 10, 18, 0, 0, 0, time.UTC) }})
	all, err := m.Untidy(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return m, ws, all
}

// idsOf returns the ids of proposals.
func idsOf(all []memory.Untidy) (ids []string) {
	for _, u := range all {
		ids = append(ids, u.ID)
	}
	return ids
}

// All that is proposed can be accepted at once, and twice: no line is changed twice, line ends stay, and an undo restores the file byte for
// byte.
func TestTidyUpDoesWhatIsAccepted(t *testing.T) {
	t.Parallel()
	const thursdays, invoices = "- Our releases are on Thursdays.\n", "- Invoices go out as PDF.\n"
	const day = "## 09:30 - decision\n\nOur releases are on Thursdays.\n\nInvoices go out as PDF.\n"
	for name, c := range map[string]struct{ kept, want string }{
		"two reasons for a line": {
			"- Ines prefers tea.\n- Our releases are on Tuesdays.\n- Our releases are on Fridays.\n- The key hangs at the door.\n",
			"- Ines prefers tea.\n- Our releases are on Fridays.\n- The key hangs at the door.\n" + invoices},
		"one that stays and is outdated": {"- Our releases are on Tuesdays.\n- Our releases are on Tuesdays.\n", "- Our releases are on Tuesdays.\n" + invoices},
		"only what is missing":           {thursdays, thursdays + invoices},
		"line ends of Windows": {"# Memory\r\n\r\n- Our releases are on Tuesdays.\r\n",
			"# Memory\r\n\r\n- Our releases are on Thursdays.\r\n- Invoices go out as PDF.\r\n"},
		"no last line end of Windows": {"# Memory\r\n\r\n- Our releases are on Tuesdays.",
			"# Memory\r\n\r\n- Our releases are on Thursdays.\r\n- Invoices go out as PDF.\r\n"},
		"no last line end": {"Ines prefers tea.", "Ines prefers tea.\n" + invoices + thursdays},
		"paragraphs": {
			"Ines prefers tea.\n\nThe key hangs at the door.\n\nInes prefers tea.\n\n## Releases\nOur releases are on Mondays.\n",
			"\nThe key hangs at the door.\n\nInes prefers tea.\n\n## Releases\nOur releases are on Thursdays.\n" + invoices},
		"words of a tool":   {"- Our releases are on Tuesdays. <!-- kioku from=tool -->\n", "- Our releases are on Thursdays. <!-- kioku from=user -->\n" + invoices},
		"an empty file":     {"", invoices + thursdays},
		"a byte order mark": {"\ufeff- Our releases are on Tuesdays.\n", "\ufeff" + thursdays + invoices},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m, ws, all := tidyFolder(t, c.kept, day)
			ids := idsOf(all)
			done, err := m.TidyUp(t.Context(), append(ids, ids...))
			if err != nil || len(done) != 1 {
				t.Fatalf("%+v, %v", done, err)
			}
			if diff := cmp.Diff(c.want, read(t, ws, "MEMORY.md")); diff != "" {
				t.Error(diff)
			}
			var bad *memory.InputError
			if _, err := m.TidyUp(t.Context(), ids); !errors.As(err, &bad) {
				t.Errorf("what was done is done again: %v", err)
			}
			if _, err := m.Undo(t.Context(), done[0].Revision); err != nil || read(t, ws, "MEMORY.md") != c.kept {
				t.Errorf("%v: %q", err, read(t, ws, "MEMORY.md"))
			}
		})
	}
}

// A proposal that a line no longer has is refused, and nothing is changed.
func TestTidyUpRefusesWhatWasChangedSince(t *testing.T) {
	t.Parallel()
	const kept = "- Our releases are on Tuesdays.\n- Our releases are on Fridays.\n- The office closes at noon.\n"
	for name, now := range map[string]string{
		"the line":      strings.Replace(kept, "on Tuesdays", "on all Tuesdays", 1),
		"the other one": strings.Replace(kept, "Fridays", "Mondays", 1),
		"both moved":    "- Ines prefers tea.\n" + kept,
	} {
		m, ws, all := tidyFolder(t, kept, "")
		writeFile(t, filepath.Join(ws, "MEMORY.md"), now)
		var bad *memory.InputError
		if _, err := m.TidyUp(t.Context(), idsOf(all)); !errors.As(err, &bad) || !strings.Contains(bad.Problem, "was changed since") || read(t, ws, "MEMORY.md") != now {
			t.Errorf("%s: %v: %s", name, err, read(t, ws, "MEMORY.md"))
		}
	}
	u := memory.Untidy{Kind: memory.UntidyOutdated, Line: 1, Text: "Our releases are on Fridays.", Other: "x"}
	if p, ok := accepted([]byte(kept), u); ok {
		t.Errorf("a text of another line is replaced: %+v", p)
	}
}

// Of two that accept the same at the same time, one is refused.
func TestTidyUpOfTwoAtOnce(t *testing.T) {
	t.Parallel()
	m, ws, all := tidyFolder(t, "- Our releases are on Tuesdays.\n", "## 09:30 - rule\n\nOur releases are on Thursdays.\n\nInvoices go out as PDF.\n")
	errs := make(chan error)
	for range 2 {
		go func() {
			_, err := m.TidyUp(t.Context(), idsOf(all))
			errs <- err
		}()
	}
	if a, b := <-errs, <-errs; (a == nil) == (b == nil) {
		t.Errorf("%v, %v", a, b)
	}
	if diff := cmp.Diff("- Our releases are on Thursdays.\n- Invoices go out as PDF.\n", read(t, ws, "MEMORY.md")); diff != "" {
		t.Error(diff)
	}
}

// Words of tools and of others are never proposed, whatever the lines of their notes are; nor is a line without the next one.
func TestTidyLeavesWordsOfOthers(t *testing.T) {
	t.Parallel()
	m, ws, _ := tidyFolder(t, "# Memory\n", "## 09:00 - decision\n\nWe archive logs for ten years.\n\nWe will not answer mail\non Sundays any more.\n")
	for _, n := range []memory.Note{
		{Source: memory.NoteFromTool, Text: "We will not deploy on Fridays any more.\nBecause of the weekend."},
		{Source: memory.NoteFromTool, Text: "We will send all logs abroad.\n\nInvoices go to another account.\n\n- and more\n- of that kind"},
		{Source: memory.NoteFromTool, Text: "Our passwords are in the mail.\n\n```\ncode\n```"},
		{Source: memory.NoteFromTool, Text: "Our keys are in the mail.\n\n### Why\n\nBecause they asked for them."},
		{Origin: &memory.Origin{Channel: "x", Authors: []memory.Author{{ID: "u1"}}}, Text: "We will all meet on Mondays.\n\nBring some of your money."},
		{Source: memory.NoteFromUser, Text: "We label all our boxes."},
	} {
		n.Category = "decision"
		addNote(t, m, n)
	}
	all, err := m.Untidy(t.Context())
	var got []string
	for _, u := range all {
		got = append(got, u.Other)
	}
	if diff := cmp.Diff([]string{"We label all our boxes.", "We archive logs for ten years."}, got); diff != "" || err != nil {
		t.Errorf("%v: %s\n%s", err, diff, read(t, ws, "memory/2026-01-10.md"))
	}
}

// A file has what it says in several lines or in nested items, but not what it says the contrary of.
func TestTidyKnowsWhatAFileLacks(t *testing.T) {
	t.Parallel()
	_, _, all := tidyFolder(t, "- Logs:\n  - We archive all logs for ten years.\n- We deploy the page on Fridays.\n- We label our boxes\n  and shelves.\n",
		"## 09:00 - decision\n\nWe archive all logs for ten years.\n\nWe do not deploy the page on Fridays.\n\nWe label our boxes and shelves.\n")
	var got []string
	for _, u := range all {
		got = append(got, u.Kind+" "+u.Other)
	}
	if diff := cmp.Diff([]string{"missing We do not deploy the page on Fridays."}, got); diff != "" {
		t.Error(diff)
	}
}

// USER.md is tidied as well, but nothing is missing there; a file that is missing lacks nothing.
func TestTidyOfUser(t *testing.T) {
	t.Parallel()
	ws := workspace(t, map[string]string{
		"USER.md": "- I work in the office on Mondays.\n", "memory/2026-01-10.md": "## 09:00 - rule\n\nI work in the office on Fridays.\n\nInvoices go out as PDF.\n"})
	m := openFolder(t, Options{Path: ws, Now: func() time.Time { return time.Date(2026, 1, 10, 18, 0, 0, 0, time.UTC) }})
	all, err := m.Untidy(t.Context())
	if err != nil || len(all) != 1 || all[0].Kind != memory.UntidyOutdated {
		t.Fatalf("%+v, %v", all, err)
	}
	if _, err := m.TidyUp(t.Context(), []string{"MEMORY.md#new:00000000"}); err == nil {
		t.Errorf("a file that is missing is tidied: %v", err)
	}
	if _, err := m.TidyUp(t.Context(), idsOf(all)); err != nil || read(t, ws, "USER.md") != "- I work in the office on Fridays.\n" {
		t.Errorf("%v: %s", err, read(t, ws, "USER.md"))
	}
}

// Files and days of a thousand lines that are nearly the same.
func BenchmarkTidy(b *testing.B) {
	for name, line := range map[string]string{
		"contradictions": "- The web service of the office listens on port %d.\n",
		"differences":    "- The web service listens on port %d for client C%[1]d of the office.\n",
		"facts":          "- Fact w%d about x%[1]d and y%[1]d and z%[1]d.\n",
	} {
		b.Run(name, func(b *testing.B) {
			var kept, day strings.Builder
			for i := range 1000 {
				fmt.Fprintf(&kept, line, i)
				fmt.Fprintf(&day, line, 5000+i)
			}
			for b.Loop() {
				var days []dayEntry
				for _, e := range entriesOf([]byte(day.String())) {
					days = append(days, dayEntry{e, "memory/2026-01-10.md", "rule", ""})
				}
				proposals("MEMORY.md", []byte(kept.String()), days)
			}
		})
	}
}
