package kioku_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/licensecheck"
)

// licenceFile matches the names of files with the licence of a module.
var licenceFile = regexp.MustCompile(`(?i)^(licen[cs]e|copying|unlicense)(\.|-|$)`)

// modules returns the modules that the packages of Kioku and their tests are built from, with their folders.
func modules(t *testing.T) map[string]string {
	t.Helper()
	const format = "{{with .Module}}{{if not .Main}}{{.Path}} {{.Dir}}{{end}}{{end}}"
	out, err := exec.CommandContext(t.Context(), "go", "list", "-tags", "sqlite_fts5", "-deps", "-test", "-f", format, "./...").Output()
	if err != nil {
		t.Fatal(err)
	}
	dirs := map[string]string{}
	for line := range strings.Lines(string(out)) {
		if path, dir, ok := strings.Cut(strings.TrimSpace(line), " "); ok {
			dirs[path] = dir
		}
	}
	return dirs
}

// licenceOf returns the SPDX names of the licences in a module's folder, "no licence file" if there is none.
func licenceOf(t *testing.T, dir string) string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	found, files := []string{}, 0
	for _, e := range entries {
		if !licenceFile.MatchString(e.Name()) {
			continue
		}
		text, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			t.Fatal(err)
		}
		files++
		for _, m := range licensecheck.Scan(text).Match {
			found = append(found, m.ID)
		}
	}
	slices.Sort(found)
	switch found = slices.Compact(found); {
	case files == 0:
		return "no licence file"
	case len(found) == 0:
		return "unknown licence"
	}
	return strings.Join(found, ", ")
}

// listedModules returns the first two columns of docs/dependencies.md, module and licence.
func listedModules(t *testing.T) map[string]string {
	t.Helper()
	text, err := os.ReadFile("docs/dependencies.md")
	if err != nil {
		t.Fatal(err)
	}
	listed := map[string]string{}
	for line := range strings.Lines(string(text)) {
		cells := strings.Split(strings.Trim(line, "|\n "), " | ")
		if len(cells) != 3 || !strings.Contains(cells[0], ".") {
			continue
		}
		if listed[cells[0]] != "" || cells[2] == "" {
			t.Errorf("%s is listed twice, or without what it is for", cells[0])
		}
		listed[cells[0]] = cells[1]
	}
	return listed
}

// A module is not built in before a person has read its licence and written down what it is for. Hazard G08.
func TestDependenciesAreListedWithTheirLicences(t *testing.T) {
	t.Parallel()
	licences := map[string]string{}
	for path, dir := range modules(t) {
		licences[path] = licenceOf(t, dir)
	}
	if diff := cmp.Diff(listedModules(t), licences); diff != "" {
		t.Errorf("docs/dependencies.md (-listed +built in):\n%s", diff)
	}
}
