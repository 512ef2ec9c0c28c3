package derive_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"kioku/derive"
	"kioku/derive/unit"
	"kioku/derive/vocab"
	"kioku/memory"
)

func TestListFindsWordsAndEntities(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "MEMORY.md", ana+"\n## Bea\n- lives in: Rome\n")
	w.derive()
	for name, c := range map[string]struct {
		q     memory.UnitQuery
		words string
		want  []string
	}{
		"words":     {words: "Porto", want: []string{"Porto"}},
		"entity":    {q: memory.UnitQuery{Entity: w.entityOf("Bea")[:8]}, want: []string{"Rome"}},
		"predicate": {q: memory.UnitQuery{Predicate: "works_at"}, want: []string{"Acme"}},
		"no words":  {words: "zeppelin"},
	} {
		t.Run(name, func(t *testing.T) {
			c.q.Kinds = []string{memory.KindFact}
			list, err := w.List(t.Context(), c.q, c.words)
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, u := range list.Units {
				got = append(got, u.Fact.Object)
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
	if _, err := w.List(t.Context(), memory.UnitQuery{Entity: "0123456789"}, ""); !errors.Is(err, memory.ErrNoUnit) {
		t.Errorf("an unknown entity: %v", err)
	}
}

func TestUnitNamesTheCandidatesOfABeginning(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	b.WriteString("# Memory\n\n## Ana\n")
	for i := range 200 {
		b.WriteString("- likes: thing" + strings.Repeat("x", i+1) + "\n")
	}
	w := newWorld(t, "MEMORY.md", b.String())
	w.derive()
	u := w.units(memory.KindFact)[0]
	if got, err := w.Unit(t.Context(), strings.ToUpper(u.UID[:8]), memory.Private); err != nil || got.UID != u.UID {
		t.Errorf("by its beginning: %v, %v", got.UID, err)
	}
	if _, err := w.Unit(t.Context(), u.UID[:5], memory.Private); !errors.As(err, new(*memory.InputError)) {
		t.Errorf("too short: %v", err)
	}
}

func TestEntitiesSuggestsTwins(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, list, said string
		want             []string
	}{
		{"a first name", "- Dario Conti: works at Acme\n- Daria Rossi: lives in Rome\n", "Met @Dario.", []string{"Dario may be Dario Conti"}},
		{"a written alias", "- Dario Conti (Dario): works at Acme\n", "Met @Dario.", nil},
		{"two of one name", "- Clara Whitfield (Clara): designer\n- Clara Chen (Clara): sales\n", "Met @Clara.",
			[]string{"Clara may be Clara Chen, or Clara Whitfield", "Clara may be Clara Whitfield, or Clara Chen"}},
		{"another one elsewhere", "- Clara Whitfield (Clara): designer\n", of("Clara Chen", "City: Ely") + "\n- Met @Clara.",
			[]string{"Clara may be Clara Chen, or Clara Whitfield", "Clara may be Clara Whitfield, or Clara Chen"}},
		{"two in Japanese", "- 田中さん（田中太郎）：設計\n- 田中さん（田中花子）：営業\n", "@田中 に会った。", []string{"田中 may be 田中太郎, or 田中花子", "田中 may be 田中花子, or 田中太郎"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, "MEMORY.md", "# Memory\n\n## People\n"+c.list, "memory/2026-11-20.md", day(c.said))
			w.derive()
			list, err := w.Entities(t.Context(), unit.EntityFilter{Type: "PERSON"})
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, p := range list.Twins {
				got = append(got, p.Reason)
			}
			slices.Sort(got)
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("twins (-want +got):\n%s", diff)
			}
			if list, err = w.Entities(t.Context(), unit.EntityFilter{Name: "Zeno"}); err != nil || len(list.Twins) > 0 {
				t.Errorf("twins of another name: %+v, %v", list.Twins, err)
			}
		})
	}
}

func TestFactsOfAWrittenAliasAreThoseOfThePerson(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, list, said, want string }{
		{"first name", "## People\n- **Clara Whitfield** (Clara): lives in London\n", of("Clara", "City: Leeds"), "Clara Whitfield lives in Leeds"},
		{"front matter", "", "---\npeople: [Dario Conti (Dario)]\n---\n" + of("Dario", "City: Porto"), "Dario Conti lives in Porto"},
		{"another name", "## People\n- Clara (aka Claire): designer\n", of("Claire", "City: Leeds"), "Clara lives in Leeds"},
		{"Japanese", "## 連絡先\n- 田中さん（田中太郎）：設計\n", of("田中さん", "住所：大阪"), "田中太郎 lives in 大阪"},
		{"Chinese", "## 联系人\n- 小王（王伟）：设计\n", of("小王", "现居：厦门"), "王伟 lives in 厦门"},
		{"two scripts", "## Contacts\n- Su Lan 苏岚 (sulan@example.com): testing\n", of("苏岚", "现居：厦门"), "Su Lan lives in 厦门"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			said := c.said
			if c.list != "" {
				said = day(c.said)
			}
			w := newWorld(t, "MEMORY.md", "# Memory\n\n"+c.list, "memory/2026-11-20.md", said)
			w.derive()
			var got []string
			for _, u := range w.units(memory.KindFact) {
				if u.Fact.Predicate == "lives_in" && len(u.Evidence) > 0 && strings.HasPrefix(u.Evidence[0].Path, "memory/") {
					says, _, _ := strings.Cut(vocab.Text(u), " (")
					got = append(got, says)
				}
			}
			if diff := cmp.Diff([]string{c.want}, got); diff != "" {
				t.Errorf("facts (-want +got):\n%s", diff)
			}
		})
	}
}

