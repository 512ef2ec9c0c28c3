package sidecar_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"kioku/agent/bootstrap"
	"kioku/internal/testkit"
	"kioku/memory"
)

// timed is a memory that tells how long its last search took.
type timed struct {
	memory.Service
	last atomic.Int64
}

func (m *timed) Search(ctx context.Context, q memory.Query) (memory.Answer, error) {
	begin := time.Now()
	defer func() { m.last.Store(int64(time.Since(begin))) }()
	return m.Service.Search(ctx, q)
}

// newLargeWorkspace makes a workspace with all files and 150 skills, none of them changed lately.
func newLargeWorkspace(b *testing.B) string {
	b.Helper()
	dir := b.TempDir()
	long := strings.Repeat("A line of some words, as people write them.\n", 500)
	for _, name := range bootstrap.Names() {
		testkit.WriteFile(b, dir, name, long)
	}
	for i := range 150 {
		name := fmt.Sprintf("skill-%03d", i)
		testkit.WriteFile(b, dir, "skills/"+name+"/SKILL.md", "---\nname: "+name+"\ndescription: does what it does\nrequires: {anyBins: [sh, ls]}\n---\n"+long[:2000])
	}
	old := time.Now().Add(-time.Hour)
	err := filepath.WalkDir(dir, func(path string, _ os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		return os.Chtimes(path, old, old)
	})
	if err != nil {
		b.Fatal(err)
	}
	return dir
}

// BenchmarkAssemble makes the prompts of turns with 8 files and 150 skills that do not change. search-ms is the median of
// what the search in it took, and beside-ms that of all the rest, whose goal is 2 ms.
func BenchmarkAssemble(b *testing.B) {
	dir := newLargeWorkspace(b)
	notes := remembering(strings.Repeat("The key is in vault 7. ", 30), strings.Repeat("Tea at four. ", 50), strings.Repeat("Ada likes green. ", 40))
	notes.after = 5 * time.Millisecond
	own := &timed{Service: notes}
	opt := options(b, notes)
	opt.Bootstrap.Workspace, opt.Skills.Workspace = dir, dir
	opt.Memories = func(string) memory.Service { return own }
	s := start(b, opt)
	turn := question
	turn.Now = noon
	var searches, rest []time.Duration
	for b.Loop() {
		turn.Now = turn.Now.Add(time.Minute)
		begin := time.Now()
		p := s.Assemble(b.Context(), turn)
		took, search := time.Since(begin), time.Duration(own.last.Load())
		searches, rest = append(searches, search), append(rest, took-search)
		if len(p.Prompt) < 100_000 || len(p.Skills.Skills) != 150 || len(p.Recalled) != 3 {
			b.Fatalf("%d bytes, %d skills, %d memories", len(p.Prompt), len(p.Skills.Skills), len(p.Recalled))
		}
	}
	slices.Sort(searches)
	slices.Sort(rest)
	b.ReportMetric(searches[len(searches)/2].Seconds()*1000, "search-ms")
	b.ReportMetric(rest[len(rest)/2].Seconds()*1000, "beside-ms")
	b.ReportMetric(rest[len(rest)*95/100].Seconds()*1000, "beside-p95-ms")
}
