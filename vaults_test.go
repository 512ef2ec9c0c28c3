package kioku_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"kioku/bench"
)

// vaultsRecord contains the figures that the questions of testdata/vaults have reached.
const vaultsRecord = "testdata/vaults/reached.txt"

// Of a vault as real folders are, in five languages, with titles, front matter, link lists, tables and code: each kind of
// question finds at least as many notes, and as many of them first, as recorded, and at least as many off-topic questions
// stay without an answer.
func TestVaultsReachWhatIsRecorded(t *testing.T) {
	report := askVaults(t)
	got := vaultsFigures(report)
	if *update {
		if err := os.WriteFile(vaultsRecord, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(vaultsRecord)
	if err != nil {
		t.Fatal(err)
	}
	reached := parseVaultsFigures(t, got)
	for name, least := range parseVaultsFigures(t, string(want)) {
		for i, figure := range least {
			if i >= len(reached[name]) || reached[name][i] < figure {
				t.Errorf("%s: %v is less than the recorded %v (-update records it)", name, reached[name], least)
				break
			}
		}
	}
	if t.Failed() {
		for _, a := range report.Questions {
			if a.Rank != 1 && !(a.OffTopic() && a.Passed) {
				t.Logf("%s %q: rank %d of %s; first %s", a.Category, a.Question, a.Rank, a.Expected, a.First)
			}
		}
	}
}

// askVaults asks the questions as kioku bench golden does.
func askVaults(t *testing.T) bench.GoldenReport {
	t.Helper()
	text, err := os.ReadFile("testdata/vaults/questions.yaml")
	if err != nil {
		t.Fatal(err)
	}
	questions, err := bench.ParseGolden(text)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := os.CopyFS(filepath.Join(dir, "ws", "vault"), os.DirFS("testdata/vaults/vault")); err != nil {
		t.Fatal(err)
	}
	for i := range questions {
		questions[i].WS = "vault"
	}
	s, err := bench.Open(t.Context(), bench.Set{Name: "vaults", Folder: dir, Questions: questions}, bench.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	asked, err := s.Ask(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var answers []bench.GoldenAnswer
	for _, a := range asked {
		results, first := a.Results[:min(6, len(a.Results))], ""
		if len(results) > 0 {
			first = results[0].Path
		}
		answers = append(answers, a.Question.Answer(results, first))
	}
	return bench.NewGoldenReport(answers)
}

// vaultsFigures is a line for each category: the number of its questions, of those found among six results, and of those
// found first. The questions that no note answers follow, with the number of those that stayed silent.
func vaultsFigures(r bench.GoldenReport) string {
	text := "category   asked  found  first\n"
	for _, g := range r.ByCategory() {
		text += fmt.Sprintf("%-9s  %5d  %5d  %5d\n", g.Name, g.Total, g.Passed, g.First)
	}
	return text + fmt.Sprintf("silent     %5d  %5d\n", r.OffTopic, r.Silent)
}

// parseVaultsFigures returns the numbers of each line by its name.
func parseVaultsFigures(t *testing.T, text string) map[string][]int {
	t.Helper()
	figures := map[string][]int{}
	for line := range strings.Lines(text) {
		words := strings.Fields(line)
		for _, word := range words[1:] {
			if n, err := strconv.Atoi(word); err == nil {
				figures[words[0]] = append(figures[words[0]], n)
			}
		}
	}
	if len(figures) < 2 {
		t.Fatalf("no figures in %q", text)
	}
	return figures
}
