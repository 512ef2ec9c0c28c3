package indexer

import (
	"cmp"
	"errors"
	"io/fs"
	"os"

	"go.yaml.in/yaml/v3"

	"kioku/internal/files"
)

// SettingsFile is the name of the file in a workspace that says how it is indexed.
const SettingsFile = ".kioku.yaml"

// settingsLimit is the maximum size of a settings file in bytes.
const settingsLimit = 64 << 10

// recordedGlobs are the globs of "include" and "exclude" in the settings file of a workspace; nil if there are none.
type recordedGlobs struct{ include, exclude []string }

// readGlobs returns the globs in the settings file of a workspace. Of a list that cannot be read it returns those before: what a person has
// excluded must not come into the index by a slip in the file, and what is included must not leave it.
func readGlobs(workspace string, before recordedGlobs) recordedGlobs {
	root, err := os.OpenRoot(workspace)
	if err != nil {
		return before
	}
	defer root.Close()
	data, _, err := files.Read(root, SettingsFile, settingsLimit)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return before
	}
	if include, err := globsOf(data, "include"); err == nil {
		before.include = include
	}
	if exclude, err := globsOf(data, "exclude"); err == nil {
		before.exclude = exclude
	}
	return before
}

// RecordedInclude returns the globs of "include" in the settings file of a workspace; nil if there are none, or if the file
// cannot be read. An indexer without Options.Include uses them, so that the notes of a whole folder stay in the index when the
// first note is appended to it.
func RecordedInclude(workspace string) []string { return readGlobs(workspace, recordedGlobs{}).include }

// ParseInclude returns the globs of "include" in the text of a settings file, a list or one string; nil if there are none.
func ParseInclude(data []byte) ([]string, error) { return globsOf(data, "include") }

// globsOf returns the globs of a list or one string in the text of a settings file; nil if there are none.
func globsOf(data []byte, key string) (globs []string, err error) {
	var settings map[string]yaml.Node
	if err := yaml.Unmarshal(data, &settings); err != nil {
		return nil, err
	}
	value, glob := settings[key], ""
	switch {
	case value.IsZero():
	case value.Kind != yaml.ScalarNode:
		err = value.Decode(&globs)
	default:
		if err = value.Decode(&glob); glob != "" {
			globs = []string{glob}
		}
	}
	if key == "include" {
		return globs, cmp.Or(err, CheckGlobs(globs, nil))
	}
	return globs, cmp.Or(err, CheckGlobs(nil, globs))
}
