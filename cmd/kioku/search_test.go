package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"kioku/internal/testkit"
)

func TestSearchJSONHoldsEveryFieldWhateverItsValue(t *testing.T) {
	t.Parallel()
	s := newSandbox(t, notes())
	resp := s.object("search", "-n", "6", "--json", "boiler pressure")
	for _, key := range []string{"results", "provider", "model", "mode", "degraded", "index", "took"} {
		if _, ok := resp[key]; !ok {
			t.Errorf("the answer lacks %s", key)
		}
	}
	hit := resp["results"].([]any)[0].(map[string]any)
	for _, key := range []string{
		"path", "startLine", "endLine", "score", "snippet", "snippetStartLine", "snippetEndLine", "source", "vectorScore",
		"textScore", "citation", "heading", "date",
	} {
		if _, ok := hit[key]; !ok {
			t.Errorf("a result lacks %s", key)
		}
	}
	if hit["path"] != "memory/2026-01-10.md" || hit["vectorScore"] != 0.0 || resp["mode"] != "keyword" {
		t.Errorf("path %v, vectorScore %v, mode %v", hit["path"], hit["vectorScore"], resp["mode"])
	}
	empty := s.object("search", "--json", "zxqv")
	if list, ok := empty["results"].([]any); !ok || len(list) != 0 {
		t.Errorf("without a result, results is %v", empty["results"])
	}
}

func TestSearchJSONIsIndentedAlike(t *testing.T) {
	t.Parallel()
	s := newSandbox(t, notes())
	out := s.must("search", "--json", "-n", "1", "boiler")
	if !strings.HasPrefix(out, "{\n  \"results\": [\n    {\n      \"path\": \"memory/2026-01-10.md\",\n") || !strings.HasSuffix(out, "\n}\n") {
		t.Errorf("got %s", out)
	}
}

func TestSearchFlagsReachTheService(t *testing.T) {
	t.Parallel()
	s := newSandbox(t, notes())
	s.write("memory/2026-01-20.md", "# 2026-01-20\nThe boiler was inspected.\n")
	for _, tc := range []struct {
		args []string
		want string
	}{
		{[]string{"-n", "1"}, "1 of"},
		{[]string{"-k", "1"}, "1 of"},
		{[]string{"--max-results", "1"}, "1 of"},
		{[]string{"--since", "2026-01-15"}, "only memory/2026-01-20.md"},
		{[]string{"--until", "2026-01-15"}, "only memory/2026-01-10.md"},
		{[]string{"--path-prefix", "memory/2026-01-2"}, "only memory/2026-01-20.md"},
		{[]string{"--source", "extra"}, "0 of"},
		{[]string{"--min-score", "1"}, "0 of"},
		{[]string{"--set", "query.maxResults=1"}, "1 of"},
		{nil, "2 of"},
	} {
		var resp struct{ Results []struct{ Path string } }
		out := s.must(append([]string{"search", "--json", "boiler"}, tc.args...)...)
		testkit.Must(t, json.Unmarshal([]byte(out), &resp))
		got := map[int]string{0: "0 of", 1: "1 of", 2: "2 of"}[len(resp.Results)]
		if strings.HasPrefix(tc.want, "only") && len(resp.Results) == 1 {
			got = "only " + resp.Results[0].Path
		}
		if got != tc.want {
			t.Errorf("%q: got %s, want %s", tc.args, got, tc.want)
		}
	}
}

func TestSearchNeedsNoIndexBefore(t *testing.T) {
	t.Parallel()
	s := newSandbox(t, notes())
	if out := s.must("search", "大阪のホテル"); !strings.Contains(out, "memory/2026-01-12.md#L1-L4") {
		t.Errorf("got %s", out)
	}
	s.write("memory/2026-01-12.md", "# 2026-01-12\nThe hotel moved to Kyoto.\n")
	if out := s.must("search", "hotel Kyoto"); !strings.Contains(out, "The hotel moved to Kyoto.") {
		t.Errorf("after an edit, got %s", out)
	}
}

func TestSearchNamesTheNearestMiss(t *testing.T) {
	t.Parallel()
	s := newSandbox(t, notes())
	s.run("search", "--min-score", "0.99", "which valve was loose on Friday").
		wants(t, exitOK, "no result: the nearest, memory/2026-01-10.md#L", "--min-score 0.")
	s.run("search", "zxqv").wants(t, exitOK, "no result: no note holds a word of the query (keywords)")
	s.run("search", "zxqv in May 2020", "--now", "2026-01-20").wants(t, exitOK, "and no note is dated 2020-05-01 to 2020-05-31")
	newSandbox(t, nil).run("search", "boiler").wants(t, exitOK, "no result: the index is empty")
}

