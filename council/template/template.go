package template

import (
	"bytes"
	"cmp"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"slices"
	"strings"
	"text/template"

	"go.yaml.in/yaml/v3"

	"kioku/council"
	"kioku/internal/files"
	"kioku/memory"
)

//go:embed soul
var souls embed.FS

// shared is the file that each member gets.
const shared = "AGENTS.md"

// params of the members by template and name.
var params = map[string]map[string]council.Params{
	"soul": {
		"panda":       {"risk_tolerance": 0.2, "innovation_weight": 0.3, "safety_weight": 0.9, "thoroughness": 0.9, "consensus_flexibility": 0.4},
		"gorilla":     {"risk_tolerance": 0.8, "innovation_weight": 0.9, "safety_weight": 0.3, "thoroughness": 0.4, "consensus_flexibility": 0.5},
		"triceratops": {"risk_tolerance": 0.5, "innovation_weight": 0.5, "safety_weight": 0.5, "thoroughness": 0.6, "consensus_flexibility": 0.8},
	},
}

// folders that a council begins with.
var folders = []string{"inbox", "discussions", "decisions", "evaluations", "commands", "suggestions", "agent/memory/decisions"}

// Options of a template. All fields may be zero.
type Options struct {
	// Model of all members; empty means "echo", which needs no key and no network.
	Model string
	// Agent is the id of the agent whose memory contains the decisions; empty means "council".
	Agent string
}

// Names returns the names of the templates.
func Names() []string { return slices.Sorted(maps.Keys(params)) }

// Files returns the files of a template by their paths below the folder of the council. The error is an *InputError for a template
// that does not exist.
func Files(name string, o Options) (map[string][]byte, error) {
	members, known := params[name]
	if !known {
		return nil, &memory.InputError{Field: "template", Problem: fmt.Sprintf("%.40q does not exist; there is %s", name, strings.Join(Names(), ", "))}
	}
	all := map[string][]byte{}
	err := fs.WalkDir(souls, name, func(file string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		all[strings.TrimPrefix(file, name+"/")], err = souls.ReadFile(file)
		return err
	})
	if err != nil {
		return nil, err
	}
	for member, values := range members {
		raw, err := json.MarshalIndent(values, "", "  ")
		if err != nil {
			return nil, err
		}
		all[path.Join("nodes", member, "params.json")] = append(raw, '\n')
		all[path.Join("members", member, shared)] = all[shared]
		all[path.Join("members", member, "MEMORY.md")] = []byte("# Memory\n")
	}
	delete(all, shared)
	all["council.yaml"], err = settings(string(all["council.yaml"]), o)
	return all, err
}

// settings returns council.yaml with the options.
func settings(text string, o Options) ([]byte, error) {
	o.Model, o.Agent = scalar(cmp.Or(o.Model, "echo")), scalar(cmp.Or(o.Agent, "council"))
	t, err := template.New("council.yaml").Parse(text)
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	err = t.Execute(&b, o)
	return b.Bytes(), err
}

// scalar returns s as a value on one line of YAML.
func scalar(s string) string {
	raw, err := yaml.Marshal(s)
	if err != nil || strings.Count(string(raw), "\n") != 1 {
		quoted, _ := json.Marshal(s) // strings always have a JSON form, which YAML takes
		return string(quoted)
	}
	return strings.TrimSpace(string(raw))
}

// Write writes a template into the folder of a council, which it creates, and returns the paths of the files, sorted. If one of them
// exists, it writes nothing and returns an *InputError.
func Write(folder, name string, o Options) ([]string, error) {
	all, err := Files(name, o)
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return nil, fmt.Errorf("create the folder of the council: %w", err)
	}
	root, err := os.OpenRoot(folder)
	if err != nil {
		return nil, fmt.Errorf("open the folder of the council: %w", err)
	}
	defer root.Close()
	paths := slices.Sorted(maps.Keys(all))
	for _, p := range paths {
		if _, err := root.Lstat(p); !errors.Is(err, fs.ErrNotExist) {
			return nil, &memory.InputError{Field: "folder", Problem: fmt.Sprintf("%s has a file %s; a new council begins in an empty folder", folder, p)}
		}
	}
	for _, p := range append(slices.Clone(folders), folderOf(paths)...) {
		if err := root.MkdirAll(p, 0o700); err != nil {
			return nil, fmt.Errorf("create %s: %w", p, err)
		}
	}
	for _, p := range paths {
		if err := files.Create(root, p, all[p], 0o600); err != nil {
			return nil, fmt.Errorf("write %s: %w", p, err)
		}
	}
	return paths, nil
}

// folderOf returns the folders of files.
func folderOf(paths []string) []string {
	var all []string
	for _, p := range paths {
		all = append(all, path.Dir(p))
	}
	return slices.Compact(all)
}
