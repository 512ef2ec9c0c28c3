package engine_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"kioku/council"
	"kioku/council/engine"
	"kioku/memory"
)

var no = false

// plants is a schedule that suggests something each morning.
var plants = council.Schedule{Name: "plants", Worker: "bot", At: "30 10 * * *", Title: "Water the plants", Description: "Those in the hall.", DryRun: &no}

// scheduled returns a council with a worker and schedules. Its clock shows nine.
func scheduled(t *testing.T, all ...council.Schedule) *world {
	t.Helper()
	return withBot(t, func(o *engine.Options) { o.Settings.Schedules = all })
}

// titles returns the titles that were suggested, sorted.
func (w *world) titles() []string {
	w.t.Helper()
	all, err := w.ListSuggestions(w.t.Context(), "")
	if err != nil {
		w.t.Fatal(err)
	}
	var titles []string
	for _, s := range all {
		titles = append(titles, s.Title)
	}
	slices.Sort(titles)
	return titles
}

// A schedule suggests at its time, once, also after a restart; what was missed is made up for by one.
func TestScheduleSuggestsAtItsTime(t *testing.T) {
	t.Parallel()
	w := scheduled(t, plants)
	w.settle()
	if got := w.titles(); len(got) != 0 {
		t.Fatalf("a new schedule fires for times before it: %v", got)
	}
	w.later(89 * time.Minute)
	if got := w.titles(); len(got) != 0 {
		t.Fatalf("a minute early: %v", got)
	}
	w.later(time.Minute)
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	again := func(o *engine.Options) {
		o.Settings.Workers, o.Settings.Schedules = []string{"bot", "other"}, []council.Schedule{plants}
	}
	w.open(again)
	w.settle()
	want := []string{"Water the plants (2026-11-23 10:30)"}
	if diff := cmp.Diff(want, w.titles()); diff != "" {
		t.Error(diff)
	}
	w.later(4 * 24 * time.Hour)
	if diff := cmp.Diff(append(want, "Water the plants (2026-11-27 10:30)"), w.titles()); diff != "" {
		t.Error(diff)
	}
}

// Without dryRun: false a schedule only writes down what it would suggest.
func TestScheduleRunsDry(t *testing.T) {
	t.Parallel()
	dry := plants
	dry.DryRun = nil
	w := scheduled(t, dry)
	w.settle()
	w.later(2 * time.Hour)
	data, err := os.ReadFile(filepath.Join(w.dir, "council/schedules/plants/20261123T1030Z.json"))
	if err != nil {
		t.Fatal(err)
	}
	var got council.Fired
	if err := json.Unmarshal(data, &got); err != nil {
		t.Fatal(err)
	}
	want := council.Fired{Schedule: "plants", ID: "20261123T1030Z", Due: w.clock.Now().Add(-30 * time.Minute), FiredAt: w.clock.Now(), DryRun: true, Title: "Water the plants (2026-11-23 10:30)"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if got := w.titles(); len(got) != 0 {
		t.Errorf("suggested: %v", got)
	}
}

// A schedule makes three suggestions a day.
func TestScheduleIsBounded(t *testing.T) {
	t.Parallel()
	often := plants
	often.At = "0 * * * *"
	w := scheduled(t, often)
	w.settle()
	for range 10 {
		w.later(time.Hour)
	}
	if got := w.titles(); len(got) != 3 {
		t.Errorf("%v", got)
	}
	w.later(14 * time.Hour)
	if got := w.titles(); len(got) != 4 {
		t.Errorf("on the next day: %v", got)
	}
}

// A new note that a search finds fires a schedule once; what was there before fires nothing.
func TestScheduleWatchesNotes(t *testing.T) {
	t.Parallel()
	w, books := remembering(t, func(o *engine.Options) {
		o.Settings.Workers = []string{"bot"}
		o.Settings.Schedules = []council.Schedule{{Name: "leaks", Worker: "bot", Search: "something leaks", Title: "Look at a leak", DryRun: &no}}
	})
	books["council"].hits = []memory.Hit{found("memory/old.md", 0.9)}
	w.settle()
	w.later(11 * time.Minute)
	if got := w.titles(); len(got) != 0 {
		t.Fatalf("an old note has fired: %v", got)
	}
	weak := found("memory/weak.md", 0.1)
	weak.Weak = true
	books["council"].mu.Lock()
	books["council"].hits = append(books["council"].hits, found("memory/new.md", 0.8), weak)
	books["council"].mu.Unlock()
	for range 3 {
		w.later(11 * time.Minute)
	}
	all, err := w.ListSuggestions(t.Context(), "")
	if err != nil || len(all) != 1 || !strings.Contains(all[0].Description, "memory/new.md#L3") {
		t.Errorf("%v: %+v", err, all)
	}
}

// An expired suggestion is in the archive, and its title is still known.
func TestExpiredSuggestionIsArchived(t *testing.T) {
	t.Parallel()
	w := withBot(t, nil)
	s, err := w.suggest("Water the plants")
	if err != nil {
		t.Fatal(err)
	}
	w.settle()
	w.later(25 * time.Hour)
	w.settle()
	if names := filesOf(t, w.dir+"/council/suggestions"); slices.ContainsFunc(names, func(n string) bool { return strings.Contains(n, s.ID+".json") && !strings.Contains(n, "_turn_") }) {
		t.Errorf("still there: %v", names)
	}
	if got := w.suggestion(s.ID).Status; got != council.SuggestionExpired {
		t.Errorf("%s", got)
	}
	if _, err := w.suggest("water the PLANTS"); err == nil {
		t.Error("the title was forgotten")
	}
}

// Old logs go, and health.json says what waits for a person.
func TestUpkeep(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	old, young := w.dir+"/council/logs/ant/2026-10-01.jsonl", w.dir+"/council/logs/ant/2026-11-22.jsonl"
	for _, path := range []string{old, young} {
		writeFile(t, path, "{}\n")
	}
	w.vote(map[string]string{"ant": "silent", "bee": "silent"})
	id := w.submit(ruled)
	for range 4 {
		w.later(6 * time.Minute)
	}
	if _, err := os.Stat(old); !os.IsNotExist(err) {
		t.Errorf("an old log: %v", err)
	}
	if _, err := os.Stat(young); err != nil {
		t.Error(err)
	}
	data, err := os.ReadFile(w.dir + "/council/health.json")
	if err != nil {
		t.Fatal(err)
	}
	var got council.Health
	if err := json.Unmarshal(data, &got); err != nil {
		t.Fatal(err)
	}
	want := council.Health{CheckedAt: w.clock.Now(), Alerts: 3, Status: council.HealthWarning, Problems: []string{
		id + " is stalled: decide it, request a round or cancel it", "ant has not voted in the last round: error", "bee has not voted in the last round: error",
	}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}