func TestEntitiesOfATypeThatIsNone(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "MEMORY.md", ana)
	w.opt.EntityTypes = []string{"PET"}
	w.serve()
	if _, err := w.Entities(t.Context(), unit.EntityFilter{Type: "PET"}); err != nil {
		t.Error(err)
	}
	want := &memory.InputError{Field: "type", Problem: "must be one of PERSON, PLACE, PROJECT, WORK, TOPIC, ORG, OTHER, PET"}
	_, err := w.Entities(t.Context(), unit.EntityFilter{Type: "FOO"})
	if got, ok := errors.AsType[*memory.InputError](err); !ok || *got != *want {
		t.Errorf("%v", err)
	}
}

func TestEstimateSendsNothing(t *testing.T) {
	t.Parallel()
	m := &fakeModel{}
	w := newWorld(t, "memory/2026-11-20.md", day("Well, Ana lives in Porto.", "And Bea lives in Rome."), "memory/family/2026-11-20.md", day("Cid lives in Oslo."),
		"memory/2026-01-02.md", day("Long ago Dan lives in Kyiv.")).withModel(m)
	w.sync()
	if err := w.ByRule(t.Context()); err != nil {
		t.Fatal(err)
	}
	got, err := w.Estimate(t.Context(), false)
	if err != nil || m.calls() != 0 {
		t.Fatalf("%d calls, %v", m.calls(), err)
	}
	got.TokensIn, got.TokensOut = min(got.TokensIn, 1), min(got.TokensOut, 1)
	want := unit.DeriveEstimate{Model: "fake", Episodes: 2, Summaries: 2, Calls: 3, TokensIn: 1, TokensOut: 1, Withheld: 1, Days: 1}
	// MEMORY.md has no episode, and the note of January is older than 90 days.
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if all, err := w.Estimate(t.Context(), true); err != nil || all.Episodes != 3 {
		t.Errorf("all: %+v, %v", all, err)
	}
	w.derive()
	if after, err := w.Estimate(t.Context(), false); err != nil || after.Calls != 0 {
		t.Errorf("after a run: %+v, %v", after, err)
	}
}

func TestViewsAreWrittenAndEditedOnesLeftAlone(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "MEMORY.md", ana)
	w.opt.ViewDir = "derived"
	w.serve()
	w.derive()
	facts := filepath.Join(w.folder, "derived", "facts.md")
	data, err := os.ReadFile(facts)
	if err != nil || !strings.Contains(string(data), "Porto") || !strings.Contains(string(data), "MEMORY.md#L4") {
		t.Fatalf("facts.md: %s, %v", data, err)
	}
	w.write("derived/facts.md", "mine\n")
	w.write("MEMORY.md", ana+"- likes: tea\n")
	w.pass(10 * time.Minute)
	w.derive()
	if data, _ := os.ReadFile(facts); string(data) != "mine\n" || !slices.Equal(w.status().EditedViews, []string{"derived/facts.md"}) {
		t.Errorf("facts.md: %s, edited %q", data, w.status().EditedViews)
	}
}

func TestRunReportsProgress(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "MEMORY.md", ana)
	w.sync()
	var steps []string
	err := w.Run(t.Context(), false, func(p unit.DeriveProgress) {
		if steps = append(steps, p.Step); p.Text == "" {
			t.Errorf("a step without text: %+v", p)
		}
	})
	if err != nil || !slices.Equal(slices.Compact(steps), []string{unit.StepSegment, unit.StepRules, unit.StepResolve, unit.StepDone}) {
		t.Errorf("steps %q, %v", steps, err)
	}
}

