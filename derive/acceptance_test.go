package derive_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"kioku"
	"kioku/derive"
	"kioku/llm"
	"kioku/memory"
)

// Acceptance check 1: derivation by rule changes no byte of what a search answers, and asks nobody.
func TestAcceptance01SearchIsByteIdentical(t *testing.T) {
	t.Parallel()
	notes := []string{"MEMORY.md", ana, "memory/2026-11-20.md", day(of("Bea", "City: Rome"), "- [ ] call Bea"), "memory/2026-11-21.md", day(of("Bea", "City: Oslo"))}
	on := newWorld(t, notes...)
	on.derive()
	if len(on.units(memory.KindFact)) == 0 {
		t.Fatal("nothing was derived")
	}
	off, err := kioku.Open(t.Context(), kioku.Options{Workspace: on.folder, StateDir: t.TempDir(), Now: on.clock, Location: time.UTC})
	if err != nil {
		t.Fatal(err)
	}
	defer off.Close()
	if _, err := off.Sync(t.Context(), kioku.SyncOptions{}, nil); err != nil {
		t.Fatal(err)
	}
	answer := func(m *kioku.Memory, text string) string {
		t.Helper()
		a, err := m.Search(t.Context(), memory.Query{Text: text, Explain: true})
		if err != nil {
			t.Fatal(err)
		}
		a.Took = 0
		data, err := json.Marshal(a)
		if err != nil {
			t.Fatal(err)
		}
		return string(data)
	}
	for _, q := range []string{"where does Bea live", "call Bea", "Acme", "Oslo last week", "nothing of the kind"} {
		if diff := cmp.Diff(answer(off, q), answer(on.memory, q)); diff != "" {
			t.Errorf("%s (-off +on):\n%s", q, diff)
		}
	}
	if stats, err := off.Derived().Stats(t.Context(), on.clock()); err != nil || stats.Episodes+len(stats.Units)+len(stats.Jobs) != 0 {
		t.Errorf("while derivation is off: %+v, %v", stats, err)
	}
}

// Acceptance check 8: what a worker had begun that is told to end waits, and nothing is parked.
func TestAcceptance08AnEndLeavesTheTask(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	m := &fakeModel{answer: func(int, llm.Request) (llm.Response, error) {
		cancel()
		return llm.Response{}, context.Canceled
	}}
	w := newWorld(t, "memory/2026-11-23.md", day("Well, Ana lives in Porto.")).withModel(m)
	w.sync()
	if err := w.Run(ctx, false, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("the run ended with %v", err)
	}
	if st := w.status(); st.Unextracted != 1 || len(st.Parked) > 0 || st.Problem != "" {
		t.Errorf("status %+v", st)
	}
	m.answer = nil
	w.serve()
	w.derive()
	if !w.hasFact("lives_in", "Porto") {
		t.Errorf("facts %q", w.sentences(memory.KindFact))
	}
}

// Acceptance check 8: a task on which the program crashes is parked, and others go on.
func TestAcceptance08ACrashIsParked(t *testing.T) {
	t.Parallel()
	m := &fakeModel{}
	m.answer = func(_ int, req llm.Request) (llm.Response, error) {
		if strings.Contains(bodyOf(req), "Zed") && strings.HasPrefix(req.System, "Task: extract") {
			panic("poison")
		}
		return say(reading(req)), nil
	}
	w := newWorld(t, "memory/2026-11-22.md", day("Well, Zed lives in Rome."), "memory/2026-11-23.md", day("Well, Ana lives in Porto.")).withModel(m)
	w.derive()
	calls := m.extracts()
	w.derive()
	st := w.status()
	if !w.hasFact("lives_in", "Porto") || m.extracts() != calls || len(st.Parked) != 1 || st.Parked[0].ErrorClass != "crashed" || !strings.Contains(st.Parked[0].Message, "poison") {
		t.Errorf("%d calls, parked %+v", m.extracts(), st.Parked)
	}
}

