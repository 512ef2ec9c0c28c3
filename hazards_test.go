package kioku_test

import (
	"flag"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var updateHazards = flag.Bool("update-hazards", false, "write the packages of the tests into docs/hazards.md")

var (
	hazardComment = regexp.MustCompile(`^// .*(Hazards? |\()[A-K]\d\d`)
	hazardCode    = regexp.MustCompile(`[A-K]\d\d`)
	hazardItem    = regexp.MustCompile(`^\* ([A-K]\d\d): (.*?) ?\[(.*)\]$`)
	testFunc      = regexp.MustCompile(`^func ((?:Test|Fuzz)\w+)\(`)
)

// fuzzHazard is the code that every fuzz test is for.
const fuzzHazard = "G07"

// hazardTests returns, by code, the packages of the tests whose comments cite a hazard, one for each test.
func hazardTests(t *testing.T) map[string][]string {
	t.Helper()
	cited := map[string][]string{}
	err := filepath.WalkDir(".", func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() || !strings.HasSuffix(path, "_test.go") {
			return err
		}
		src, err := os.ReadFile(path)
		var codes []string
		for line := range strings.Lines(string(src)) {
			if hazardComment.MatchString(line) {
				codes = append(codes, hazardCode.FindAllString(line, -1)...)
			}
			if m := testFunc.FindStringSubmatch(line); m != nil {
				if strings.HasPrefix(m[1], "Fuzz") {
					codes = append(codes, fuzzHazard)
				}
				for _, code := range codes {
					cited[code] = append(cited[code], filepath.ToSlash(filepath.Dir(path)))
				}
				codes = nil
			}
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return cited
}

// doesNotOccur begins the reason that a hazard has instead of tests.
const doesNotOccur = "does not occur:"

// hazardRow is a line of docs/hazards.md.
type hazardRow struct {
	// holds is the sentence that says what holds.
	holds string
	// reason is why a hazard does not occur; empty for others.
	reason string
}

// readHazards returns the rows of the list by code, and the text before them.
func readHazards(text string) (head string, rows map[string]hazardRow) {
	rows = map[string]hazardRow{}
	for line := range strings.Lines(text) {
		item := hazardItem.FindStringSubmatch(strings.TrimSpace(line))
		if item == nil {
			if len(rows) == 0 {
				head += line
			}
			continue
		}
		row := hazardRow{holds: item[2]}
		if strings.HasPrefix(item[3], doesNotOccur) {
			row.reason = item[3]
		}
		rows[item[1]] = row
	}
	return head, rows
}

// hazardTable returns the lines of the list with the packages whose tests cite each hazard, and what is wrong with them.
func hazardTable(rows map[string]hazardRow, cited map[string][]string) (table string, problems []string) {
	codes := map[string]bool{}
	for code := range cited {
		codes[code] = true
	}
	for code, row := range rows {
		if row.reason != "" {
			codes[code] = true
		}
	}
	for _, code := range slices.Sorted(maps.Keys(codes)) {
		row, last := rows[code], rows[code].reason
		switch {
		case row.holds == "":
			problems = append(problems, fmt.Sprintf("%s is cited by %v and has no line", code, cited[code]))
		case row.reason == doesNotOccur:
			problems = append(problems, code+" does not say why it does not occur")
		case row.reason != "" && cited[code] != nil:
			problems = append(problems, fmt.Sprintf("%s is said not to occur and is cited by %v", code, cited[code]))
		}
		if row.reason == "" {
			last = strings.Join(slices.Compact(slices.Sorted(slices.Values(cited[code]))), ", ")
		}
		table += fmt.Sprintf("* %s: %s [%s]\n", code, row.holds, last)
	}
	return table, problems
}

// docs/hazards.md has a line for each code that a test cites, with the packages of its tests.
func TestHazardsAreListedWithTheirTests(t *testing.T) {
	const name = "docs/hazards.md"
	old, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	head, rows := readHazards(string(old))
	table, problems := hazardTable(rows, hazardTests(t))
	for _, problem := range problems {
		t.Errorf("%s: %s", name, problem)
	}
	if *updateHazards {
		if err := os.WriteFile(name, []byte(head+table), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if diff := cmp.Diff(head+table, string(old)); diff != "" {
		t.Errorf("%s is stale; go test -run Hazards -update-hazards . writes it:\n%s", name, diff)
	}
}

func TestHazardTableHasTestsOrReasons(t *testing.T) {
	head, rows := readHazards("# Hazards\n\n" +
		"* X01: Tested. [old]\n* A01: Tested. [old]\n* A02: Never. [does not occur: no such file]\n" +
		"* A03: Both. [does not occur: no such file]\n* A04: Empty. [does not occur:]\n* A05: Cited no longer. [old]\n")
	if want := "* X01: Tested. [old]\n"; !strings.HasSuffix(head, want) {
		t.Errorf("the text before the list is %q", head)
	}
	table, problems := hazardTable(rows, map[string][]string{"A01": {"b", "a", "b"}, "A03": {"a"}, "A06": {"a"}})
	want := "* A01: Tested. [a, b]\n* A02: Never. [does not occur: no such file]\n" +
		"* A03: Both. [does not occur: no such file]\n* A04: Empty. [does not occur:]\n* A06:  [a]\n"
	if diff := cmp.Diff(want, table); diff != "" {
		t.Errorf("list (-want +got):\n%s", diff)
	}
	wantProblems := []string{
		"A03 is said not to occur and is cited by [a]", "A04 does not say why it does not occur", "A06 is cited by [a] and has no line",
	}
	if diff := cmp.Diff(wantProblems, problems); diff != "" {
		t.Errorf("problems (-want +got):\n%s", diff)
	}
}
