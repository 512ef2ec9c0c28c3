package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"kioku/bench"
	"kioku/internal/testkit"
)

// trio is the small set that package bench is tested with.
func trio(t *testing.T) string {
	t.Helper()
	dir, err := filepath.Abs("../../bench/testdata/trio")
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

func TestBenchRetrievalPrintsAnAlignedTable(t *testing.T) {
	t.Parallel()
	s := newSandbox(t, nil)
	got := s.raw("bench", "retrieval", trio(t), "--by", "lang,ws", "--granularity", "chunk")
	got.wants(t, exitOK)
	lines := strings.Split(strings.TrimRight(got.stdout, "\n"), "\n")
	var names []string
	for _, line := range lines[2:9] {
		name, _, _ := strings.Cut(strings.TrimSpace(line), "  ")
		names = append(names, name)
		if strings.Index(lines[1], "p95 ms")+len("p95 ms") != len(line) {
			t.Errorf("not aligned with its head:\n%s\n%s", lines[1], line)
		}
	}
	if want := "trio|all but adversarial|lang en|lang ja|lang zh|ws home|ws work"; strings.Join(names, "|") != want {
		t.Errorf("rows %q", names)
	}
	for _, want := range []string{"provider none, chunks\n", "nDCG@10"} {
		if !strings.Contains(got.stdout, want) {
			t.Errorf("%q is missing:\n%s", want, got.stdout)
		}
	}
	if strings.Contains(got.stdout, "\x1b") || strings.Contains(got.stdout, "macro mean") {
		t.Errorf("colours, or a mean of one set:\n%s", got.stdout)
	}
}

func TestBenchRetrievalComparesProvidersInJSON(t *testing.T) {
	t.Parallel()
	s := newSandbox(t, nil)
	var report struct {
		Runs []struct {
			Provider, Granularity string
			Sets                  []struct {
				Set    string
				Groups []struct {
					Group   string
					Figures map[string]float64
				}
			}
			Macro map[string]float64
		}
	}
	got := s.raw("bench", "retrieval", trio(t), "--compare", "none,hash", "--granularity", "passage", "--json")
	got.wants(t, exitOK)
	testkit.Must(t, json.Unmarshal([]byte(got.stdout), &report))
	if len(report.Runs) != 2 || report.Runs[0].Provider != "none" || report.Runs[1].Provider != "hash" {
		t.Fatalf("got %s", got.stdout)
	}
	for _, run := range report.Runs {
		fair := run.Sets[0].Groups[1]
		if run.Granularity != "passage" || run.Sets[0].Set != "trio" || fair.Group != "all but adversarial" {
			t.Errorf("%+v", run)
		}
		for _, name := range []string{"R@1", "R@5", "R@10", "MRR@10", "nDCG@10", "R@2k", "V@5", "V@4k", "empty", "p50_ms", "p95_ms", "n"} {
			if v, ok := fair.Figures[name]; !ok || v != run.Macro[name] {
				t.Errorf("%s: %v, macro %v", name, v, run.Macro[name])
			}
		}
		if fair.Figures["R@5"] < 0.5 || fair.Figures["n"] != 10 {
			t.Errorf("%v", fair.Figures)
		}
	}
}

func TestBenchRetrievalPrintsBothGranularitiesWithDifferencesToTheFirstProvider(t *testing.T) {
	t.Parallel()
	s := newSandbox(t, nil)
	other := filepath.Join(s.home, "other")
	testkit.Must(t, os.CopyFS(other, os.DirFS(trio(t))))
	got := s.raw("bench", "retrieval", trio(t), other, "--granularity", "chunk,passage", "--compare", "none,hash")
	got.wants(t, exitOK)
	var heads []string
	for line := range strings.Lines(got.stdout) {
		if strings.HasPrefix(line, "provider") {
			heads = append(heads, strings.TrimSpace(line))
		}
	}
	if want := "provider none, chunks|provider none, passages|provider hash hash-256, chunks|provider hash hash-256, passages"; strings.Join(heads, "|") != want {
		t.Errorf("tables %q", heads)
	}
	if n := strings.Count(got.stdout, "\nmacro mean "); n != 4 {
		t.Errorf("%d rows of means, want 4:\n%s", n, got.stdout)
	}
	if n := strings.Count(got.stdout, "\n  less none "); n != 2 {
		t.Errorf("%d rows of differences, want 2:\n%s", n, got.stdout)
	}
}

func TestBenchRetrievalRefusesWhatCannotBeMeasured(t *testing.T) {
	t.Parallel()
	s := newSandbox(t, map[string]string{
		"queries.jsonl": "{}\n", "two/a/queries.jsonl": "", "two/b/queries.jsonl": "",
	})
	s.raw("bench", "retrieval", s.workspace).wants(t, exitError, "queries.jsonl:1: a question needs")
	s.raw("bench", "retrieval", s.home).wants(t, exitError, "is no set and holds none")
	for _, tc := range []struct {
		flags []string
		want  string
	}{
		{[]string{"--by", "colour"}, "one of category, lang, ws"},
		{[]string{"--granularity", "page"}, "must be chunk or passage"},
		{[]string{"--granularity", "chunk,chunk"}, "names chunk twice"},
	} {
		s.raw(append([]string{"bench", "retrieval", trio(t)}, tc.flags...)...).wants(t, exitUsage, tc.want)
	}
	s.raw("bench", "retrieval", trio(t), "--compare", "nonesuch").wants(t, exitError, "provider nonesuch")
}

func TestBenchGoldenPassesTheExamples(t *testing.T) {
	t.Parallel()
	s := newSandbox(t, nil)
	examples, err := filepath.Abs("../../examples")
	if err != nil {
		t.Fatal(err)
	}
	got := s.raw("bench", "golden", filepath.Join(examples, "golden.yaml"), "--workspace", filepath.Join(examples, "workspace"), "--state", s.state)
	got.wants(t, exitOK)
	if strings.Count(got.stdout, "\nok ") != 11 || !strings.Contains(got.stdout, "12 of 12 found, recall 1.000") || !strings.Contains(got.stdout, "; ja 3 of 3") {
		t.Errorf("got %s", got.stdout)
	}
}

func TestBenchGoldenFailsBelowMinRecall(t *testing.T) {
	t.Parallel()
	s := newSandbox(t, notes())
	s.write("questions.yaml", "- question: Why did the boiler pressure fall?\n  path: memory/2026-01-10.md\n  lines: 3-5\n"+
		"- question: When do deploys happen?\n  path: memory/2026-01-12.md\n")
	file := filepath.Join(s.workspace, "questions.yaml")
	got := s.run("bench", "golden", file)
	got.wants(t, exitError, "recall 0.500 is below --min-recall 1.000")
	for _, want := range []string{"ok    rank 1   Why did", "FAIL           When do", "expected memory/2026-01-12.md; the first result is MEMORY.md#L", "1 of 2 found, recall 0.500"} {
		if !strings.Contains(got.stdout, want) {
			t.Errorf("%q is missing: %s", want, got.stdout)
		}
	}
	s.run("bench", "golden", file, "--min-recall", "0.5").wants(t, exitOK)
	var report bench.GoldenReport
	got = s.run("bench", "golden", file, "--json")
	if err := json.Unmarshal([]byte(got.stdout), &report); err != nil || got.code != exitError {
		t.Fatalf("exit %d, %v: %s", got.code, err, got.stdout)
	}
	if report.Passed != 1 || report.Total != 2 || report.Questions[0].Rank != 1 || report.Questions[0].Expected != "memory/2026-01-10.md#L3-L5" || report.Questions[1].Passed {
		t.Errorf("%+v", report)
	}
	s.run("bench", "golden", file, "--min-recall", "1.5").wants(t, exitUsage, "at least 0 and at most 1")
	s.write("questions.yaml", "- question: q\n  paht: a.md\n")
	s.run("bench", "golden", file).wants(t, exitError, "questions.yaml:2: \"paht\" means nothing here")
}

func TestBenchGoldenReportsOffTopicQuestionsApart(t *testing.T) {
	t.Parallel()
	s := newSandbox(t, notes())
	s.write("questions.yaml", "- question: Why did the boiler pressure fall?\n  path: memory/2026-01-10.md\n  category: heating\n"+
		"- question: When do deploys happen?\n  path: MEMORY.md\n  category: work\n"+
		"- question: zxqv?\n  none: true\n- question: Is there a boiler?\n  none: true\n")
	got := s.run("bench", "golden", filepath.Join(s.workspace, "questions.yaml"))
	got.wants(t, exitOK)
	for _, want := range []string{
		"ok    silent   zxqv?\n", "answered       Is there a boiler?\n               expected no confident result; the first result is memory/2026-01-10.md#L",
		"heating       1 of 1 found, 1 first, MRR 1.000\n", "off topic     1 of 2 silent\n", "2 of 2 found, recall 1.000",
	} {
		if !strings.Contains(got.stdout, want) {
			t.Errorf("%q is missing: %s", want, got.stdout)
		}
	}
}

// bench retrieval --compare shows words, model, and both in one table.
func TestBenchRetrievalComparesWordsModelAndBoth(t *testing.T) {
	s := newSandbox(t, nil)
	got := s.raw("bench", "retrieval", trio(t), "--provider", "hash", "--compare")
	got.wants(t, exitOK)
	for _, name := range []string{"words", "model", "both", "less words"} {
		if !strings.Contains(got.stdout, name) {
			t.Errorf("no row %q in\n%s", name, got.stdout)
		}
	}
}

// Only bench retrieval reads --compare without names; the same word of another command stays what it is.
func TestWithComparedChangesOnlyBenchRetrieval(t *testing.T) {
	t.Parallel()
	named := "--compare=words,model,both"
	for _, tc := range []struct{ args, want []string }{
		{[]string{"bench", "retrieval", "set", "--compare"}, []string{"bench", "retrieval", "set", named}},
		{[]string{"bench", "retrieval", "--compare", "--json"}, []string{"bench", "retrieval", named, "--json"}},
		{[]string{"bench", "retrieval", "--compare", "none,hash"}, []string{"bench", "retrieval", "--compare", "none,hash"}},
		{[]string{"bench", "retrieval", "--", "--compare"}, []string{"bench", "retrieval", "--", "--compare"}},
		{[]string{"append", "--", "--compare"}, []string{"append", "--", "--compare"}},
	} {
		if got := withCompared(tc.args); !slices.Equal(got, tc.want) {
			t.Errorf("%q became %q", tc.args, got)
		}
	}
}
