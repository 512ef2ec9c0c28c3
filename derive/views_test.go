package derive_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"kioku/derive/rule"
	"kioku/derive/unit"
	"kioku/memory"
)

// An index that was derived by an older version of the rules is read again.
func TestOldRulesAreReplaced(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "memory/2026-11-20.md", day(of("Dario", "City: Porto")))
	w.derive()
	store := w.memory.Derived()
	episodes, err := store.EpisodesBetween(t.Context(), monday.AddDate(0, 0, -30), monday, 100)
	if err != nil || len(episodes) == 0 {
		t.Fatal(episodes, err)
	}
	var batch []unit.EpisodeClaims
	for _, e := range episodes {
		batch = append(batch, unit.EpisodeClaims{Episode: e, Maker: "rule"})
	}
	if stale, err := store.PutClaims(t.Context(), "rule", rule.Version-1, batch); len(stale) > 0 || err != nil {
		t.Fatal(stale, err)
	}
	w.derive()
	if !w.hasFact("lives_in", "Porto") {
		t.Error("what the older rules found is still there")
	}
	old := strings.Replace(w.rules().Fingerprint(), fmt.Sprintf("v%d", rule.Version), fmt.Sprintf("v%d", rule.Version-1), 1)
	file, err := w.memory.ReadSource(t.Context(), "memory/2026-11-20.md")
	if err != nil {
		t.Fatal(err)
	}
	if ok, err := store.PutEpisodes(t.Context(), file, nil, old, nil); !ok || err != nil { // the older version cut it otherwise
		t.Fatal(ok, err)
	}
	w.derive()
	if !w.hasFact("lives_in", "Porto") {
		t.Error("the file was not cut anew")
	}
}

// What contradicts only what is above the ceiling of the views is shown as a fact that holds, and what is above it is counted.
func TestViewsKeepWhatIsAboveTheirCeiling(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "memory/2026-11-20.md", day(of("Ana", "Company: Acme")), "memory/family/2026-11-20.md", day(of("Ana", "Company: Bolt")))
	w.opt.ViewDir = "derived"
	for ceiling, want := range map[memory.Sensitivity]string{memory.Normal: "1 fact is above the sensitivity of this page", memory.Private: "Bolt"} {
		w.opt.ViewCeiling = ceiling
		w.serve()
		w.derive()
		facts, err := os.ReadFile(filepath.Join(w.folder, "derived", "facts.md"))
		if text := string(facts); err != nil || !strings.Contains(text, "Acme") || !strings.Contains(text, want) ||
			(strings.Contains(text, "Bolt") || strings.Contains(text, "in conflict")) != (ceiling == memory.Private) {
			t.Errorf("%s: %v\n%s", ceiling, err, facts)
		}
	}
}