func TestSearchReportsDegradedAnswers(t *testing.T) {
	t.Parallel()
	s := newSandbox(t, notes())
	s.must("index")
	dead := []string{"--read-only", "--provider", "openai", "--model", "m", "--base-url", "http://127.0.0.1:1"}
	search := append([]string{"search", "boiler pressure"}, dead...)
	got := s.run(search...)
	got.wants(t, exitOK, "kioku: degraded (", "1 result, keywords")
	if !strings.Contains(got.stdout, "memory/2026-01-10.md") {
		t.Errorf("keywords must answer still: %s", got.stdout)
	}
	if got := s.run(append(search, "--strict")...); got.code != exitDegraded || !strings.Contains(got.stdout, "memory/2026-01-10.md") {
		t.Errorf("with --strict: exit %d, %s", got.code, got.stdout)
	}
	if got := s.run("search", "--strict", "zxqv"); got.code != exitOK {
		t.Errorf("nothing found is no degradation: exit %d, %s", got.code, got.stderr)
	}
}

func TestExplain(t *testing.T) {
	t.Parallel()
	s := newSandbox(t, notes())
	link := filepath.Join(t.TempDir(), "link")
	testkit.Must(t, os.Symlink(s.workspace, link))
	for _, tc := range []struct{ place, outcome string }{
		{"memory/2026-01-10.md:4", "returned"}, {"memory/2026-01-10.md#L4-L5", "returned"}, {"memory/none.md:1", "not_indexed"},
		{"MEMORY.md:4", "not_a_candidate"}, {"./memory/2026-01-10.md:4", "returned"},
		{filepath.Join(s.workspace, "memory/2026-01-10.md") + ":4", "returned"}, {filepath.Join(link, "memory/2026-01-10.md") + "#L4", "returned"},
	} {
		if got := s.object("explain", "--json", "boiler pressure", tc.place); got["outcome"] != tc.outcome {
			t.Errorf("%s: %v, want %s", tc.place, got["outcome"], tc.outcome)
		}
	}
	for _, place := range []string{"./MEMORY.md:4:1", "memory/../MEMORY.md:4:1", filepath.Join(link, "MEMORY.md") + "#L4-L4"} {
		if out := s.must("get", place); out != "- The task runner is called tanuki.\n" {
			t.Errorf("%s: %q", place, out)
		}
	}
	for _, place := range []string{"/etc/hosts", "../x.md", filepath.Join(s.workspace, "none.md")} {
		s.run("get", place).wants(t, exitError, "no such memory file")
	}
	s.run("get", "memory/").wants(t, exitUsage, "names a folder")
	if out := s.must("explain", "boiler pressure", "memory/2026-01-10.md:4", "--since", "2026-01-11"); !strings.Contains(out, "it lacks a date from 2026-01-11 on") {
		t.Errorf("with a filter, got %s", out)
	}
	if out := s.must("explain", "boiler pressure"); !strings.Contains(out, "terms: boiler pressur") || !strings.Contains(out, "decay") {
		t.Errorf("without a place, got %s", out)
	}
	if out := s.must("explain", "boiler on 10 January 2026"); !strings.Contains(out, "date bonus 1.00") {
		t.Errorf("for a day, got %s", out)
	}
}

// Hazard F04: what a note holds must not reach the terminal as a command, and must reach programs as it is.
func TestSearchNotesCannotControlTheTerminal(t *testing.T) {
	t.Parallel()
	s := newSandbox(t, map[string]string{
		"memory/evil.md": "# \x1b[31mRed\x1b[0m heading\nThe walrus \x1b]0;owned\x07 said \x1b]8;;http://x.example\x1b\\link\x1b]8;;\x1b\\ \u202ekcab\u202c, and\x1b[2J more.\n",
	})
	for _, args := range [][]string{{"search", "walrus"}, {"get", "memory/evil.md"}, {"explain", "walrus", "memory/evil.md:2"}} {
		out := s.must(args...)
		if strings.ContainsAny(out, "\x1b\x07\u202e\u202c") || strings.Contains(out, "owned") || strings.Contains(out, "x.example") {
			t.Errorf("%q prints %q", args, out)
		}
		if !strings.Contains(out, "The walrus  said link kcab, and more.") {
			t.Errorf("%q lost text: %q", args, out)
		}
	}
	hit := s.object("search", "--json", "walrus")["results"].([]any)[0].(map[string]any)
	if !strings.Contains(hit["snippet"].(string), "\x1b]0;owned\x07") {
		t.Errorf("JSON must not be changed: %q", hit["snippet"])
	}
}
