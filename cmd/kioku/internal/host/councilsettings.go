package host

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"kioku/cmd/kioku/config"
	"kioku/council"
	"kioku/internal/text"
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
		return s, &config.Error{Where: path, Problem: settingsProblem(data, err)}
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

var (
	// noSuchField and noDuration match errors of package yaml.
	noSuchField = regexp.MustCompile(`^line (\d+): field (.+) not found in type \w+\.(\w+)$`)
	noDuration  = regexp.MustCompile("^line (\\d+): cannot unmarshal !!\\w+ `(.*)` into time.Duration$")
)

// settingsProblem returns an error of council.yaml in words: which setting is meant, and what it may be.
func settingsProblem(data []byte, err error) string {
	wrong, ok := errors.AsType[*yaml.TypeError](err)
	if !ok {
		return err.Error()
	}
	var root yaml.Node
	_ = yaml.Unmarshal(data, &root) // which has been read before
	problems := slices.Clone(wrong.Errors)
	for i, problem := range problems {
		if m := noDuration.FindStringSubmatch(problem); m != nil {
			key := keyAt(&root, "", func(_, value *yaml.Node) bool { return strconv.Itoa(value.Line) == m[1] && value.Value == m[2] })
			problems[i] = fmt.Sprintf("line %s: %s: write a time with its unit, such as 5s or 10m", m[1], key)
		}
		if m := noSuchField.FindStringSubmatch(problem); m != nil {
			key := keyAt(&root, "", func(key, _ *yaml.Node) bool { return strconv.Itoa(key.Line) == m[1] && key.Value == m[2] })
			known := fieldsOfType(reflect.TypeFor[council.Settings](), m[3])
			slices.SortStableFunc(known, func(a, b string) int { return text.Distance(m[2], a) - text.Distance(m[2], b) })
			problems[i] = fmt.Sprintf("line %s: %s: no such setting; there are %s", m[1], key, strings.Join(known, ", "))
		}
	}
	return strings.Join(problems, "; ")
}

// keyAt returns the path of the first key of a tree that is meant, empty if there is none.
func keyAt(n *yaml.Node, path string, meant func(key, value *yaml.Node) bool) string {
	for i, child := range n.Content {
		at := path
		if n.Kind == yaml.MappingNode {
			if i%2 == 0 {
				continue
			}
			key := n.Content[i-1]
			if at = strings.TrimPrefix(path+"."+key.Value, "."); meant(key, child) {
				return at
			}
		}
		if found := keyAt(child, at, meant); found != "" {
			return found
		}
	}
	return ""
}

// fieldsOfType returns the keys of the struct with a name among a type and those in it.
func fieldsOfType(t reflect.Type, name string) (keys []string) {
	for t.Kind() == reflect.Map || t.Kind() == reflect.Slice || t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if t.Kind() != reflect.Struct {
		return nil
	}
	for f := range t.Fields() {
		if t.Name() == name {
			keys = append(keys, f.Tag.Get("yaml"))
		} else if keys == nil {
			keys = fieldsOfType(f.Type, name)
		}
	}
	return keys
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
