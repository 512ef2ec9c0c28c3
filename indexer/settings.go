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

// RecordedInclude returns the globs of "include" in the settings file of a workspace; nil if there are none, or if the file
// cannot be read. An indexer without Options.Include uses them, so that the notes of a whole folder stay in the index when the
// first note is appended to it.
func RecordedInclude(workspace string) []string {
	data, err := readSettings(workspace)
	if err != nil {
		return nil
	}
	include, err := ParseInclude(data)
	if err != nil {
		return nil
	}
	return include
}

// recordedExclude returns the globs of "exclude" in the settings file of a workspace; nil if there are none.
func recordedExclude(workspace string) ([]string, error) {
	data, err := readSettings(workspace)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var settings struct {
		Exclude yaml.Node `yaml:"exclude"`
	}
	if err := yaml.Unmarshal(data, &settings); err != nil {
		return nil, err
	}
	globs, err := globsOf(&settings.Exclude)
	return globs, cmp.Or(err, CheckGlobs(nil, globs))
}

// readSettings reads the settings file of a workspace.
func readSettings(workspace string) ([]byte, error) {
	root, err := os.OpenRoot(workspace)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	data, _, err := files.Read(root, SettingsFile, settingsLimit)
	return data, err
}

// ParseInclude returns the globs of "include" in the text of a settings file, a list or one string; nil if there are none.
func ParseInclude(data []byte) ([]string, error) {
	var settings struct {
		Include yaml.Node `yaml:"include"`
	}
	if err := yaml.Unmarshal(data, &settings); err != nil {
		return nil, err
	}
	globs, err := globsOf(&settings.Include)
	return globs, cmp.Or(err, CheckGlobs(globs, nil))
}

// globsOf returns the globs of a list or one string; nil if there are none.
func globsOf(value *yaml.Node) (globs []string, err error) {
	var glob string
	switch {
	case value.IsZero():
	case value.Kind != yaml.ScalarNode:
		err = value.Decode(&globs)
	default:
		if err = value.Decode(&glob); glob != "" {
			globs = []string{glob}
		}
	}
	return globs, err
}
