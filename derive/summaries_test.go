package derive_test

import (
	"strings"
	"testing"
	"time"

	"kioku/derive"
	"kioku/derive/unit"
	"kioku/memory"
)

// seen returns the texts of the summaries up to a sensitivity, now or as they were believed at a time, and of their versions.
func (w *world) seen(ceiling memory.Sensitivity, believed time.Time) string {
	w.t.Helper()
	list, err := w.List(w.t.Context(), memory.UnitQuery{Kinds: []string{memory.KindSummary}, IncludeSuperseded: true, MaxSensitivity: ceiling, BelievedAt: believed, Limit: 1000}, "")
	if err != nil {
		w.t.Fatal(err)
	}
	var all strings.Builder
	for _, u := range list.Units {
		all.WriteString(u.Summary.Text + "\n")
		versions, err := w.History(w.t.Context(), u.UID, ceiling)
		if err != nil && believed.IsZero() {
			w.t.Fatal(err)
		}
		for _, v := range versions {
			all.WriteString(v.Payload + "\n")
		}
	}
	return all.String()
}

// What becomes private or secret is in no summary below its ceiling from then on, whoever has made the summary and whatever makes it so.
func TestSummariesAreAsSensitiveAsWhatTheyQuote(t *testing.T) {
	t.Parallel()
	const note = "memory/2026-11-17.md"
	text := "Ana lives in Canarytown.\n" + of("Ana", "City: Canarytown") + "\n"
	for name, hide := range map[string]func(*world){
		"decision": func(w *world) {
			u := w.fact("lives_in", "")
			if _, err := w.Decide(w.t.Context(), unit.DecisionRequest{Verb: unit.DecideCorrect, ID: u.UID, Set: unit.Correction{Sensitivity: new(memory.Secret)}}); err != nil {
				w.t.Fatal(err)
			}
		},
		"front matter": func(w *world) { w.write(note, "---\nsensitivity: private\n---\n"+text) },
		"tag": func(w *world) {
			w.write(note, strings.Replace(text, "Canarytown", "<private>Canarytown</private>", -1))
		},
		"glob": func(w *world) { w.write("memory/family/2026-11-17.md", text); w.remove(note) },
		"shape": func(w *world) {
			w.write(note, strings.Replace(text, "Canarytown", "Canarytown, with ghp_Zt8Qw3Lm9Xc2Vb7Nk4Jh6Gf1Ds5Ap0RyUeIo.", 1))
		},
	} {
		for maker, model := range map[string]*fakeModel{"rule": nil, "model": {}} {
			t.Run(name+" "+maker, func(t *testing.T) {
				t.Parallel()
				w := newWorld(t, note, text, "memory/2026-11-18.md", day("The well is deep."))
				if model != nil {
					w.withModel(model, func(o *derive.Options) { o.Ceiling = memory.Normal })
				}
				w.derive()
				if before := w.seen(memory.Normal, time.Time{}); !strings.Contains(before, "Canarytown") {
					t.Fatalf("no summary says it before:\n%s", before)
				}
				earlier := w.clock()
				w.pass(time.Minute)
				hide(w)
				if name == "decision" {
					if got := w.seen(memory.Normal, time.Time{}); strings.Contains(got, "Canarytown") {
						t.Errorf("right after the decision:\n%s", got)
					}
				}
				w.derive()
				for _, believed := range []time.Time{{}, earlier} {
					if got := w.seen(memory.Normal, believed); strings.Contains(got, "Canarytown") {
						t.Errorf("as believed at %v:\n%s", believed, got)
					}
				}
			})
		}
	}
}

// The owner is found by the names that USER.md gives.
func TestOwnerIsCalledAsUserFileSays(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "USER.md", "# About Rin\n\n- Name: Rin Tokoha (常葉 凛)\n- Lives in Kobe.\n")
	w.derive()
	for _, name := range []string{"Rin Tokoha", "常葉 凛", "USER"} {
		list, err := w.Entities(t.Context(), unit.EntityFilter{Name: name, MaxSensitivity: memory.Private})
		if err != nil || len(list.Entities) != 1 || list.Entities[0].Name != memory.UserName {
			t.Errorf("%s: %+v, %v", name, list.Entities, err)
		}
	}
	if list, err := w.Entities(t.Context(), unit.EntityFilter{Name: "Rin"}); err != nil || len(list.Entities) > 0 {
		t.Errorf("below the ceiling of what may be private: %+v, %v", list.Entities, err)
	}
}

// A summary of a person has the name of the person below the ceiling, and quotes the episodes that it is made of.
func TestSummariesNameAndQuoteWhatTheyAreAbout(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "memory/2026-11-16.md", of("Dario", "City: Porto"), "memory/2026-11-17.md", of("Dario", "Interests: fencing"),
		"memory/2026-11-18.md", of("Dario", "Interests: maps"), "memory/2026-11-19.md", of("Dario", "Company: Acme"))
	w.derive()
	list, err := w.List(t.Context(), memory.UnitQuery{Kinds: []string{memory.KindSummary}, MaxSensitivity: memory.Private, Limit: 100}, "")
	if err != nil {
		t.Fatal(err)
	}
	named := ""
	for _, u := range list.Units {
		if u.Summary.Name != "" {
			named = u.Summary.Scope + " " + u.Summary.Name
		}
		u, err := w.Unit(t.Context(), u.UID, memory.Private)
		if err != nil || len(u.Evidence) == 0 {
			t.Fatalf("%+v, %v", u, err)
		}
		for _, e := range u.Evidence {
			if !strings.HasPrefix(e.Quote, "- ") {
				t.Errorf("%s %s quotes %q", u.Summary.Scope, u.Summary.Key, e.Quote)
			}
		}
	}
	if named != "person Dario" {
		t.Errorf("the name is %q", named)
	}
}
