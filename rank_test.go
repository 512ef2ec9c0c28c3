package kioku_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"kioku"
	"kioku/bench"
	"kioku/embed"
	"kioku/memory"
)

var update = flag.Bool("update", false, "write the figures of the ranking into testdata/rank_stats.txt")

// The ranking of two small memories stands in testdata/rank_stats.txt, so that every change of it shows in a diff:
// examples/workspace, and testdata/ranking with near-duplicate daily notes, facts that later notes supersede, and questions
// that its notes cannot answer. Each question has a line with its first hits.
func TestRankMatchesRecord(t *testing.T) {
	var b strings.Builder
	b.WriteString("Ranking of the example workspace and of testdata/ranking; go test . -run Ranking -update records it.\n" +
		"Of each question: the rank of its first evidence, and the first three hits with their scores.\n")
	for _, set := range []bench.Set{exampleSet(t), rankingSet(t)} {
		for _, provider := range []string{"none", "hash"} {
			for _, granularity := range []string{memory.GranularityChunk, memory.GranularityPassage} {
				rankSet(t, &b, set, provider, granularity)
			}
		}
	}
	const file = "testdata/rank_stats.txt"
	if *update {
		if err := os.WriteFile(file, []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), b.String()); diff != "" {
		t.Errorf("the ranking changed (-update records it):\n%s", diff)
	}
}

// rankSet writes the figures of a set and a line for each question.
func rankSet(t *testing.T, b *strings.Builder, set bench.Set, provider, granularity string) {
	t.Helper()
	embedder, err := embed.New(embed.Config{Provider: provider})
	if err != nil {
		t.Fatal(err)
	}
	s, err := bench.Open(t.Context(), set, bench.Options{Engine: kioku.Options{Embedder: embedder}, Granularity: granularity})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	asked, err := s.Ask(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var known, silent []bench.Asked
	for _, a := range asked {
		if len(a.Question.Relevant) > 0 {
			known = append(known, a)
		} else if len(a.Results) == 0 {
			silent = append(silent, a)
		}
	}
	fmt.Fprintf(b, "\n%s, provider %s, %ss\n", set.Name, provider, granularity)
	for _, g := range bench.Groups(known, []string{"lang", "category"}) {
		f := g.Figures
		fmt.Fprintf(b, "  %-15s n %2d  R@1 %.3f  R@5 %.3f  R@10 %.3f  MRR@10 %.3f  nDCG@10 %.3f  R@2k %.3f  V@5 %.3f  V@4k %.3f  empty %.3f\n",
			g.Name, f.N, f.R1, f.R5, f.R10, f.MRR, f.NDCG, f.R2k, f.V5, f.V4k, f.Empty)
	}
	if n := len(asked) - len(known); n > 0 {
		fmt.Fprintf(b, "  %-15s n %2d  silent %d\n", offTopic, n, len(silent))
	}
	for _, a := range asked {
		fmt.Fprintf(b, "  %s\n", rankLine(a))
	}
}

// rankLine is a question's id, the rank of its first evidence, and its first hits.
func rankLine(a bench.Asked) string {
	line := fmt.Sprintf("%-13s -", a.Question.ID)
	if a.Scores.MRR > 0 {
		line = fmt.Sprintf("%-13s %.0f", a.Question.ID, 1/a.Scores.MRR)
	}
	for _, r := range a.Results[:min(3, len(a.Results))] {
		line += fmt.Sprintf("  %s#L%d-L%d %.2f", strings.TrimPrefix(r.Path, "memory/"), r.Start, r.End, r.Score)
	}
	return line
}

// offTopic is the category of questions that the notes cannot answer.
const offTopic = "off-topic"

// rankingSet loads testdata/ranking with its off-topic questions, which have no evidence.
func rankingSet(t *testing.T) bench.Set {
	t.Helper()
	sets, err := bench.Load("testdata/ranking")
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile("testdata/ranking/offtopic.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	set := sets[0]
	for dec := json.NewDecoder(bytes.NewReader(text)); ; {
		q := bench.Question{WS: set.Questions[0].WS, Category: offTopic, Asked: set.Questions[0].Asked}
		if err := dec.Decode(&q); errors.Is(err, io.EOF) {
			return set
		} else if err != nil {
			t.Fatal(err)
		}
		set.Questions = append(set.Questions, q)
	}
}

// exampleSet makes a set of examples/golden.yaml.
func exampleSet(t *testing.T) bench.Set {
	t.Helper()
	text, err := os.ReadFile("examples/golden.yaml")
	if err != nil {
		t.Fatal(err)
	}
	questions, err := bench.ParseGolden(text)
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(t.TempDir(), "examples")
	if err := os.CopyFS(filepath.Join(dir, "ws", "nagi"), os.DirFS("examples/workspace")); err != nil {
		t.Fatal(err)
	}
	for i := range questions {
		questions[i].ID, questions[i].WS, questions[i].Category = fmt.Sprint(i+1), "nagi", "all kinds"
	}
	return bench.Set{Name: "examples", Folder: dir, Questions: questions}
}
