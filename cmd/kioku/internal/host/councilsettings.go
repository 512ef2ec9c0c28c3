package host

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"go.yaml.in/yaml/v3"

	"kioku/cmd/kioku/config"
	"kioku/council"
)

// CouncilFile is the name of the settings of a council in its folder.
const CouncilFile = "council.yaml"

// maxSettings is the maximum size of CouncilFile in bytes.
const maxSettings = 1 << 20

// ErrNoCouncil reports that there is no council where one was looked for.
var ErrNoCouncil = errors.New("no council: neither the current folder nor one above has a council.yaml; create one with kioku council init --template soul, " +
	"or name its folder with --folder or the setting council.folder")

// FindCouncil returns the folder of a council: the one that is named, which must have a council.yaml, else the first one that has among dir, its
// folder council, and the folders above.
func FindCouncil(named, dir string) (string, error) {
	if named != "" {
		if !filepath.IsAbs(named) {
			named = filepath.Join(dir, named)
		}
		if !isCouncil(named) {
			return "", fmt.Errorf("%s has no %s; create a council there with kioku council init --template soul", named, CouncilFile)
		}
		return named, nil
	}
	for at := dir; ; at = filepath.Dir(at) {
		for _, folder := range []string{at, filepath.Join(at, "council")} {
			if isCouncil(folder) {
				return folder, nil
			}
		}
		if filepath.Dir(at) == at {
			return "", ErrNoCouncil
		}
	}
}

// isCouncil reports whether a folder has the settings of a council.
func isCouncil(folder string) bool {
	info, err := os.Stat(filepath.Join(folder, CouncilFile))
	return err == nil && info.Mode().IsRegular()
}

// LoadCouncil reads and checks the settings of a council. Workspaces of members, and the folders that they read, are absolute in what it returns.
func LoadCouncil(folder string) (council.Settings, error) {
	path := filepath.Join(folder, CouncilFile)
	data, err := readLimited(path)
	if errors.Is(err, fs.ErrNotExist) {
		return council.Settings{}, ErrNoCouncil
	}
	if err != nil {
		return council.Settings{}, fmt.Errorf("the settings of the council: %w", err)
	}
	var s council.Settings
	dec := yaml.NewDecoder(bytes.NewReader(data))
	dec.KnownFields(true)
	if err := dec.Decode(&s); err != nil && !errors.Is(err, io.EOF) {
		return s, &config.Error{Where: path, Problem: err.Error()}
	}
	if err := s.Validate(); err != nil {
		return s, &config.Error{Where: path, Problem: err.Error()}
	}
	for i, m := range s.Members {
		if m.Workspace == "" {
			m.Workspace = filepath.Join("members", m.Name)
		}
		if !filepath.IsAbs(m.Workspace) {
			m.Workspace = filepath.Join(folder, m.Workspace)
		}
		s.Members[i].Workspace = m.Workspace
		if m.Reads != "" && !filepath.IsAbs(m.Reads) {
			s.Members[i].Reads = filepath.Join(folder, m.Reads)
		}
	}
	return s.WithDefaults(), nil
}

// readLimited reads a file of at most maxSettings bytes.
func readLimited(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxSettings+1))
	if err == nil && len(data) > maxSettings {
		err = fmt.Errorf("%s has more than %d bytes", path, maxSettings)
	}
	return data, err
}

// CouncilPlaces returns the folders of the agents of a council: that of its own agent first, then those of the members. An agent that the settings
// of Kioku give a workspace has that one.
func CouncilPlaces(conf *config.Config, folder string, s council.Settings) []config.Place {
	all := []config.Place{{Agent: s.Agent, Workspace: filepath.Join(folder, "agent")}}
	for _, m := range s.Members {
		all = append(all, config.Place{Agent: m.Name, Workspace: m.Workspace})
	}
	for i, p := range all {
		if own := conf.Agents[p.Agent].Workspace; own != "" {
			all[i].Workspace = own
		}
	}
	return all
}
