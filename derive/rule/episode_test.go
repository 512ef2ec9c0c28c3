package rule_test

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"kioku/derive/rule"
	"kioku/derive/unit"
	"kioku/memory"
)

// spans returns the lines of the episodes of a file, "3-5".
func spans(episodes []memory.Episode) []string {
	var out []string
	for _, e := range episodes {
		out = append(out, fmt.Sprintf("%d-%d", e.StartLine, e.EndLine))
	}
	return out
}

func TestEpisodesAreCutByForm(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("A sentence of a long paragraph about the river and its bridges.\n", 30) + "\n"
	for _, c := range []struct {
		name, path, data string
		want             []string
	}{
		{"sections of a dated note", "memory/2026-11-20.md", "# 2026-11-20\n\n## 09:00\na\n\n## 10:00\n### deeper\nb\n", []string{"3-4", "6-8"}},
		{"text above the sections", "memory/2026-11-20.md", "a\n\n## 10:00\nb\n", []string{"1-1", "3-4"}},
		{"items of what stays true", "MEMORY.md", "# Memory\n\nIntro\ntwo lines\n\n## Facts\n- a\n  - nested\n  more\n- b\n\n  still b\n\nafter\n", []string{"3-4", "7-9", "10-12", "14-14"}},
		{"a group's file", "groups/x/MEMORY.md", "- a\n- b\n", []string{"1-1", "2-2"}},
		{"top sections", "notes/x.md", "# X\n\nintro\n\n## A\na\n### A1\nb\n\n## B\nc\n", []string{"1-3", "5-8", "10-11"}},
		{"no headings", "notes/x.md", "\n\na\n\nb\n", []string{"3-5"}},
		{"an open comment in an entry (hazard H16)", "memory/2026-11-20.md", "## 10:00 - fact\n\na <!-- b\n\n## 10:05 - fact\n\ntext\n", []string{"1-3", "5-7"}},
		{"front matter and comments", "notes/x.md", "---\ntitle: x\n---\n<!-- a\nb -->\ntext\n", []string{"6-6"}},
		{"a long section", "notes/x.md", "## A\n" + strings.Repeat(long, 3), []string{"1-31", "33-62", "64-93"}},
		{"a long item", "MEMORY.md", "- a\n" + strings.ReplaceAll(strings.Repeat(long, 2), "A sentence", "  A sentence"), []string{"1-31", "33-62"}},
		{"a fence stays whole", "MEMORY.md", "- a\n\n  ```\n  - x\n\n  - y\n  ```\n- b\n", []string{"1-7", "8-8"}},
		{"headings without text", "notes/x.md", "# X\n\n## A\n\n## B\n", nil},
		{"nothing", "notes/x.md", "", nil},
		{"a derived view by its front matter", "memory/facts.md", "---\nkioku: derived\n---\n- Ana lives in Porto\n", nil},
		{"a derived view by its folder", "derived/facts.md", "- Ana lives in Porto\n", nil},
		{"lines of a derived view", "MEMORY.md", "- lives in Porto (memory/2026-11-18.md#L12-L14, 2 more)\n- b\n", []string{"2-2"}},
		{"items, quotations and the end of derived views", "MEMORY.md", "Kioku writes this page from your notes. To change what it says, change the notes or use `kioku derive`.\n" +
			"- [ ] Call Ana (memory/2026-11-18.md#L12; due 2026-12-01; confidence 0.90; id 377347ba)\n- lives in Porto (a (b).md#L1; since 2026-10; confidence 0.90; in conflict; id 377347ba) **holds**\n" +
			"2026-11-18 “Ana lives in Porto.” (assistant)\nBy rule; id 377347ba.\n- b\n", []string{"6-6"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(c.want, spans(newRules(t, rule.Options{}).Episodes(note(c.path, c.data)))); diff != "" {
				t.Errorf("episodes (-want +got):\n%s", diff)
			}
		})
	}
}