// Acceptance check 9: a note that changes while the model reads it leaves nothing of what it said, and is read anew.
func TestAcceptance09ANoteChangesDuringTheCall(t *testing.T) {
	t.Parallel()
	m := &fakeModel{}
	w := newWorld(t, "memory/2026-11-23.md", day("Well, Ana lives in Porto."))
	m.answer = func(call int, req llm.Request) (llm.Response, error) {
		if call == 1 {
			w.write("memory/2026-11-23.md", day("Well, Ana lives in Rome."))
			w.sync()
		}
		return say(reading(req)), nil
	}
	w.withModel(m)
	w.derive()
	w.derive()
	if w.hasFact("lives_in", "Porto") || !w.hasFact("lives_in", "Rome") {
		t.Errorf("facts: %q", w.sentences(memory.KindFact))
	}
	w.remove("memory/2026-11-23.md")
	w.sync() // what came from it is hidden before anything is derived
	if w.hasFact("lives_in", "Rome") {
		t.Error("a fact is found whose note is gone")
	}
}

// Acceptance check 9: what comes from a folder that has vanished, as an unmounted disk does, stays.
func TestAcceptance09AVanishedFolderHidesNothing(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "MEMORY.md", ana)
	w.derive()
	if err := os.Rename(w.folder, w.folder+"-away"); err != nil {
		t.Fatal(err)
	}
	report, err := w.memory.Sync(t.Context(), kioku.SyncOptions{}, nil)
	if err != nil || len(report.Unavailable) != 1 {
		t.Fatalf("sync: %+v, %v", report, err)
	}
	if !w.hasFact("lives_in", "Porto") {
		t.Errorf("facts: %q", w.sentences(memory.KindFact))
	}
	if err := os.Rename(w.folder+"-away", w.folder); err != nil {
		t.Fatal(err)
	}
}

// Acceptance check 9: a note that is moved costs no call.
func TestAcceptance09AMovedNoteCostsNothing(t *testing.T) {
	t.Parallel()
	m := &fakeModel{}
	w := newWorld(t, "memory/places.md", "# Places\n\nWell, Ana lives in Porto.\n").withModel(m)
	w.derive()
	calls := m.calls()
	w.write("memory/people/places.md", "# Places\n\nWell, Ana lives in Porto.\n")
	w.remove("memory/places.md")
	w.derive()
	if u := w.fact("lives_in", "Porto"); m.calls() != calls || u.Evidence[0].Path != "memory/people/places.md" {
		t.Errorf("%d more calls, evidence %+v", m.calls()-calls, u.Evidence)
	}
}

// A note that was away, as with another branch of git, says again what it said, without a call.
func TestAcceptance09ANoteThatComesBackCostsNothing(t *testing.T) {
	t.Parallel()
	m := &fakeModel{}
	note := day("Well, Ana lives in Porto.")
	w := newWorld(t, "memory/2026-11-23.md", note).withModel(m)
	w.derive()
	calls := m.calls()
	w.remove("memory/2026-11-23.md")
	w.derive()
	if w.hasFact("lives_in", "Porto") {
		t.Error("a fact is found whose note is gone")
	}
	w.write("memory/2026-11-23.md", note)
	w.derive()
	if !w.hasFact("lives_in", "Porto") || m.calls() != calls {
		t.Errorf("%d more calls, facts %q", m.calls()-calls, w.sentences(memory.KindFact))
	}
	for _, u := range w.units(memory.KindSummary) {
		if len(u.Evidence) == 0 {
			t.Errorf("a summary without evidence: %+v", u)
		}
	}
}

