package host

import (
	"bytes"
	"crypto/rand"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"kioku/cmd/kioku/config"
	"kioku/council"
	"kioku/internal/files"
)

// workersLine matches the list of workers on one line of council.yaml.
var workersLine = regexp.MustCompile(`(?m)^workers:[ \t]*(?:\[([^\]\n]*)\])?[ \t]*(#[^\n]*)?$`)

// firstItem matches the beginning of the first item of a list below its key.
var firstItem = regexp.MustCompile(`^(\n[ \t]*- )`)

// AddWorker adds a worker to council.yaml, whose other lines stay as they are. It reports false if the worker is there already.
func AddWorker(folder, name string) (added bool, err error) {
	set, err := LoadCouncil(folder)
	if err != nil {
		return false, err
	}
	if slices.Contains(set.Workers, name) {
		return false, nil
	}
	if _, err := set.Member(name); err == nil || name == set.Agent || !council.ValidName(name) {
		return false, council.Invalid("worker", "%.80q must be the id of an agent that is neither a member nor the council's own", name)
	}
	path := filepath.Join(folder, CouncilFile)
	old, err := readLimited(path)
	if err != nil {
		return false, err
	}
	edited := withWorker(string(old), append(slices.Clone(set.Workers), name))
	var check council.Settings
	if err := yaml.NewDecoder(strings.NewReader(edited)).Decode(&check); err != nil || !slices.Contains(check.Workers, name) {
		return false, &config.Error{Where: path, Problem: fmt.Sprintf("workers: add %s to the list by hand, it has a form that this command does not edit", name)}
	}
	root, err := os.OpenRoot(folder)
	if err != nil {
		return false, fmt.Errorf("open the folder of the council: %w", err)
	}
	defer root.Close()
	return true, files.Write(root, CouncilFile, []byte(edited), 0o600)
}

// withWorker returns the text of settings with a list of workers.
func withWorker(text string, workers []string) string {
	line := "workers: [" + strings.Join(workers, ", ") + "]"
	at := workersLine.FindStringSubmatchIndex(text)
	switch {
	case at == nil:
		return strings.TrimRight(text, "\n") + "\n" + line + "\n"
	case at[2] >= 0 || len(workers) == 1: // [a, b], or nothing
		return text[:at[0]] + line + commentAt(text, at) + text[at[1]:]
	}
	item := firstItem.FindStringSubmatch(text[at[1]:])
	if item == nil {
		return text
	}
	return text[:at[1]] + item[1] + workers[len(workers)-1] + text[at[1]:]
}

// commentAt returns the comment of a match of workersLine.
func commentAt(text string, at []int) string {
	if at[4] < 0 {
		return ""
	}
	return " " + text[at[4]:at[5]]
}

//go:embed worker
var personas embed.FS

// WritePersona writes a persona for a worker into workers/<worker> of the folder of a council, and returns the paths of its files below
// that. If one of them exists, it writes nothing, and the error is a *memory.InputError.
func WritePersona(folder, worker string) (paths []string, err error) {
	root, err := os.OpenRoot(folder)
	if err != nil {
		return nil, fmt.Errorf("open the folder of the council: %w", err)
	}
	defer root.Close()
	dir := "workers/" + worker
	if err := root.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("create %s: %w", dir, err)
	}
	entries, err := personas.ReadDir("worker")
	for _, e := range entries {
		path := dir + "/" + e.Name()
		if _, err := root.Lstat(path); !errors.Is(err, fs.ErrNotExist) {
			return nil, council.Invalid("template", "%s has a file %s; edit that one", folder, path)
		}
		paths = append(paths, path)
	}
	for i := 0; err == nil && i < len(entries); i++ {
		var text []byte
		if text, err = personas.ReadFile("worker/" + entries[i].Name()); err == nil {
			err = files.Create(root, paths[i], bytes.ReplaceAll(text, []byte("{{name}}"), []byte(worker)), 0o600)
		}
	}
	return paths, err
}

// NewKey makes the key with which the commands to a worker are signed, keys/<worker>.key in the folder, and returns its path. The error
// wraps fs.ErrExist if the worker has one.
func NewKey(folder, worker string) (string, error) {
	root, err := os.OpenRoot(folder)
	if err != nil {
		return "", fmt.Errorf("open the folder of the council: %w", err)
	}
	defer root.Close()
	if err := root.MkdirAll("keys", 0o700); err != nil {
		return "", fmt.Errorf("create keys: %w", err)
	}
	rel := "keys/" + worker + ".key"
	err = files.Create(root, rel, []byte(rand.Text()+rand.Text()+"\n"), 0o600)
	if errors.Is(err, fs.ErrExist) {
		err = fmt.Errorf("%s has a key; delete %s first if it is to have a new one: %w", worker, rel, fs.ErrExist)
	}
	return filepath.Join(folder, rel), err
}
