package view_test

import (
	"flag"
	"maps"
	"math/rand/v2"
	"os"
	"path"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"kioku/derive/unit"
	"kioku/derive/view"
	"kioku/derive/vocab"
	"kioku/memory"
)

var update = flag.Bool("update", false, "write what is rendered now into testdata")

func ref(etype, name string) memory.EntityRef { return memory.EntityRef{Type: etype, Name: name} }

// entity returns an entity that is mentioned in a number of episodes.
func entity(etype, name string, mentions int) unit.Entity {
	return unit.Entity{UID: vocab.EntityUID(ref(etype, name)), Type: etype, Name: name, Mentions: mentions, Aliases: []string{"from a secret note"}}
}

// evidence returns places in notes: "path" from line 3 to 5, then others.
func evidence(paths ...string) []memory.Evidence {
	var list []memory.Evidence
	for i, p := range paths {
		list = append(list, memory.Evidence{EpisodeUID: p, Path: p, StartLine: 3, EndLine: 3 + 2*(1-min(i, 1)), Quote: "never shown"})
	}
	return list
}

func fact(subject memory.EntityRef, predicate, object, from, to, state string, paths ...string) memory.Unit {
	return memory.Unit{
		UID: vocab.UnitUID(subject.Name, predicate, object, from), Kind: memory.KindFact, State: state, Confidence: .914, Evidence: evidence(paths...),
		Fact: &memory.Fact{Subject: subject, Predicate: predicate, Slot: vocab.Default().Slot(predicate), Object: object, From: from, To: to},
	}
}

func loop(text, due, status string, closed time.Time, paths ...string) memory.Unit {
	return memory.Unit{UID: vocab.UnitUID(text), Kind: memory.KindLoop, State: memory.StateValidated, Confidence: .8, Evidence: evidence(paths...),
		Loop: &memory.Loop{Text: text, Due: due, Status: status, ClosedAt: closed}}
}

// month is a memory in three languages, with what must not be shown.
func month() view.Input {
	dario, user, acme := ref(vocab.Person, "Dario"), vocab.User(), ref(vocab.Org, "Acme / Beta")
	haruka, lisbon := ref(vocab.Person, "佐藤 はるか"), ref(vocab.Place, "Lisbon")
	porto := fact(dario, "lives_in", "Porto", "2026-10", "", memory.StateValidated, "memory/2026-11-18.md", "memory/2026-11-19.md", "memory/2026-11-20.md")
	works := fact(dario, "works_at", "Acme / Beta", "", "", memory.StateValidated, "MEMORY.md")
	leads := fact(haruka, "responsible_for", "Acme / Beta", "", "", memory.StateValidated, "MEMORY.md")
	works.Fact.ObjectEntity, leads.Fact.ObjectEntity = &acme, &acme
	once := fact(user, "owns", "a flat in Lisbon", "", "", memory.StateValidated, "USER.md")
	once.Fact.ObjectEntity = &lisbon
	rome := fact(haruka, "lives_in", "ローマ", "", "", memory.StateConflict, "memory/2026-11-02.md")
	tokyo := fact(haruka, "lives_in", "東京", "", "", memory.StateValidated, "MEMORY.md")
	tokyo.Pinned, tokyo.Fact.Opposes, rome.Fact.Opposes = true, []string{rome.UID}, []string{tokyo.UID}
	hostile := fact(ref(vocab.Topic, "../x\n# <script>alert(1)</script>"), "status_is", "done\n- [ ] **bold** `code` [l](javascript:x) <!-- c --> | $a$ \x1b[31m\u202e", "", "",
		memory.StateValidated, "memory/a `b`_c.md")
	week := memory.Unit{UID: vocab.UnitUID("week"), Kind: memory.KindSummary, State: memory.StateValidated, Source: "rule", Evidence: evidence("memory/2026-11-18.md"),
		Summary: &memory.Summary{Scope: memory.ScopeWeekly, Key: "2026-W47", From: "2026-11-16", To: "2026-11-22", Stale: true,
			Text:   "2026-11-18 “Dario moved to Porto.”\n# no heading\n- no list\n1. no list",
			Events: []memory.KeyEvent{{EpisodeUID: "memory/2026-11-18.md", Why: "Dario moved to Porto."}, {EpisodeUID: "gone", Why: "its text is gone"}}}}
	about := memory.Unit{UID: vocab.UnitUID("about"), Kind: memory.KindSummary, State: memory.StateValidated, Source: "model",
		Summary: &memory.Summary{Scope: memory.ScopePerson, Key: vocab.EntityUID(dario), Text: "Dario has moved."}}
	return view.Input{
		Withheld: map[string]int{memory.KindFact: 2},
		Units: []memory.Unit{porto, works, leads, once, rome, tokyo, hostile, week, about,
			fact(dario, "lives_in", "Lisbon", "", "2026-10", memory.StateSuperseded, "memory/2026-03-01.md"),
			fact(user, "prefers", "静かなカフェ", "", "", memory.StateValidated, "USER.md"),
			fact(user, "likes", "乌龙茶", "2025", "2026", memory.StateValidated, "USER.md"),
			loop("send the report_v2", "2026-12-01", memory.LoopOpen, time.Time{}, "memory/2026-11-18.md"),
			loop("歯医者に電話する", "", memory.LoopOpen, time.Time{}, "memory/2026-11-20.md"),
			loop("买机票", "", memory.LoopClosed, time.Date(2026, 11, 19, 12, 0, 0, 0, time.UTC), "memory/2026-11-18.md"),
			loop("water the plants", "", memory.LoopExpired, time.Time{}, "memory/2026-09-01.md")},
		Entities: []unit.Entity{related(entity(vocab.Person, "Dario", 9), "Dario", memory.UserName), entity(vocab.Person, memory.UserName, 20), entity(vocab.Person, "佐藤 はるか", 4),
			entity(vocab.Org, "Acme / Beta", 3), entity(vocab.Topic, "nothing is known", 50), entity(vocab.Place, "Lisbon", 2), entity(vocab.Topic, "../x\n# <script>alert(1)</script>", 1)},
	}
}

