package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// made makes the packages of two programs that are no programs, and returns their contents by name.
func made(t *testing.T, args ...string) map[string]string {
	t.Helper()
	root, out := t.TempDir(), t.TempDir()
	for name, text := range map[string]string{
		"README.md": "# Kioku\n", "CHANGELOG.md": "# Changelog\n", "LICENSE": "MIT\n", "docs/a.md": "A\n", "amd64": "program for amd64", "arm64": "program for arm64",
	} {
		path := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(out, "kioku-v1.2.3-source.tar.gz"), []byte("sources"), 0o644); err != nil {
		t.Fatal(err)
	}
	args = append(args, "-root", root, "-out", out, "-version", "v1.2.3", "amd64="+filepath.Join(root, "amd64"), "arm64="+filepath.Join(root, "arm64"))
	if err := run(args, "1700000000"); err != nil {
		t.Fatal(err)
	}
	contents := map[string]string{}
	paths, err := filepath.Glob(filepath.Join(out, "*"))
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range paths {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		contents[filepath.Base(path)] = string(data)
	}
	return contents
}

const wheelName = "kioku_cli-1.2.3-py3-none-manylinux2014_aarch64.manylinux_2_17_aarch64.musllinux_1_1_aarch64.whl"

func TestPackagesAreTheSameAgain(t *testing.T) {
	t.Parallel()
	first, again := made(t), made(t)
	for name := range first {
		if first[name] != again[name] {
			t.Errorf("%s differs", name)
		}
	}
	if len(first) != 9 || len(again) != 9 {
		t.Errorf("%d packages, then %d", len(first), len(again))
	}
}

func TestNpmHasAPackageForEachPlatform(t *testing.T) {
	t.Parallel()
	packages := made(t)
	main, platform := untar(t, packages["kioku-1.2.3.tgz"]), untar(t, packages["kioku-linux-arm64-1.2.3.tgz"])
	if got := main["package/package.json 644"]; !strings.Contains(got, `"@kioku/linux-arm64": "1.2.3"`) || strings.Contains(got, "scripts") {
		t.Errorf("package.json: %s", got)
	}
	if main["package/bin/kioku.js 755"] != string(launcher) {
		t.Error("bin/kioku.js is not there")
	}
	want := `{
  "name": "@kioku/linux-arm64",
  "version": "1.2.3",
  "description": "kioku for Linux on arm64",
  "license": "MIT",
  "os": [
    "linux"
  ],
  "cpu": [
    "arm64"
  ]
}
`
	if diff := cmp.Diff(map[string]string{"package/package.json 644": want, "package/LICENSE 644": "MIT\n", "package/bin/kioku 755": "program for arm64"}, platform); diff != "" {
		t.Error(diff)
	}
}

func TestWheelHasTheBinaryAmongItsScripts(t *testing.T) {
	t.Parallel()
	data := made(t)[wheelName]
	r, err := zip.NewReader(strings.NewReader(data), int64(len(data)))
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, f := range r.File {
		names = append(names, f.Name)
		if script := strings.Contains(f.Name, "/scripts/"); script != (f.Mode() == 0o755) {
			t.Errorf("%s: mode %v", f.Name, f.Mode())
		}
		if !f.Modified.Equal(time.Unix(1700000000, 0)) {
			t.Errorf("%s: %v", f.Name, f.Modified)
		}
	}
	want := []string{
		"kioku_cli-1.2.3.data/scripts/kioku", "kioku_cli-1.2.3.data/scripts/kioku-cli", "kioku_cli-1.2.3.dist-info/LICENSE",
		"kioku_cli-1.2.3.dist-info/METADATA", "kioku_cli-1.2.3.dist-info/WHEEL", "kioku_cli-1.2.3.dist-info/RECORD",
	}
	if diff := cmp.Diff(want, names); diff != "" {
		t.Error(diff)
	}
	listed, err := fs.ReadFile(r, "kioku_cli-1.2.3.dist-info/RECORD")
	if err != nil || strings.Count(string(listed), ",sha256=") != 5 || !strings.HasSuffix(string(listed), "RECORD,,\n") {
		t.Errorf("RECORD, %v: %s", err, listed)
	}
}

// Who owns the name kioku on PyPI needs no second script.
func TestWheelOfTheProgramsNameHasOneScript(t *testing.T) {
	t.Parallel()
	data := made(t, "-pypi", "kioku")[strings.Replace(wheelName, "_cli", "", 1)]
	r, err := zip.NewReader(strings.NewReader(data), int64(len(data)))
	if err != nil || len(r.File) != 5 {
		t.Fatalf("%v: %v", err, r)
	}
}

func TestFormulaHasTheChecksumOfTheSources(t *testing.T) {
	t.Parallel()
	got := made(t, "-github", "me/kioku")["kioku.rb"]
	for _, want := range []string{
		`url "https://github.com/me/kioku/releases/download/v1.2.3/kioku-v1.2.3-source.tar.gz"`, `version "1.2.3"`,
		`sha256 "878a52fc5ff6a57d50b7b870aa51637a3dfd38fc22352a39f95a3c292eb976d5"`,
	} {
		if !strings.Contains(got, want) {
			t.Errorf("no %s in %s", want, got)
		}
	}
}

func TestPackagesAreSmall(t *testing.T) {
	t.Parallel()
	r := release{out: t.TempDir()}
	if err := r.write("large.tgz", make([]byte, maxPacked+1)); err == nil {
		t.Error("a package of more than 25 MB was written")
	}
}

func TestVersions(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct{ described, npm, pypi string }{
		{"v1.2.3", "1.2.3", "1.2.3"},
		{"v1.2.3-4-gabc-dirty", "1.2.3-4-gabc-dirty", "1.2.3+4.gabc.dirty"},
		{"0123456", "0.0.0-g0123456", "0.0.0+g0123456"},
		{"dev", "0.0.0-gdev", "0.0.0+gdev"},
	} {
		if got := semver(tc.described); got != tc.npm {
			t.Errorf("semver(%q) is %s", tc.described, got)
		}
		if got := pep440(tc.described); got != tc.pypi {
			t.Errorf("pep440(%q) is %s", tc.described, got)
		}
	}
}

// untar returns the contents of an archive by name and mode.
func untar(t *testing.T, data string) map[string]string {
	t.Helper()
	z, err := gzip.NewReader(strings.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	contents := map[string]string{}
	for r := tar.NewReader(z); ; {
		header, err := r.Next()
		if err == io.EOF {
			return contents
		} else if err != nil {
			t.Fatal(err)
		}
		var text bytes.Buffer
		if _, err := io.Copy(&text, r); err != nil {
			t.Fatal(err)
		}
		contents[fmt.Sprintf("%s %o", header.Name, header.Mode)] = text.String()
	}
}