func TestEpisodeDescribesItsLines(t *testing.T) {
	t.Parallel()
	tokyo := time.FixedZone("Asia/Tokyo", 9*3600)
	got := newRules(t, rule.Options{Location: tokyo}).Episodes(note("memory/2026-11-20.md", "# 2026-11-20\n\n## 09:30 - decision\nWe decided to stay. <!-- kioku text=0123456789abcdef from=flush -->\n> quoted\n"))
	if len(got) != 1 {
		t.Fatalf("%d episodes, want 1", len(got))
	}
	got[0].UID = ""
	want := memory.Episode{
		Path: "memory/2026-11-20.md", Source: memory.SourceMemory, StartLine: 3, EndLine: 5, Date: "2026-11-20",
		TextSHA256: sha256.Sum256([]byte("## 09:30 - decision\nWe decided to stay. <!-- kioku text=0123456789abcdef from=flush -->\n> quoted")),
		OccurredAt: time.Date(2026, 11, 20, 9, 30, 0, 0, tokyo), Heading: "# 2026-11-20 > ## 09:30 - decision",
		Speakers: []string{memory.SpeakerAssistant, memory.SpeakerTool}, Trust: memory.SpeakerTool, Salience: 0.4,
	}
	if diff := cmp.Diff(want, got[0]); diff != "" {
		t.Errorf("episode (-want +got):\n%s", diff)
	}
}

func TestEpisodeUIDSurvivesWhatDoesNotMatter(t *testing.T) {
	t.Parallel()
	r := newRules(t, rule.Options{})
	uids := func(path, data string) string {
		var out []string
		for _, e := range r.Episodes(note(path, data)) {
			out = append(out, e.UID)
		}
		return strings.Join(out, " ")
	}
	const base = "# M\n\n## Dario\n- lives in Porto\n- likes tea\n"
	same := map[string]string{
		"blank lines and white space": "# M\n\n\n## Dario\n\n-  lives  in Porto  \n- likes tea",
		"Windows line ends":           strings.ReplaceAll(base, "\n", "\r\n"),
		"a mark that tells nothing":   "# M\n\n## Dario\n- lives in Porto <!-- kioku text=0123456789abcdef -->\n- likes tea\n",
		"full width":                  "# M\n\n## Dario\n- lives in Ｐorto\n- likes tea\n",
	}
	for name, data := range same {
		if uids("MEMORY.md", data) != uids("MEMORY.md", base) {
			t.Errorf("%s changes UIDs", name)
		}
	}
	if uids("groups/a/MEMORY.md", base) != uids("MEMORY.md", base) {
		t.Error("a moved file changes UIDs")
	}
	other := map[string]string{
		"the heading": strings.Replace(base, "Dario", "Ana", 1),
		"the speaker": strings.Replace(base, "Porto", "Porto <!-- kioku text=0123456789abcdef from=agent -->", 1),
		"the text":    strings.Replace(base, "Porto", "Rome", 1),
		"sensitivity": "---\nsensitivity: private\n---\n" + base,
	}
	first := strings.Fields(uids("MEMORY.md", base))[0]
	for name, data := range other {
		if strings.Fields(uids("MEMORY.md", data))[0] == first {
			t.Errorf("%s does not change the UID", name)
		}
	}
	twice := r.Episodes(note("MEMORY.md", "- a\n- a\n"))
	if len(twice) != 2 || twice[0].UID == twice[1].UID || twice[0].UID != r.Episodes(note("MEMORY.md", "- a\n"))[0].UID {
		t.Error("equal episodes are not counted")
	}
}

func TestSensitivityOfEpisodes(t *testing.T) {
	t.Parallel()
	key := "AKIA" + "Z7QK4MX2LP9WTRVN"
	for _, c := range []struct {
		name, path, data string
		want             []string
	}{
		{"normal", "memory/2026-11-20.md", "text\n", []string{"normal"}},
		{"front matter", "memory/2026-11-20.md", "---\nsensitivity: Private\n---\ntext\n", []string{"private"}},
		{"secret front matter", "memory/2026-11-20.md", "---\nsensitivity: secret\n---\ntext\n", []string{"secret"}},
		{"an unknown word", "memory/2026-11-20.md", "---\nsensitivity: confidential\n---\ntext\n", []string{"private"}},
		{"front matter that is no YAML", "memory/2026-11-20.md", "---\nsensitivity: private\n: [\n---\ntext\n", []string{"private"}},
		{"a glob", "diary/x.md", "text\n", []string{"private"}},
		{"a span on a line", "MEMORY.md", "- a <private>b</private>\n- c\n", []string{"private", "normal"}},
		{"a span over lines", "MEMORY.md", "- a\n<PRIVATE>\n- b\n</private>\n- c\n", []string{"private", "private", "normal"}},
		{"nested spans", "MEMORY.md", "- <private> a <private> b </private>\n- c </private>\n- d\n", []string{"private", "private", "normal"}},
		{"an open span", "MEMORY.md", "- a\n- <private> b\n- c\n", []string{"normal", "private", "private"}},
		{"a private heading", "MEMORY.md", "# A\n## <private>Ana</private>\n- a\n## B\n- b\n", []string{"private", "normal"}},
		{"a secret", "MEMORY.md", "- key " + key + "\n- b\n", []string{"secret", "normal"}},
		{"a secret in a fence", "MEMORY.md", "- a\n  ```\n  " + key + "\n  ```\n- b\n", []string{"secret", "normal"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			r := newRules(t, rule.Options{Private: []string{"diary"}})
			var got []string
			for _, e := range drawn(t, r, note(c.path, c.data)) {
				got = append(got, e.Episode.Sensitivity.String())
				for _, claim := range e.Claims {
					if claim.Sensitivity < e.Episode.Sensitivity {
						t.Errorf("claim of a %s episode is %s", e.Episode.Sensitivity, claim.Sensitivity)
					}
				}
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("sensitivities (-want +got):\n%s", diff)
			}
		})
	}
}

