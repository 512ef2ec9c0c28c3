package main

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"regexp"
)

//go:embed kioku.js
var launcher []byte

// nodeArch is Node's name of an architecture, by Go's.
var nodeArch = map[string]string{"amd64": "x64", "arm64": "arm64"}

// manifest is a package.json.
type manifest struct {
	Name                 string            `json:"name"`
	Version              string            `json:"version"`
	Description          string            `json:"description"`
	License              string            `json:"license"`
	Bin                  map[string]string `json:"bin,omitempty"`
	Engines              map[string]string `json:"engines,omitempty"`
	OS                   []string          `json:"os,omitempty"`
	CPU                  []string          `json:"cpu,omitempty"`
	OptionalDependencies map[string]string `json:"optionalDependencies,omitempty"`
}

// npm makes a package for each platform, with the binary, and the package kioku, which depends on them and starts the one that npm has
// installed. No script runs at installation.
func npm(r release) error {
	version := semver(r.version)
	license, err := r.text("LICENSE")
	if err != nil {
		return err
	}
	readme, err := r.text("README.md")
	if err != nil {
		return err
	}
	platforms := map[string]string{}
	for _, p := range r.programs {
		arch := nodeArch[p.arch]
		name := "@kioku/linux-" + arch
		platforms[name] = version
		err := r.writeNpm(manifest{
			Name: name, Version: version, Description: "kioku for Linux on " + arch, License: "MIT", OS: []string{"linux"}, CPU: []string{arch},
		}, fmt.Sprintf("kioku-linux-%s-%s.tgz", arch, version), file{"LICENSE", 0o644, license}, file{"bin/kioku", 0o755, p.data})
		if err != nil {
			return err
		}
	}
	return r.writeNpm(manifest{
		Name: "kioku", Version: version, Description: description, License: "MIT", Bin: map[string]string{"kioku": "bin/kioku.js"},
		Engines: map[string]string{"node": ">=18"}, OptionalDependencies: platforms,
	}, fmt.Sprintf("kioku-%s.tgz", version), file{"LICENSE", 0o644, license}, file{"README.md", 0o644, readme}, file{"bin/kioku.js", 0o755, launcher})
}

// writeNpm writes a package as npm pack would name it.
func (r release) writeNpm(m manifest, name string, files ...file) error {
	text, err := json.MarshalIndent(m, "", "  ")
	if err != nil {
		return err
	}
	packed := []file{{"package/package.json", 0o644, append(text, '\n')}}
	for _, f := range files {
		packed = append(packed, file{"package/" + f.name, f.mode, f.data})
	}
	return r.writeTar(name, packed)
}

// described matches what git describe tells of a commit at or after a tag.
var described = regexp.MustCompile(`^v?(\d+\.\d+\.\d+)(?:-(.+))?$`)

// splitVersion returns the version of the last tag, 0.0.0 if there is none, and the commit since, "" at the tag itself.
func splitVersion(version string) (tag, commit string) {
	if m := described.FindStringSubmatch(version); m != nil {
		return m[1], m[2]
	}
	return "0.0.0", "g" + version
}

// semver returns a version in the form of npm.
func semver(version string) string {
	tag, commit := splitVersion(version)
	if commit == "" {
		return tag
	}
	return tag + "-" + commit
}
