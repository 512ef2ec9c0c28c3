package recall_test

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"go.uber.org/goleak"

	"kioku/derive/recall"
	"kioku/derive/unit"
	"kioku/memory"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// patient waits for what is slow only since the machine is.
var patient = recall.Options{Deadline: time.Minute}

// brothers are notes about the brothers of several people.
func brothers() []memory.Hit {
	return []memory.Hit{
		note("memory/1.md", "Enzo, the brother of Dario, drives a night bus."),
		note("memory/2.md", "Rafael, the brother of Ines, studies law."),
		note("memory/3.md", "Kwame, the brother of Kofi, plays the trumpet."),
		note("memory/4.md", "Piet, the brother of Lena, bakes bread."),
		note("memory/5.md", "Jon, the brother of Oskar, sails."),
		note("memory/6.md", "Paulo, the brother of Marta, repairs accordions."),
		note("memory/7.md", "Marta called about the tiles."),
	}
}

func TestSearchWithoutContextIsTheOrdinarySearch(t *testing.T) {
	t.Parallel()
	e := &engine{notes: brothers()}
	q := memory.Query{Text: "brother of Dario", Now: now, MaxResults: 3}
	want, err := e.Search(t.Context(), q)
	if err != nil {
		t.Fatal(err)
	}
	e.asked = nil
	got := search(t, recall.New(e, &derived{}, patient), q)
	if diff := cmp.Diff(want, got, cmpopts.IgnoreFields(memory.Answer{}, "Took")); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]memory.Query{q}, e.asked); diff != "" {
		t.Error(diff)
	}
}

func TestSearchReadsAPointingMessageWithTheMessagesBefore(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, message, want string
		turns               []memory.Turn
	}{
		{"her", "And her brother?", "Paulo, the brother of Marta, repairs accordions.", turns("Did Marta call?", "Yes, she did.")},
		{"the latest of two", "What about his brother?", "Kwame, the brother of Kofi, plays the trumpet.", turns("Kofi will come.", "Good.")},
		{"nothing before", "And Kofi's brother?", "Kwame, the brother of Kofi, plays the trumpet.", nil},
		{"clear by itself", "Does Oskar's brother Jon still sail?", "Jon, the brother of Oskar, sails.", turns("Marta called.", "Yes?")},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			r := recall.New(&engine{notes: brothers(), least: 0.2}, &derived{}, patient)
			a := search(t, r, memory.Query{Text: c.message, Context: c.turns, MaxResults: 3})
			if len(a.Hits) == 0 || a.Hits[0].Snippet != c.want {
				t.Errorf("found %q, want %q first", texts(a), c.want)
			}
		})
	}
}

// Acceptance 15: あれどうなった？ after a turn about プロジェクトX finds its note without a language model.
func TestSearchAcceptance15FindsWhatJapanesePointsAt(t *testing.T) {
	t.Parallel()
	e := &engine{least: 0.05, notes: []memory.Hit{
		note("memory/1.md", "果樹園のアプリは通知が二重に出る。"), note("memory/2.md", "プロジェクトXの締め切りは十一月に延びた。"), note("memory/3.md", "青鷺号の進水は六月。"),
	}}
	a := search(t, recall.New(e, &derived{}, patient), memory.Query{Text: "あれどうなった？", Context: turns("プロジェクトXを始めた。", "いいですね。")})
	if len(a.Hits) == 0 || !strings.HasPrefix(a.Hits[0].Snippet, "プロジェクトX") || a.Hits[0].Weak || a.Abstained != "" {
		t.Errorf("found %q, abstained %q", texts(a), a.Abstained)
	}
}

// Names of the conversation find what words do not, by whatever alias.
func TestSearchUsesTheNamesOfTheConversation(t *testing.T) {
	t.Parallel()
	e := &engine{notes: brothers(), least: 0.2}
	r := recall.New(e, &derived{entities: []unit.Entity{person("Marta", "Tita")}}, patient)
	a := search(t, r, memory.Query{Text: "And her brother?", Context: turns("Tita was here.", "When?"), MaxResults: 2})
	if !slices.ContainsFunc(a.Hits, func(h memory.Hit) bool { return strings.HasPrefix(h.Snippet, "Paulo") }) {
		t.Errorf("found %q", texts(a))
	}
}

