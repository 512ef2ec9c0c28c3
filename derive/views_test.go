package derive_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"kioku/derive"
	"kioku/derive/rule"
	"kioku/derive/seam"
	"kioku/derive/vocab"
	"kioku/memory"
)

// crowdedStore has as many facts that hold as are wanted, and as many that are over.
type crowdedStore struct {
	seam.Store
	facts int
}

// Units returns pages of facts without evidence.
func (c crowdedStore) Units(ctx context.Context, q memory.UnitQuery) (memory.UnitList, error) {
	if len(q.States) == 0 {
		return c.Store.Units(ctx, q)
	}
	from := 0
	if q.After != "" {
		_, _ = fmt.Sscanf(q.After, "%d", &from)
	}
	list := memory.UnitList{Total: c.facts}
	for i := from; i < min(from+q.Limit, c.facts); i++ {
		list.Units = append(list.Units, memory.Unit{UID: fmt.Sprintf("%08d", i), Kind: memory.KindFact, State: q.States[0],
			Fact: &memory.Fact{Subject: vocab.User(), Predicate: "likes", Slot: "likes", Object: fmt.Sprint("tea ", i)}})
	}
	if from+q.Limit < c.facts {
		list.Next = fmt.Sprint(from + q.Limit)
	}
	return list, nil
}

func TestViewsSayWhatTheyLeaveOut(t *testing.T) {
	t.Parallel()
	for facts, want := range map[int]struct {
		shown int
		last  string
	}{
		100:    {100, "- likes tea 99 (confidence 0.00; id 00000099)"},
		12_000: {12_000, "4000 more items are left out of these pages, which show the newest ones. `kioku derive export` writes all."},
		25_000: {20_000, "30000 more items are left out of these pages, which show the newest ones. `kioku derive export` writes all."},
	} {
		t.Run(fmt.Sprint(facts), func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, "memory/2026-11-20.md", day("We met."))
			s, err := derive.New(derive.Options{Store: crowdedStore{w.memory.Derived(), facts}, Notes: w.memory, Rules: w.rules(), ViewDir: "derived", Now: w.clock})
			if err != nil {
				t.Fatal(err)
			}
			if err := s.ByRule(t.Context()); err != nil {
				t.Fatal(err)
			}
			data, err := os.ReadFile(filepath.Join(w.folder, "derived", "facts.md"))
			if err != nil {
				t.Fatal(err)
			}
			lines := strings.Split(strings.TrimSpace(string(data)), "\n")
			if shown := strings.Count(string(data), "\n- "); shown != want.shown || !strings.HasSuffix(lines[len(lines)-1], want.last) {
				t.Errorf("%d facts are shown, and the page ends with %q", shown, lines[len(lines)-1])
			}
		})
	}
}

// An index that was derived by an older version of the rules is read again.
func TestOldRulesAreReplaced(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "memory/2026-11-20.md", day("Dario lives in Porto."))
	w.derive()
	store := w.memory.Derived()
	episodes, err := store.EpisodesBetween(t.Context(), monday.AddDate(0, 0, -30), monday, 100)
	if err != nil || len(episodes) == 0 {
		t.Fatal(episodes, err)
	}
	var batch []seam.EpisodeClaims
	for _, e := range episodes {
		batch = append(batch, seam.EpisodeClaims{Episode: e, Maker: "rule"})
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
	if ok, err := store.PutEpisodes(t.Context(), file, old, nil); !ok || err != nil { // the older version cut it otherwise
		t.Fatal(ok, err)
	}
	w.derive()
	if !w.hasFact("lives_in", "Porto") {
		t.Error("the file was not cut anew")
	}
}
