package kioku_test

import (
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// listedPackages returns the licences in the table below a heading of docs/dependencies.md, by package.
func listedPackages(t *testing.T, heading string) map[string]string {
	t.Helper()
	_, section, found := strings.Cut(readText(t, "docs/dependencies.md"), "\n## "+heading+"\n")
	if !found {
		t.Fatalf("docs/dependencies.md has no section %s", heading)
	}
	section, _, _ = strings.Cut(section, "\n## ")
	listed := map[string]string{}
	for line := range strings.Lines(section) {
		cells := strings.Split(strings.Trim(line, "|\n "), " | ")
		if len(cells) != 3 || cells[0] == "package" {
			continue
		}
		if listed[cells[0]] != "" || cells[1] == "" || cells[2] == "" {
			t.Errorf("%s is listed twice, or without its licence or what it is for", cells[0])
		}
		listed[cells[0]] = cells[1]
	}
	return listed
}

// readText returns the text of a file.
func readText(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// readJSON reads a file with JSON.
func readJSON(t *testing.T, path string, into any) {
	t.Helper()
	if err := json.Unmarshal([]byte(readText(t, path)), into); err != nil {
		t.Fatalf("%s: %v", path, err)
	}
}

// eachFile calls f with the files of the integrations that have a name.
func eachFile(t *testing.T, name string, f func(path string)) {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join("integrations", "*", name))
	if err != nil || len(paths) == 0 {
		t.Fatalf("no integration has a file %s: %v", name, err)
	}
	for _, path := range paths {
		f(path)
	}
}

// ciPackage matches a package with its version in the CI of an integration in JavaScript.
var ciPackage = regexp.MustCompile(`(?m)(?:^|[\s('"])(@?[a-z][a-z0-9/-]*)@\d`)

// npmPackages returns the packages of npm that integrations depend on, with licences where lock files say them.
func npmPackages(t *testing.T) map[string]string {
	t.Helper()
	found := map[string]string{}
	eachFile(t, "package.json", func(path string) {
		var manifest struct{ Dependencies, DevDependencies, PeerDependencies map[string]string }
		readJSON(t, path, &manifest)
		for _, list := range []map[string]string{manifest.Dependencies, manifest.DevDependencies, manifest.PeerDependencies} {
			for name := range list {
				found[name] = ""
			}
		}
		for _, match := range ciPackage.FindAllStringSubmatch(readText(t, filepath.Join(filepath.Dir(path), "ci")), -1) {
			found[match[1]] = ""
		}
	})
	eachFile(t, "package-lock.json", func(path string) {
		var lock struct {
			Packages map[string]struct{ License string }
		}
		readJSON(t, path, &lock)
		for folder, p := range lock.Packages {
			_, name, _ := strings.Cut(folder[max(0, strings.LastIndex(folder, "node_modules/")):], "node_modules/")
			if strings.HasPrefix(name, "@typescript/typescript-") {
				name = "@typescript/typescript-*" // one for each platform
			}
			if name != "" {
				found[name] = strings.ReplaceAll(strings.Trim(p.License, "()"), " AND ", ", ")
			}
		}
	})
	return found
}

// pythonPackage matches a package with its version in pyproject.toml, and pythonTool one in the CI of the Python client.
var (
	pythonPackage = regexp.MustCompile(`"([a-z-]+)>=`)
	pythonTool    = regexp.MustCompile(`([a-z][a-z-]*)==\d`)
)

// pythonPackages returns the packages of PyPI that the Python client depends on.
func pythonPackages(t *testing.T) map[string]string {
	t.Helper()
	found := map[string]string{}
	for _, match := range pythonPackage.FindAllStringSubmatch(readText(t, "integrations/python/pyproject.toml"), -1) {
		found[match[1]] = ""
	}
	for _, match := range pythonTool.FindAllStringSubmatch(readText(t, "integrations/python/ci"), -1) {
		found[match[1]] = ""
	}
	return found
}

// A package of npm or PyPI that an integration depends on is listed with its licence, which is that of its lock file. Hazard G08.
func TestDependenciesOfIntegrationsAreListed(t *testing.T) {
	t.Parallel()
	for heading, found := range map[string]map[string]string{"npm": npmPackages(t), "PyPI": pythonPackages(t)} {
		listed := listedPackages(t, heading)
		if diff := cmp.Diff(slices.Sorted(maps.Keys(listed)), slices.Sorted(maps.Keys(found))); diff != "" {
			t.Errorf("docs/dependencies.md, %s (-listed +depended on):\n%s", heading, diff)
		}
		for name, licence := range found {
			if licence != "" && licence != listed[name] {
				t.Errorf("%s is listed under %q; its licence is %q", name, listed[name], licence)
			}
		}
	}
}

// Each integration is packed with the licence of Kioku. Hazard G08.
func TestDependenciesAndPackagesHaveTheLicence(t *testing.T) {
	t.Parallel()
	want := readText(t, "LICENSE")
	eachFile(t, "ci", func(path string) {
		if got := readText(t, filepath.Join(filepath.Dir(path), "LICENSE")); got != want {
			t.Errorf("%s: LICENSE is not that of Kioku", filepath.Dir(path))
		}
	})
}