func TestSearchMergesTheWordingsOfTheCaller(t *testing.T) {
	t.Parallel()
	e := &engine{notes: brothers(), least: 0.2}
	a := search(t, recall.New(e, &derived{}, patient), memory.Query{Text: "sibling bakery", Queries: []string{"brother bread", " ", "sibling bakery"}, MaxResults: 2})
	if len(a.Hits) == 0 || !strings.HasPrefix(a.Hits[0].Snippet, "Piet") {
		t.Errorf("found %q", texts(a))
	}
	var asked []string
	for _, q := range e.asked {
		asked = append(asked, q.Text)
	}
	slices.Sort(asked)
	if diff := cmp.Diff([]string{"brother bread", "sibling bakery"}, asked); diff != "" {
		t.Error(diff)
	}
}

func TestSearchFindsFactsByNameAndByWords(t *testing.T) {
	t.Parallel()
	d := &derived{
		entities: []unit.Entity{person("Marta", "Tita"), person("Dario")},
		units:    []memory.Unit{fact("Marta", "lives_in", "Porto", 5), fact("Marta", "likes", "coffee", 6), fact("Dario", "lives_in", "Turin", 9), fact("USER", "likes", "green tea", 12)},
	}
	kinds := []string{memory.KindFact}
	for _, c := range []struct {
		name  string
		query memory.Query
		want  []string
	}{
		{"by name, the asked one first", memory.Query{Text: "Where does Marta live?", Kinds: kinds}, []string{"Marta lives in Porto", "Marta likes coffee"}},
		{"by alias", memory.Query{Text: "Tita?", Kinds: kinds}, []string{"Marta likes coffee", "Marta lives in Porto"}},
		{"by words", memory.Query{Text: "Who lives in Turin?", Kinds: kinds}, []string{"Dario lives in Turin"}},
		{"about the user", memory.Query{Text: "Which tea do I like?", Kinds: kinds}, []string{"The user likes green tea"}},
		{"in context", memory.Query{Text: "Where does he live?", Context: turns("Dario called.", "Yes?"), Kinds: kinds}, []string{"Dario lives in Turin"}},
		{"of nobody", memory.Query{Text: "How is the weather in Graz?", Kinds: kinds}, nil},
		{"not asked for", memory.Query{Text: "Where does Marta live?"}, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			a := search(t, recall.New(&engine{notes: brothers(), least: 0.9}, d, patient), c.query)
			got := unitTexts(a)
			if c.name == "by alias" {
				slices.Sort(got)
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Error(diff)
			}
			if (len(c.want) == 0) != (a.Abstained != "") && len(c.query.Kinds) > 0 {
				t.Errorf("abstained: %q", a.Abstained)
			}
		})
	}
}

// What only a file says that the filter leaves out is not found as a fact either, whatever leads to it.
func TestSearchFindsOnlyUnitsThatTheFilterAdmits(t *testing.T) {
	t.Parallel()
	d := &derived{
		entities: []unit.Entity{person("Marta")},
		units: []memory.Unit{
			fact("Marta", "lives_in", "Porto", 5), fact("USER", "likes", "green tea", 12),
			{UID: "a1", Kind: memory.KindLoop, Loop: &memory.Loop{Status: memory.LoopOpen, Text: "water the lemon tree"}},
		},
	}
	for _, message := range []string{"Where does Marta live?", "Who lives in Porto?", "Which tea do I like?", "What is still open?"} {
		q := memory.Query{Text: message, Kinds: memory.QueryKinds(), Filter: memory.Filter{PathPrefix: "MEMORY.md"}}
		r := recall.New(&engine{}, d, patient)
		if got := unitTexts(search(t, r, q)); len(got) == 0 && message != "What is still open?" {
			t.Errorf("%s: nothing within MEMORY.md", message)
		}
		q.Filter.PathPrefix = "memory/"
		if got := unitTexts(search(t, r, q)); len(got) > 0 {
			t.Errorf("%s: found %q outside of the filter", message, got)
		}
	}
}

