package bench_test

import (
	"os"
	"path/filepath"
	"testing"

	"kioku"
	"kioku/bench"
	"kioku/derive/recall"
	"kioku/memory"
)

// categoryFigures are counts of the questions of a category: those with an answer among the first five passages, without and with what is
// derived, those with one among these or the evidence of the first five units, those with units, and all units.
type categoryFigures struct{ asked, off, on, either, withUnits, units int }

// What is derived by rules takes no place from passages: the answers are those of plain search, and facts come beside them.
func TestCategoryFigures(t *testing.T) {
	folder := os.Getenv(evalFolder)
	if folder == "" {
		t.Skip("set " + evalFolder + " to a folder of evaluation sets")
	}
	sets, err := bench.Load(filepath.Join(folder, "locomo"))
	if err != nil {
		t.Fatal(err)
	}
	set := sets[0]
	memories := map[string]*kioku.Memory{}
	for _, ws := range set.Workspaces() {
		workspace := t.TempDir() // views are written into it
		if err := os.CopyFS(workspace, os.DirFS(set.Workspace(ws))); err != nil {
			t.Fatal(err)
		}
		memories[ws] = deriveFrom(t, workspace)
	}
	figures := map[string]*categoryFigures{"all": {}}
	for _, q := range set.Questions {
		f := measureUnits(t, memories[q.WS], q)
		if figures[q.Category] == nil {
			figures[q.Category] = &categoryFigures{}
		}
		for _, sum := range []*categoryFigures{figures[q.Category], figures["all"]} {
			sum.asked += f.asked
			sum.off += f.off
			sum.on += f.on
			sum.either += f.either
			sum.withUnits += f.withUnits
			sum.units += f.units
		}
	}
	for category, f := range figures {
		t.Logf("%-12s %3d asked: R@5 off %.3f, on %.3f, with evidence of units %.3f; units at %.3f of the questions, %.1f each", category, f.asked,
			share(f.off, f.asked), share(f.on, f.asked), share(f.either, f.asked), share(f.withUnits, f.asked), share(f.units, f.withUnits))
	}
}

// measureUnits asks one question with and without what is derived.
func measureUnits(t *testing.T, m *kioku.Memory, q bench.Question) categoryFigures {
	t.Helper()
	query := memory.Query{Text: q.Query, MaxResults: 5, Now: q.Asked}
	plain, err := m.Search(t.Context(), query)
	if err != nil {
		t.Fatal(err)
	}
	query.Kinds = memory.QueryKinds()
	all, err := recall.New(m, m.Derived(), recall.Options{}).Search(t.Context(), query)
	if err != nil {
		t.Fatal(err)
	}
	var cited memory.Answer
	for _, u := range all.Units[:min(5, len(all.Units))] {
		for _, e := range u.Evidence {
			cited.Hits = append(cited.Hits, memory.Hit{Path: e.Path, StartLine: e.StartLine, EndLine: e.EndLine})
		}
	}
	on := hits(q, all, 5) > 0
	return categoryFigures{asked: 1, off: b2i(hits(q, plain, 5) > 0), on: b2i(on), either: b2i(on || hits(q, cited, len(cited.Hits)) > 0),
		withUnits: b2i(len(all.Units) > 0), units: len(all.Units)}
}
