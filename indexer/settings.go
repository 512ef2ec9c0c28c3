package indexer

import (
	"os"

	"go.yaml.in/yaml/v3"

	"kioku/internal/safefile"
)

// SettingsFile is the name of the file in a workspace that says how it is indexed.
const SettingsFile = ".kioku.yaml"

// settingsLimit is the maximum size of a settings file in bytes.
const settingsLimit = 64 << 10

// RecordedInclude returns the globs of "include" in the settings file of a workspace; nil if there are none, or if the file
// cannot be read. An indexer without Options.Include uses them, so that the notes of a whole folder stay in the index when the
// first note is appended to it.
func RecordedInclude(workspace string) []string {
	root, err := os.OpenRoot(workspace)
	if err != nil {
		return nil
	}
	defer root.Close()
	data, _, err := safefile.Read(root, SettingsFile, settingsLimit)
	if err != nil {
		return nil
	}
	include, err := ParseInclude(data)
	if err != nil {
		return nil
	}
	return include
}

// ParseInclude returns the globs of "include" in the text of a settings file, a list or one string; nil if there are none.
func ParseInclude(data []byte) ([]string, error) {
	var settings struct {
		Include yaml.Node `yaml:"include"`
	}
	if err := yaml.Unmarshal(data, &settings); err != nil || settings.Include.IsZero() {
		return nil, err
	}
	var globs []string
	if settings.Include.Kind == yaml.ScalarNode {
		var glob string
		err := settings.Include.Decode(&glob)
		globs = []string{glob}
		if err != nil || glob == "" {
			return nil, err
		}
	} else if err := settings.Include.Decode(&globs); err != nil {
		return nil, err
	}
	return globs, CheckGlobs(globs, nil)
}