func TestSearchFindsOpenLoopsAndTheSummaryOfAWeek(t *testing.T) {
	t.Parallel()
	d := &derived{units: []memory.Unit{
		{UID: "a1", Kind: memory.KindLoop, Loop: &memory.Loop{Status: memory.LoopOpen, Text: "water the lemon tree"}},
		{UID: "b2", Kind: memory.KindSummary, Summary: &memory.Summary{Scope: memory.ScopeWeekly, Key: "2026-W46", From: "2026-11-09", To: "2026-11-15", Text: "Rain all week."}},
		{UID: "c3", Kind: memory.KindSummary, Summary: &memory.Summary{Scope: memory.ScopeWeekly, Key: "2026-W45", From: "2026-11-02", To: "2026-11-08", Text: "Sun all week."}},
	}}
	kinds := []string{memory.KindLoop, memory.KindSummary}
	for _, c := range []struct {
		text string
		want []string
	}{
		{"What is still open?", []string{"Open: water the lemon tree"}},
		{"やることは残ってる？", []string{"Open: water the lemon tree"}},
		{"还有什么待办？", []string{"Open: water the lemon tree"}},
		{"What happened last week?", []string{"Rain all week."}},
		{"先週は何があった？", []string{"Rain all week."}},
		{"Who is the mayor?", nil},
	} {
		a := search(t, recall.New(&engine{}, d, patient), memory.Query{Text: c.text, Kinds: kinds})
		if diff := cmp.Diff(c.want, unitTexts(a)); diff != "" {
			t.Errorf("%s: %s", c.text, diff)
		}
	}
}

// Of the summaries in which somebody is mentioned only her own comes with her name.
func TestSearchFindsTheSummaryOfAPersonByName(t *testing.T) {
	t.Parallel()
	d := &derived{entities: []unit.Entity{person("Marta")}, units: []memory.Unit{
		{UID: "a1", Kind: memory.KindSummary, Summary: &memory.Summary{Scope: memory.ScopePerson, Key: "marta", Text: "Marta has laid tiles."}},
		{UID: "b2", Kind: memory.KindSummary, Summary: &memory.Summary{Scope: memory.ScopeWeekly, Key: "2026-W46", Text: "Rain, and Marta called."}},
		{UID: "c3", Kind: memory.KindSummary, Summary: &memory.Summary{Scope: memory.ScopeRolling, Key: "7d", Text: "Sun, and Marta wrote."}},
	}}
	a := search(t, recall.New(&engine{notes: brothers(), least: 0.9}, d, patient), memory.Query{Text: "Where does Marta live?", Kinds: []string{memory.KindSummary}})
	if diff := cmp.Diff([]string{"Marta has laid tiles."}, unitTexts(a)); diff != "" {
		t.Error(diff)
	}
}

// A fact takes no passage's place, not even that of the passage that says nothing else.
func TestSearchKeepsThePassageOfAFact(t *testing.T) {
	t.Parallel()
	only, more := note("MEMORY.md", "- Marta lives in Porto"), note("memory/1.md", "Marta lives in Porto\nby the river")
	d := &derived{entities: []unit.Entity{person("Marta")}, units: []memory.Unit{fact("Marta", "lives_in", "Porto", 3)}}
	q := memory.Query{Text: "Where does Marta live?", Kinds: memory.QueryKinds()}
	a := search(t, recall.New(&engine{notes: []memory.Hit{only, more}}, d, patient), q)
	if diff := cmp.Diff([]string{only.Snippet, more.Snippet}, texts(a)); diff != "" || len(a.Units) != 1 {
		t.Errorf("units %q, passages %s", unitTexts(a), diff)
	}
}

func TestSearchSurvivesWhatIsDerived(t *testing.T) {
	t.Parallel()
	for name, d := range map[string]*derived{"an error": {err: errors.New("database is locked")}, "a panic": {panics: true}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := search(t, recall.New(&engine{notes: brothers()}, d, patient), memory.Query{Text: "And her brother?", Context: turns("Marta called."), Kinds: memory.QueryKinds()})
			if len(a.Hits) == 0 || !slices.Contains(codes(a), memory.UnitsMissing) {
				t.Errorf("%d hits, degraded %q", len(a.Hits), codes(a))
			}
		})
	}
}

func TestSearchReturnsTheErrorsOfTheQueryAndOfTheOrdinarySearch(t *testing.T) {
	t.Parallel()
	r := recall.New(failing{}, &derived{}, patient)
	if _, err := r.Search(t.Context(), memory.Query{Text: "x", Context: turns("y")}); !errors.Is(err, errBroken) {
		t.Errorf("error %v", err)
	}
	var bad *memory.InputError
	if _, err := r.Search(t.Context(), memory.Query{Text: "x", Kinds: []string{"person"}}); !errors.As(err, &bad) || bad.Field != "kinds" {
		t.Errorf("error %v", err)
	}
}