// related returns an entity of which two episodes say that the second is a friend of the first.
func related(e unit.Entity, first, second string) unit.Entity {
	e.Relations = []unit.Relation{{Source: first, Kind: "friend", Target: second, Citation: "memory/2026-11-18.md#L4", Episodes: 2}}
	return e
}

// archive returns files as one text, each under a line "-- name --".
func archive(files map[string][]byte) string {
	var b strings.Builder
	for _, name := range slices.Sorted(maps.Keys(files)) {
		b.WriteString("-- " + name + " --\n" + string(files[name]))
	}
	return b.String()
}

func TestRenderIsAsRecorded(t *testing.T) {
	t.Parallel()
	const golden = "testdata/month.txtar"
	got := archive(view.Render(month()))
	if *update {
		if err := os.WriteFile(golden, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("-update records it:\n%s", diff)
	}
}

func TestRenderDoesNotDependOnTheOrderOfUnits(t *testing.T) {
	t.Parallel()
	want := archive(view.Render(month()))
	for i := range 30 {
		in, random := month(), rand.New(rand.NewPCG(1, uint64(i)))
		random.Shuffle(len(in.Units), func(a, b int) { in.Units[a], in.Units[b] = in.Units[b], in.Units[a] })
		random.Shuffle(len(in.Entities), func(a, b int) { in.Entities[a], in.Entities[b] = in.Entities[b], in.Entities[a] })
		if diff := cmp.Diff(want, archive(view.Render(in))); diff != "" {
			t.Fatal(diff)
		}
	}
}

func TestRenderSaysWhatIsNotThere(t *testing.T) {
	t.Parallel()
	flat := fact(vocab.User(), "owns", "a flat", "", "", memory.StateValidated, "USER.md")
	over := flat
	over.State = memory.StateSuperseded
	for name, c := range map[string]struct {
		in                      view.Input
		facts, loops, conflicts string // their last lines
	}{
		"nothing":     {view.Input{}, "No facts.", "No loops.", "No conflicts."},
		"only past":   {view.Input{Units: []memory.Unit{over}}, "No facts.", "No loops.", "No conflicts."},
		"only hidden": {view.Input{Withheld: map[string]int{memory.KindFact: 1}}, "1 fact is above the sensitivity of this page and left out.", "No loops.", "No conflicts."},
		"too much": {view.Input{Units: []memory.Unit{flat}, More: 80_000}, "80000 more items are left out of these pages, which show the newest ones. `kioku derive export` writes all.",
			"80000 more items are left out of these pages, which show the newest ones. `kioku derive export` writes all.", "No conflicts."},
	} {
		files := view.Render(c.in)
		got := map[string]string{}
		for file := range files {
			lines := strings.Split(strings.TrimSpace(string(files[file])), "\n")
			got[file] = lines[len(lines)-1]
		}
		want := map[string]string{"facts.md": c.facts, "loops.md": c.loops, "conflicts.md": c.conflicts}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

func TestFileNamesAreSafeAndUnique(t *testing.T) {
	t.Parallel()
	names := []string{"../x", "a/b", "a\\b", "a:b", "CON", "con.txt", "COM1", "lpt9.md", "Dario", "dario", "DARIO", "Dário", ".hidden", "-rf", "trailing. ", "", "…", "🎉", "👩‍👩‍👧",
		"\u202egnp.exe", "شركة", "שלום", "田中", "高橋", "a\x00b\nc", strings.Repeat("長", 300), strings.Repeat("x", 300), "decisions", "NUL", "e\u0301", "é", "*?<>|\"", "nul "}
	in := view.Input{}
	for _, name := range names {
		in.Entities = append(in.Entities, entity(vocab.Person, name, 1))
		in.Units = append(in.Units, fact(ref(vocab.Person, name), "uses", "vim", "", "", memory.StateValidated, "a.md"))
	}
	seen := map[string]string{}
	distinct := map[string]bool{}
	for _, name := range names {
		distinct[vocab.EntityUID(ref(vocab.Person, name))] = true
	}
	for file := range view.Render(in) {
		folder, name := path.Split(file)
		if folder != "people/" {
			continue
		}
		lower := strings.ToLower(name)
		if seen[lower] != "" {
			t.Errorf("%q and %q are one file for some system", seen[lower], name)
		}
		seen[lower] = name
		device, _, _ := strings.Cut(lower, ".")
		if strings.ContainsAny(name, "<>:\"/\\|?*\x00\n\u202e") || strings.HasPrefix(name, ".") || strings.HasPrefix(name, "-") || len(name) > 200 ||
			!utf8.ValidString(name) || slices.Contains([]string{"con", "nul", "com1", "lpt9"}, device) || strings.HasSuffix(strings.TrimSuffix(name, ".md"), " ") {
			t.Errorf("%q is no safe name of a file", name)
		}
	}
	if len(seen) != len(distinct) {
		t.Errorf("%d files for %d entities: %q", len(seen), len(distinct), slices.Sorted(maps.Keys(seen)))
	}
}

func FuzzRender(f *testing.F) {
	f.Add("Dario", "Porto\n# x", "memory/a.md")
	f.Add("../../etc", "<!-- kioku -->", "a\nb")
	f.Fuzz(func(t *testing.T, name, object, file string) {
		in := view.Input{Units: []memory.Unit{fact(ref(vocab.Topic, name), "uses", object, "", "", memory.StateConflict, file), loop(object, "", memory.LoopOpen, time.Time{}, file)},
			Entities: []unit.Entity{related(entity(vocab.Topic, name, 1), name, object)}}
		for rel, data := range view.Render(in) {
			if path.Clean(rel) != rel || !strings.HasSuffix(rel, ".md") || strings.Count(rel, "/") > 1 || strings.HasPrefix(rel, ".") {
				t.Errorf("the path %q", rel)
			}
			body := string(data)
			if strings.Count(body, "\n---\n") != 1 || strings.Contains(body, "\x1b") || strings.Contains(body, "<!--") && !strings.Contains(body, "\\<") {
				t.Errorf("the page %q", body)
			}
			for line := range strings.Lines(body[strings.Index(body, "\n---\n")+5:]) {
				if line == "\n" || strings.HasPrefix(line, "# ") || strings.HasPrefix(line, "## ") || strings.HasPrefix(line, "- ") ||
					strings.HasPrefix(line, "Kioku writes") || strings.HasPrefix(line, "These facts") || line == "No facts.\n" || line == "No loops.\n" {
					continue
				}
				t.Errorf("the line %q", line)
			}
		}
	})
}