// spoken returns the lines of all episodes of a file as "3 user: text".
func spoken(t *testing.T, r *rule.Rules, f memory.SourceFile) []string {
	t.Helper()
	var out []string
	d := r.Read(f)
	for _, e := range d.Episodes() {
		lines, ok := d.Lines(e)
		if !ok {
			t.Fatal("an episode has no lines")
		}
		for _, l := range lines {
			if strings.TrimSpace(l.Text) != "" {
				out = append(out, fmt.Sprintf("%d %s: %s", l.Number, l.Speaker, strings.TrimSpace(l.Text)))
			}
		}
	}
	return out
}

func TestLinesKnowTheirSpeakers(t *testing.T) {
	t.Parallel()
	const recalled = memory.RecalledHeading + "\n\n" + memory.RecalledIntro + "\n<recalled-memories id=\"0123456789abcdef\">\n" +
		`{"source":"memory/a.md#L1","agent":"main","text":"I live in Rome","score":0.9}` + "\n</recalled-memories id=\"0123456789abcdef\">"
	for _, c := range []struct {
		name, path, data string
		want             []string
	}{
		{"marks", "MEMORY.md", "- by hand\n- told <!-- kioku text=0123456789abcdef from=user -->\n- flushed <!-- kioku from=flush -->\n- read <!-- kioku from=tool -->\n- again by hand\n",
			[]string{"1 note: - by hand", "2 user: - told", "3 assistant: - flushed", "4 tool: - read", "5 note: - again by hand"}},
		{"a long note", "memory/2026-11-20.md", "## 09:00 <!-- kioku begins=0123456789abcdef author=u1/Ana -->\nfirst\n- second\nlast <!-- kioku text=0123456789abcdef from=flush author=u1/Ana -->\nby hand\n",
			[]string{"1 Ana: ## 09:00", "2 Ana: first", "3 Ana: - second", "4 Ana: last", "5 note: by hand"}},
		{"the owner in a group", "memory/2026-11-20.md", "- mine <!-- kioku text=0123456789abcdef from=user author=owner:u2/Mia -->\n- both <!-- kioku text=0123456789abcdef from=user author=owner:u2/Mia,u1/Ana -->\n- whose <!-- kioku text=0123456789abcdef from=user author=? -->\n",
			[]string{"1 user: - mine", "2 Ana: - both", "3 unknown: - whose"}},
		{"a name that pretends", "memory/2026-11-20.md", "- mine <!-- kioku text=0123456789abcdef from=user author=u1/user -->\n", []string{"1 user?: - mine"}},
		{"quotations and code", "memory/2026-11-20.md", "a\n> quoted\n```\ncode\n```\n", []string{"1 note: a", "2 tool: > quoted", "3 tool: ```", "4 tool: code", "5 tool: ```"}},
		{"recalled memories", "memory/2026-11-20.md", "before\n" + recalled + "\nafter\n", []string{"1 note: before", "8 note: after"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(c.want, spoken(t, newRules(t, rule.Options{}), note(c.path, c.data))); diff != "" {
				t.Errorf("lines (-want +got):\n%s", diff)
			}
		})
	}
}

// transcripts reads lines {"role", "text", "at"}.
func transcripts(string) func([]byte) (string, time.Time) {
	return func(data []byte) (string, time.Time) {
		var l struct {
			Role, Text string
			At         time.Time
		}
		if json.Unmarshal(data, &l) != nil || l.Role == "" {
			return "", time.Time{}
		}
		return l.Role + ": " + l.Text, l.At
	}
}

