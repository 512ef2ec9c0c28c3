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

var updateHazards = flag.Bool("update-hazards", false, "write the tests into docs/hazards.md")

var (
	hazardComment = regexp.MustCompile(`^// .*Hazards? [A-H]\d\d`)
	hazardCode    = regexp.MustCompile(`[A-H]\d\d`)
	testFunc      = regexp.MustCompile(`^func ((?:Test|Fuzz)\w+)\(`)
)

// hazardTests returns, by code, the tests whose comments cite a hazard, as package.Test.
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
				for _, code := range codes {
					cited[code] = append(cited[code], filepath.ToSlash(filepath.Dir(path))+": "+m[1])
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

// docs/hazards.md has a line for each code that a test cites, with its tests.
func TestHazardsAreListedWithTheirTests(t *testing.T) {
	const name = "docs/hazards.md"
	old, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	sentences := map[string]string{}
	var head strings.Builder
	for line := range strings.Lines(string(old)) {
		if cells := strings.Split(line, " | "); len(cells) == 3 && strings.HasPrefix(line, "| ") && hazardCode.MatchString(cells[0]) {
			sentences[strings.TrimPrefix(cells[0], "| ")] = cells[1]
		} else if len(sentences) == 0 {
			head.WriteString(line)
		}
	}
	cited := hazardTests(t)
	var want strings.Builder
	want.WriteString(head.String())
	for _, code := range slices.Sorted(maps.Keys(cited)) {
		if sentences[code] == "" {
			t.Errorf("%s is cited by %v and has no line in %s", code, cited[code], name)
		}
		slices.Sort(cited[code])
		fmt.Fprintf(&want, "| %s | %s | %s |\n", code, sentences[code], strings.Join(slices.Compact(cited[code]), ", "))
	}
	if *updateHazards {
		if err := os.WriteFile(name, []byte(want.String()), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if diff := cmp.Diff(want.String(), string(old)); diff != "" {
		t.Errorf("%s is stale; go test -run Hazards -update-hazards . writes it:\n%s", name, diff)
	}
}