func TestSummariesByRule(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "memory/2026-11-18.md", day("Decided to rent the flat in Porto."), "memory/2026-11-22.md", day("The movers come on Friday."))
	w.derive()
	scopes := map[string]memory.Unit{}
	for _, u := range w.units(memory.KindSummary) {
		scopes[u.Summary.Scope+" "+u.Summary.Key] = u
	}
	weekly, ok := scopes["weekly 2026-W47"]
	if !ok || weekly.Source != "rule" || !strings.Contains(weekly.Summary.Text, "rent the flat") || len(weekly.Evidence) != 2 {
		t.Errorf("summaries: %+v", scopes)
	}
	if _, ok := scopes["rolling 7d"]; !ok {
		t.Errorf("no rolling summary: %+v", scopes)
	}
	w.decide(unit.DecisionRequest{Verb: unit.DecideForget, ID: weekly.UID})
	w.write("memory/2026-11-19.md", day("The keys are with the neighbour."))
	w.pass(10 * time.Minute)
	w.derive()
	for _, u := range w.units(memory.KindSummary) {
		if u.UID == weekly.UID {
			t.Errorf("a forgotten summary is back: %+v", u.Summary)
		}
	}
}

// Notes of long ago have the view of their last weeks too, and not only those of the last two months.
func TestSummariesOfOldNotes(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "memory/2026-02-03.md", day("Decided to rent the flat in Porto."), "memory/2026-03-04.md", day("The movers come on Friday."))
	w.derive()
	var got []string
	for _, u := range w.units(memory.KindSummary) {
		got = append(got, u.Summary.Scope+" "+u.Summary.Key)
	}
	slices.Sort(got)
	if diff := cmp.Diff([]string{"weekly 2026-W06", "weekly 2026-W10"}, got); diff != "" {
		t.Error(diff)
	}
}

func TestSummariesOfAModel(t *testing.T) {
	t.Parallel()
	m := &fakeModel{}
	w := newWorld(t, "memory/2026-11-18.md", day("Decided to rent the flat in Porto.")).withModel(m)
	w.derive()
	for _, u := range w.units(memory.KindSummary) {
		if u.Source != "model" || u.Trust != memory.SpeakerAssistant || len(u.Summary.Events) != 1 {
			t.Errorf("summary: %+v of %s", u.Summary, u.Source)
		}
	}
	calls := m.purposes("summary")
	if calls != 2 {
		t.Errorf("%d calls for a week and the last 7 days", calls)
	}
	w.write("memory/2026-11-23.md", day("The movers come on Friday."))
	w.pass(time.Hour)
	w.derive()
	if m.purposes("summary") != calls {
		t.Error("the rolling summary was made again within its pause")
	}
	w.pass(25 * time.Hour)
	w.derive()
	if m.purposes("summary") == calls {
		t.Error("the rolling summary was not made again")
	}
}

func TestNewRefusesMissingParts(t *testing.T) {
	t.Parallel()
	if _, err := derive.New(derive.Options{}); err == nil {
		t.Error("a service without a store was made")
	}
}

// Who and what only private notes mention is not listed below that ceiling, nor found by its id, nor are names that only they have, and
// the pages do not have them.
func TestEntitiesUpToACeiling(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "memory/people.md", "# People\n\n## Dario Conti\n- lives in: Porto\n\nSee [[Solar Roof]].\n",
		"memory/family/people.md", "# People\n\n## Zelda Quist\n- lives in: Oslo\n\nSee [[Solar Roof|SR]].\n")
	w.opt.ViewDir = "derived"
	w.serve()
	w.derive()
	names := func(ceiling memory.Sensitivity) (all []string, uids map[string]string) {
		t.Helper()
		list, err := w.Entities(t.Context(), unit.EntityFilter{MaxSensitivity: ceiling})
		if err != nil {
			t.Fatal(err)
		}
		uids = map[string]string{}
		for _, e := range list.Entities {
			all = append(append(all, e.Name), e.Aliases...)
			uids[e.Name] = e.UID
		}
		return all, uids
	}
	open, _ := names(memory.Normal)
	all, uids := names(memory.Private)
	for _, name := range []string{"Zelda Quist", "Zelda", "Oslo", "SR"} {
		if slices.Contains(open, name) {
			t.Errorf("%s is listed: %q", name, open)
		}
	}
	if !slices.Contains(open, "Dario Conti") || !slices.Contains(all, "Zelda Quist") || !slices.Contains(all, "SR") {
		t.Errorf("listed are %q, and with private ones %q", open, all)
	}
	zelda := uids["Zelda Quist"]
	if _, err := w.List(t.Context(), memory.UnitQuery{Entity: zelda[:8], MaxSensitivity: memory.Normal}, ""); !errors.Is(err, memory.ErrNoUnit) {
		t.Errorf("units about an entity above the ceiling: %v", err)
	}
	if _, err := w.List(t.Context(), memory.UnitQuery{Entity: zelda[:8], MaxSensitivity: memory.Private}, ""); err != nil {
		t.Errorf("units about an entity below the ceiling: %v", err)
	}
	for _, path := range w.files("derived") {
		data, err := os.ReadFile(filepath.Join(w.folder, path))
		if text := path + string(data); err != nil || strings.Contains(text, "Zelda") || strings.Contains(text, "SR") {
			t.Errorf("%s has a name of a private note: %v\n%s", path, err, data)
		}
	}
}