func TestTranscriptsAreCutIntoExchanges(t *testing.T) {
	t.Parallel()
	f := memory.SourceFile{Path: "sessions/a.jsonl", Source: memory.SourceSessions, Data: []byte(strings.Join([]string{
		`{"meta":1}`,
		`{"role":"User","text":"- City: Kobe\nTODO: call Ana by Friday","at":"2026-11-19T23:30:00Z"}`,
		`{"role":"Tool","text":"output"}`,
		`{"role":"Assistant","text":"You live in Rome.\n- [ ] plan","at":"2026-11-19T23:31:00Z"}`,
		`{"role":"User","text":"[Bo] I live in Lyon. <private>hush","at":"2026-11-19T23:32:00Z"}`,
		`{"role":"User","text":"[Mia (owner)] I live in Oslo.","at":"2026-11-19T23:33:00Z"}`,
		`{"role":"Assistant","text":"Good.","at":"2026-11-19T23:34:00Z"}`, ""}, "\n"))}
	tokyo := time.FixedZone("Asia/Tokyo", 9*3600)
	r := newRules(t, rule.Options{Transcript: transcripts, Location: tokyo})
	episodes := r.Episodes(f)
	if diff := cmp.Diff([]string{"2-4", "5-7"}, spans(episodes)); diff != "" {
		t.Fatalf("episodes (-want +got):\n%s", diff)
	}
	e := episodes[0]
	if e.Date != "2026-11-20" || e.OccurredAt.UTC().Format(time.RFC3339) != "2026-11-19T23:30:00Z" || e.Trust != memory.SpeakerTool {
		t.Errorf("episode %+v", e)
	}
	if episodes[0].Sensitivity != memory.Normal || episodes[1].Sensitivity != memory.Private {
		t.Errorf("sensitivities %s and %s", episodes[0].Sensitivity, episodes[1].Sensitivity)
	}
	var loops []string
	for _, c := range drawn(t, r, f) {
		for _, claim := range c.Claims {
			if claim.Kind == unit.ClaimLoop {
				loops = append(loops, claim.LoopText+" "+claim.Due)
			}
		}
	}
	if diff := cmp.Diff([]string{"call Ana 2026-11-20"}, loops); diff != "" {
		t.Errorf("loops (-want +got):\n%s", diff)
	}
	if got := newRules(t, rule.Options{}).Episodes(f); got != nil {
		t.Errorf("%d episodes of a transcript that nobody can read", len(got))
	}
}

func TestDailyLogHasAnEpisodeALine(t *testing.T) {
	t.Parallel()
	f := memory.SourceFile{Path: "memory/daily/2026-11-20.jsonl", Source: memory.SourceMemory, Date: "2026-11-20",
		Data: []byte(`{"ts":"2026-11-20T09:00:00Z","category":"fact","content":"The user lives in Porto."}` + "\nnot JSON\n" + `{"ts":"2026-11-20","category":"x","content":"Dario lives in Rome."}` + "\n")}
	r := newRules(t, rule.Options{})
	if diff := cmp.Diff([]string{"1-1", "3-3"}, spans(r.Episodes(f))); diff != "" {
		t.Errorf("episodes (-want +got):\n%s", diff)
	}
}

func TestAgentsNotesSayNothingOfTheOwner(t *testing.T) {
	t.Parallel()
	f := note("USER.md", "- Lives in Porto <!-- kioku text=0123456789abcdef from=agent -->\n- The user likes tea <!-- kioku text=0123456789abcdef from=tool -->\n- Likes rowing <!-- kioku text=0123456789abcdef from=user -->\n")
	if diff := cmp.Diff([]string{"USER noted Likes rowing"}, factsIn(t, newRules(t, rule.Options{}), f)); diff != "" {
		t.Errorf("facts (-want +got):\n%s", diff)
	}
}

func TestOwnerNamesStandForTheOwner(t *testing.T) {
	t.Parallel()
	names := rule.OwnerNames([]byte("# Me\n- Name: Rin Tokoha (常葉 凛). Signs as RT.\n"))
	if diff := cmp.Diff([]string{"Rin", "Rin Tokoha", "常葉", "常葉 凛"}, names); diff != "" {
		t.Fatalf("names (-want +got):\n%s", diff)
	}
	r := newRules(t, rule.Options{UserNames: names})
	f := note("MEMORY.md", "## People\n- Rin Tokoha: tea\n- Ana Lima: tea\n\n## 常葉\n- City: 神戸\n")
	if diff := cmp.Diff([]string{"USER noted tea", "Ana Lima noted tea", "USER lives_in 神戸"}, factsIn(t, r, f)); diff != "" {
		t.Errorf("facts (-want +got):\n%s", diff)
	}
}
