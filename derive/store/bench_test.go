package store_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"kioku/derive/store"
	"kioku/derive/unit"
	"kioku/indexer"
	"kioku/memory"
)

// BenchmarkDerived reads 50,000 episodes of 2,000 files by rule, and makes their units. It reports how long each step takes.
func BenchmarkDerived(b *testing.B) {
	const files, lines = 2000, 25
	for b.Loop() {
		s := openDerived(b, b.TempDir())
		notes := benchNotes(files, lines)
		start := time.Now()
		for batch := range slices.Chunk(notes, 100) {
			s.sync(b, batch...)
		}
		report(b, "sync-s", start)
		texts := map[string]indexer.File{}
		for _, f := range notes {
			texts[f.Path] = f
		}
		start = time.Now()
		s.claimAll(b, texts)
		report(b, "claims-s", start)
		start = time.Now()
		s.resolveAll(b, 5000)
		report(b, "resolve-s", start)
		start = time.Now()
		list, err := s.Units(b.Context(), memory.UnitQuery{Limit: 1000})
		if err != nil {
			b.Fatal(err)
		}
		report(b, "list-s", start)
		b.ReportMetric(float64(list.Total), "units")
		start = time.Now()
		if _, err := s.MatchUnits(b.Context(), []string{"thing7", "report"}, memory.UnitQuery{Limit: 10}); err != nil {
			b.Fatal(err)
		}
		report(b, "match-s", start)
		start = time.Now()
		if _, err := s.Entities(b.Context(), store.EntityQuery{MaxSensitivity: memory.Secret}); err != nil {
			b.Fatal(err)
		}
		report(b, "entities-s", start)
		start = time.Now()
		if _, err := s.Stats(b.Context(), *s.now); err != nil {
			b.Fatal(err)
		}
		report(b, "stats-s", start)
		s.close(b)
	}
}

// benchNotes returns notes of as many days, each with some lines.
func benchNotes(files, lines int) []indexer.File {
	var notes []indexer.File
	for i := range files {
		day := time.Date(2020, 1, 1, 0, 0, 0, 0, time.UTC).AddDate(0, 0, i)
		var text []string
		for j := range lines {
			n := i*lines + j
			switch {
			case j == 0:
				text = append(text, fmt.Sprintf("Person%d lives_in City%d", n%300, n%97))
			case j%5 == 0:
				text = append(text, fmt.Sprintf("TODO send report %d", n))
			default:
				text = append(text, fmt.Sprintf("Person%d likes thing%d", n%300, n%5000))
			}
		}
		notes = append(notes, noteFile(day.Format("memory/2006-01-02.md"), text...))
	}
	return notes
}

// claimAll stores the claims of all pending episodes, 1,000 at a time.
func (s derivedStore) claimAll(b *testing.B, texts map[string]indexer.File) {
	for {
		pending, err := s.PendingEpisodes(b.Context(), 1, 1000)
		if err != nil {
			b.Fatal(err)
		}
		if len(pending) == 0 {
			return
		}
		var batch []unit.EpisodeClaims
		for _, e := range pending {
			c, _ := claimOf(e, texts[e.Path].Chunks[e.StartLine-1].Text)
			batch = append(batch, unit.EpisodeClaims{Episode: e, Maker: "rule", Claims: []unit.Claim{c}})
		}
		if _, err := s.PutClaims(b.Context(), "rule", 1, batch); err != nil {
			b.Fatal(err)
		}
	}
}

// report reports how long a step has taken since start.
func report(b *testing.B, name string, start time.Time) {
	b.ReportMetric(time.Since(start).Seconds(), name)
}
