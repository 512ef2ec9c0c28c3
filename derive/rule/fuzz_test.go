package rule_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"kioku/derive/rule"
	"kioku/memory"
)

func FuzzEpisodes(f *testing.F) {
	for _, seed := range []string{
		"# 2026-11-20\n\n## 09:00\nI live in Porto since 2026-10.\n- [ ] call Ana by Friday\n",
		"- a\n  - b\n\n  c\n- [[people/ana]] <private>x\n> q\n```\ncode\n",
		"---\nsensitivity: x\npeople: [A B]\n---\n- 私は東京に住んでいる。\n- 我喜欢茶。 <!-- kioku from=flush author=u/A -->\n",
		"- Ana: hi\n- Bo: I live in Rome\n- Ana: no (until May)\n\x00\xff\r\n",
		`{"role":"User","text":"I moved to Porto"}` + "\n" + `{"role":"Assistant","text":"ok"}` + "\n",
	} {
		for _, path := range []string{"MEMORY.md", "memory/2026-11-20.md", "people/x.md", "memory/daily/a.jsonl", "sessions/a.jsonl"} {
			f.Add(path, seed)
		}
	}
	r, err := rule.New(rule.Options{Transcript: transcripts})
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, path, data string) {
		file := note(path, data)
		if strings.HasPrefix(path, "sessions/") {
			file.Source = memory.SourceSessions
		}
		d := r.Read(file)
		last := 0
		uids := map[string]bool{}
		lines := strings.Split(data, "\n")
		for _, e := range d.Episodes() {
			if e.StartLine <= last && !strings.HasSuffix(path, ".jsonl") || e.EndLine < e.StartLine || e.EndLine > len(lines) {
				t.Fatalf("episode of the lines %d-%d behind line %d of %d", e.StartLine, e.EndLine, last, len(lines))
			}
			if uids[e.UID] {
				t.Fatalf("two episodes with the UID %s", e.UID)
			}
			last, uids[e.UID] = e.EndLine, true
			checkClaims(t, d, e)
		}
	})
}

// checkClaims checks what holds for the claims of any episode.
func checkClaims(t *testing.T, d *rule.Document, e memory.Episode) {
	t.Helper()
	out, ok := d.Claims(e)
	if !ok {
		t.Fatal("an episode has no claims")
	}
	said, _ := d.Lines(e)
	var all strings.Builder
	for _, l := range said {
		all.WriteString(l.Text + " ")
	}
	spoken := squeezed(all.String())
	for _, c := range out.Claims {
		if c.StartLine < 1 || c.EndLine < c.StartLine || e.StartLine+c.EndLine-1 > e.EndLine {
			t.Fatalf("claim of the lines %d-%d of an episode of %d lines", c.StartLine, c.EndLine, e.EndLine-e.StartLine+1)
		}
		if c.Quote == "" || utf8.RuneCountInString(c.Quote) > 200 || !strings.Contains(spoken, squeezed(c.Quote)) {
			t.Fatalf("quote %q is not in %q", c.Quote, spoken)
		}
		if c.Subject.Name == memory.UserName && c.Speaker != memory.SpeakerUser && c.Speaker != memory.SpeakerNote {
			t.Fatalf("%s said something about the owner: %+v", c.Speaker, c)
		}
		if c.Confidence < 0.5 || c.Confidence > 0.9 || c.To != "" && c.To <= c.From {
			t.Fatalf("claim %+v", c)
		}
	}
}

// squeezed returns a text without white space and without the marks of items between its lines.
func squeezed(s string) string { return strings.Join(strings.Fields(s), "") }