// Acceptance check 12: what is private or secret is in no request to a model on another machine, in no view, and in no list below its
// ceiling; what is made of private notes is private.
func TestAcceptance12SensitivityHolds(t *testing.T) {
	t.Parallel()
	m := &fakeModel{}
	w := newWorld(t,
		"memory/2026-11-20.md", day("Ana lives in Porto.", "Public. <private>Bea lives in Canaryville.</private>"),
		"memory/family/2026-11-20.md", day("Cid lives in Canarytown."),
		"memory/locked.md", "---\nsensitivity: secret\n---\n# Locked\n\nDan lives in Canarycity. He will never tell.\n",
		"memory/key.md", "# Key\n\nEva lives in Canarykey, with ghp_Zt8Qw3Lm9Xc2Vb7Nk4Jh6Gf1Ds5Ap0RyUeIo.\n",
	).withModel(m, func(o *derive.Options) { o.ViewDir = "derived" })
	w.derive()
	if asked := m.asked(); strings.Contains(asked, "Canary") || strings.Contains(asked, "ghp_") || !strings.Contains(asked, "Porto") {
		t.Errorf("a model on another machine was told:\n%s", asked)
	}
	for _, path := range w.files("derived") {
		if data, _ := os.ReadFile(filepath.Join(w.folder, path)); strings.Contains(string(data), "Canary") {
			t.Errorf("the view %s has it:\n%s", path, data)
		}
	}
	w.withModel(m, func(o *derive.Options) { o.Ceiling = memory.Secret }) // which counts as private
	w.derive()
	if asked := m.asked(); !strings.Contains(asked, "Canarytown") || strings.Contains(asked, "Canarycity") || strings.Contains(asked, "ghp_") {
		t.Errorf("a model on this machine was told:\n%s", asked)
	}
	for ceiling, want := range map[memory.Sensitivity]int{memory.Normal: 0, memory.Private: 1} {
		list, err := w.List(t.Context(), memory.UnitQuery{MaxSensitivity: ceiling, IncludeSuperseded: true}, "Canarytown")
		if err != nil {
			t.Fatal(err)
		}
		facts := slices.DeleteFunc(list.Units, func(u memory.Unit) bool { return u.Kind != memory.KindFact })
		if len(facts) != want {
			t.Errorf("up to %s: %v", ceiling, facts)
		}
	}
	for _, u := range w.units(memory.KindSummary) {
		if strings.Contains(u.Summary.Text, "Canarytown") && u.Sensitivity != memory.Private {
			t.Errorf("a summary of private notes is %s: %s", u.Sensitivity, u.Summary.Text)
		}
	}
}

// Acceptance check 12: what a summary of a person is made of has no private fact, not even if the model may see some.
func TestAcceptance12PrivateFactsAreInNoSummaryOfAPerson(t *testing.T) {
	t.Parallel()
	m := &fakeModel{}
	w := newWorld(t,
		"memory/2026-11-20.md", day(of("Ana", "City: Porto"), "Met @Ana at noon.", "@Ana called.", "Lunch with @Ana."),
		"memory/family/2026-11-20.md", day(of("Ana", "Company: Canarycorp")),
	).withModel(m)
	w.derive()
	if asked := m.asked(); strings.Contains(asked, "Canarycorp") || !strings.Contains(asked, "scope: person") || !strings.Contains(asked, "- Ana lives in Porto") {
		t.Errorf("a model on another machine was told:\n%s", asked)
	}
}

// Acceptance check 13: what is derived is never derived from, wherever it is copied to.
func TestAcceptance13NothingIsDerivedFromWhatIsDerived(t *testing.T) {
	t.Parallel()
	m := &fakeModel{}
	w := newWorld(t, "MEMORY.md", ana, "memory/2026-11-20.md", day("Well, Bea lives in Rome.", "- [ ] call Bea")).
		withModel(m, func(o *derive.Options) { o.ViewDir = "derived" })
	w.derive()
	w.derive()
	counts := func() map[string]int { st := w.status(); st.Units["episodes"] = st.Episodes; return st.Units }
	before, calls := counts(), m.calls()
	for i, path := range w.files("derived") {
		data, err := os.ReadFile(filepath.Join(w.folder, path))
		if err != nil {
			t.Fatal(err)
		}
		w.write(filepath.Join("memory", "copies", string(rune('a'+i))+".md"), string(data))
	}
	for round := range 50 {
		facts, err := os.ReadFile(filepath.Join(w.folder, "derived", "facts.md"))
		if err != nil {
			t.Fatal(err)
		}
		w.write(fmt.Sprintf("memory/copies/facts%d.md", round), string(facts))
		w.write(fmt.Sprintf("memory/copies/recalled%d.md", round), recalled("Zed lives in Atlantis."))
		w.pass(10 * time.Minute)
		w.derive()
	}
	after := counts()
	for key, n := range after {
		if before[key] != n {
			t.Errorf("%s: %d, before the copies %d", key, n, before[key])
		}
	}
	if m.calls() != calls {
		t.Errorf("%d calls for copies of views", m.calls()-calls)
	}
}

// recalled returns a text as it is recalled into a prompt.
func recalled(text string) string {
	return fmt.Sprintf("%s\n\n%s\n\n<%s id=\"0123456789abcdef\">\n{\"source\":\"memory/2026-11-20.md#L2\",\"text\":%q}\n</%[3]s id=\"0123456789abcdef\">\n",
		memory.RecalledHeading, memory.RecalledIntro, memory.RecalledTag, text)
}
