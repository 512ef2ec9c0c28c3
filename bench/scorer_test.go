package bench

import (
	"bytes"
	"encoding/json"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// scored is what the reference scorer prints of each group.
type scored map[string]map[string]float64

// agree fails if groups and the scorer's figures of them differ.
func agree(t *testing.T, groups []Group, want scored) {
	t.Helper()
	if len(groups) != len(want) {
		t.Errorf("%d groups, the scorer has %d", len(groups), len(want))
	}
	for _, g := range groups {
		w, f := want[g.Name], g.Figures
		for name, got := range map[string]float64{
			"n": float64(f.N), "R@1": f.R1, "R@5": f.R5, "R@10": f.R10, "MRR@10": f.MRR, "nDCG@10": f.NDCG, "R@2k": f.R2k,
		} {
			if figure, ok := w[name]; !ok || math.Abs(got-figure) > 1e-12 {
				t.Errorf("%s %s: got %v, the scorer %v", g.Name, name, got, figure)
			}
		}
	}
}

// trio is a set of three languages and two workspaces.
func trio(t *testing.T) Set {
	t.Helper()
	sets, err := Load("testdata/trio")
	if err != nil {
		t.Fatal(err)
	}
	return sets[0]
}

// readResults judges the results of a file as a session judges its own.
func readResults(t *testing.T, set Set, file string) []Asked {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	answers := map[string][]Result{}
	lengths := newTexts(set)
	for line := range bytes.Lines(text) {
		var a struct {
			ID      string
			Results []Range
		}
		if err := json.Unmarshal(line, &a); err != nil {
			t.Fatal(err)
		}
		for _, r := range a.Results {
			r.Path = filepath.Clean(r.Path)
			answers[a.ID] = append(answers[a.ID], Result{Range: r})
		}
	}
	var asked []Asked
	for _, q := range set.Questions {
		for i, r := range answers[q.ID] {
			answers[q.ID][i].Chars = lengths.chars(q.WS, r.Range)
		}
		asked = append(asked, judged(Asked{Question: q, Results: answers[q.ID]}))
	}
	return asked
}

// testdata/score.json is what the reference scorer, a program of its own in Python, printed for testdata/trio and the
// hand-written testdata/results.jsonl, with --by lang --json.
func TestGroupsAgreesWithTheReferenceScorer(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("testdata/score.json")
	if err != nil {
		t.Fatal(err)
	}
	var want scored
	if err := json.Unmarshal(text, &want); err != nil {
		t.Fatal(err)
	}
	agree(t, Groups(readResults(t, trio(t), "testdata/results.jsonl"), []string{"lang"}), want)
}

// Where the environment names the scorer, it scores what a session wrote.
func TestJudgeAgreesWithTheReferenceScorer(t *testing.T) {
	t.Parallel()
	scorer := os.Getenv("KIOKU_SCORER")
	python, err := exec.LookPath("python3")
	if scorer == "" || err != nil {
		t.Skip("set KIOKU_SCORER to the path of the reference scorer, and have python3, to compare with it")
	}
	set := trio(t)
	asked, err := open(t, set, Options{}).Ask(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "results.jsonl")
	var out bytes.Buffer
	for _, a := range asked {
		type place struct {
			Range
			Score float64 `json:"score"`
		}
		line := struct {
			ID      string  `json:"id"`
			Results []place `json:"results"`
		}{a.Question.ID, []place{}}
		for _, r := range a.Results {
			line.Results = append(line.Results, place{r.Range, r.Score})
		}
		if err := json.NewEncoder(&out).Encode(line); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(file, out.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
	printed, err := exec.CommandContext(t.Context(), python, scorer, "--by", "category", "--json", set.Folder, file).Output()
	if err != nil {
		t.Fatal(err)
	}
	var want scored
	if err := json.Unmarshal(printed, &want); err != nil {
		t.Fatal(err)
	}
	groups := Groups(asked, []string{"category"})
	if want[AllQuestions]["R@10"] < 0.5 {
		t.Errorf("the scorer found too little to agree on: %v", want[AllQuestions])
	}
	agree(t, groups, want)
}
