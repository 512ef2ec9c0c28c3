package main

import (
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"strings"
)

// wheelTags are the tags of the wheel for an architecture. The binary is static, so that any Linux runs it.
var wheelTags = map[string][]string{
	"amd64": {"manylinux2014_x86_64", "manylinux_2_17_x86_64", "musllinux_1_1_x86_64"},
	"arm64": {"manylinux2014_aarch64", "manylinux_2_17_aarch64", "musllinux_1_1_aarch64"},
}

// wheels makes a wheel for each binary: https://packaging.python.org/en/latest/specifications/binary-distribution-format/. It has no
// code in Python: installers put the binary among the scripts of the environment. If the wheel has another name than kioku, there is a
// script of that name too, because uvx NAME starts it.
func wheels(r release) error {
	license, err := r.text("LICENSE")
	if err != nil {
		return err
	}
	readme, err := r.text("README.md")
	if err != nil {
		return err
	}
	version := pep440(r.version)
	stem := strings.ReplaceAll(r.pypi, "-", "_") + "-" + version
	metadata := fmt.Sprintf("Metadata-Version: 2.1\nName: %s\nVersion: %s\nSummary: %s\nLicense: MIT\nRequires-Python: >=3.8\n"+
		"Description-Content-Type: text/markdown\n\n%s", r.pypi, version, description, readme)
	for _, p := range r.programs {
		about := "Wheel-Version: 1.0\nGenerator: kioku\nRoot-Is-Purelib: false\n"
		for _, tag := range wheelTags[p.arch] {
			about += "Tag: py3-none-" + tag + "\n"
		}
		files := []file{{stem + ".data/scripts/kioku", 0o755, p.data}}
		if r.pypi != "kioku" {
			files = append(files, file{stem + ".data/scripts/" + r.pypi, 0o755, []byte("#!/bin/sh\nexec \"$(dirname \"$0\")/kioku\" \"$@\"\n")})
		}
		files = append(files, file{stem + ".dist-info/LICENSE", 0o644, license}, file{stem + ".dist-info/METADATA", 0o644, []byte(metadata)},
			file{stem + ".dist-info/WHEEL", 0o644, []byte(about)})
		files = append(files, record(stem+".dist-info/RECORD", files))
		if err := r.writeZip(fmt.Sprintf("%s-py3-none-%s.whl", stem, strings.Join(wheelTags[p.arch], ".")), files); err != nil {
			return err
		}
	}
	return nil
}

// record returns the file that lists the others with their checksums.
func record(name string, files []file) file {
	var lines strings.Builder
	for _, f := range files {
		sum := sha256.Sum256(f.data)
		fmt.Fprintf(&lines, "%s,sha256=%s,%d\n", f.name, base64.RawURLEncoding.EncodeToString(sum[:]), len(f.data))
	}
	fmt.Fprintf(&lines, "%s,,\n", name)
	return file{name, 0o644, []byte(lines.String())}
}

// pep440 returns a version in the form of PyPI, which takes tags only.
func pep440(version string) string {
	tag, commit := splitVersion(version)
	if commit == "" {
		return tag
	}
	return tag + "+" + strings.ReplaceAll(commit, "-", ".")
}
