package modelstore

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"kioku/internal/files"
	"kioku/internal/text"
)

// ErrNotAdded reports that there is no model of a name.
var ErrNotAdded = errors.New("there is no such model")

const (
	// addingPrefix begins the name of a folder in which a model is put together, and gonePrefix that of one which is being removed.
	addingPrefix, gonePrefix = ".adding-", ".gone-"
	// replacedPrefix begins the name of a model that gives way to its successor.
	replacedPrefix = ".replaced-"
	// downloads is the folder of models that are being downloaded, a folder each, and tags that of the ETags of the files in one.
	downloads = ".downloads"
	tags      = "tags"
	lockName  = ".lock"
)

// Store is the folder that contains the models, a folder each. The zero value has none.
type Store struct{ dir string }

// New returns the store of a state folder, which need not exist; an empty one has no models.
func New(state string) *Store {
	if state == "" {
		return &Store{}
	}
	return &Store{dir: filepath.Join(state, "models")}
}

// Dir returns the folder of a model of this name, which may not exist.
func (s *Store) Dir(name string) string { return filepath.Join(s.dir, name) }

// Model is an added model.
type Model struct {
	Manifest
	// Dir is the folder of its files.
	Dir string
	// Err says why it cannot be used, as far as a look at names and sizes of its files tells; nil if it can.
	Err error
}

// List returns the added models, the first added first. It returns none if the folder of models does not exist.
func (s *Store) List() ([]Model, error) {
	if s.dir == "" {
		return nil, nil
	}
	entries, err := os.ReadDir(s.dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read the folder of models: %w", err)
	}
	var all []Model
	for _, e := range entries {
		if !strings.HasPrefix(e.Name(), ".") && e.IsDir() {
			all = append(all, s.look(e.Name()))
		}
	}
	slices.SortFunc(all, func(a, b Model) int {
		return cmp.Or(a.Added.Compare(b.Added), strings.Compare(a.Name, b.Name))
	})
	return all, nil
}

// look reads the model of a folder.
func (s *Store) look(name string) Model {
	dir := filepath.Join(s.dir, name)
	m, err := readManifest(dir)
	m.Name = name
	model := Model{Manifest: m, Dir: filepath.Join(dir, m.Folder), Err: err}
	if err == nil {
		model.Err = model.checkSizes()
	}
	return model
}

// Find returns the added model of a name. Without one it returns an error that is ErrNotAdded and names the nearest.
func (s *Store) Find(name string) (Model, error) {
	name = strings.ToLower(name)
	all, err := s.List()
	if err != nil {
		return Model{}, err
	}
	var names []string
	for _, m := range all {
		if m.Name == name {
			return m, nil
		}
		names = append(names, m.Name)
	}
	hint := "kioku model list shows those that were added"
	if near := text.Nearest(name, names); near != "" {
		hint = "did you mean " + near + "?"
	} else if _, known := Lookup(name); known {
		hint = "kioku model add " + name + " adds it"
	}
	return Model{}, fmt.Errorf("%w: %s; %s", ErrNotAdded, name, hint)
}

// At returns the model whose files are in a folder. One that is a mere folder, which was not added, has no files in its manifest. It
// returns ErrNotAdded for no folder.
func (s *Store) At(dir string) (Model, error) {
	all, err := s.List()
	if err != nil {
		return Model{}, err
	}
	if i := slices.IndexFunc(all, func(m Model) bool { return m.Dir == dir }); i >= 0 {
		return all[i], nil
	}
	m := Model{Dir: dir, Manifest: Manifest{Name: dir, Role: Embedder}}
	if dir == "" {
		return m, fmt.Errorf("%w: none was added", ErrNotAdded)
	}
	if !exists(dir) {
		return m, fmt.Errorf("there is no such model: %s", dir)
	}
	return m, nil
}

// First returns the first added model of a role, and whether there is one.
func (s *Store) First(role Role) (Model, bool) {
	all, err := s.List()
	if err != nil {
		return Model{}, false
	}
	i := slices.IndexFunc(all, func(m Model) bool { return m.Role == role })
	if i < 0 {
		return Model{}, false
	}
	return all[i], true
}

// Unreadable returns the first added model of which nobody can tell the role, because its manifest cannot be read, and whether
// there is one. If the folder of all models cannot be read, that is a model without a name. Err says why.
func (s *Store) Unreadable() (Model, bool) {
	all, err := s.List()
	if err != nil {
		return Model{Dir: s.dir, Err: err}, true
	}
	i := slices.IndexFunc(all, func(m Model) bool { return m.Err != nil && m.Role != Embedder && m.Role != Reranker })
	if i < 0 {
		return Model{}, false
	}
	return all[i], true
}

// Remove removes a model and its files.
func (s *Store) Remove(name string) error {
	m, err := s.Find(name)
	if err != nil {
		return err
	}
	unlock, err := s.lock()
	if err != nil {
		return err
	}
	defer unlock()
	away := filepath.Join(s.dir, gonePrefix+m.Name)
	if err := os.Rename(s.Dir(m.Name), away); err != nil {
		return fmt.Errorf("remove %s: %w", m.Name, err)
	}
	return os.RemoveAll(away) // what stays is removed by the next change of the store
}

// lock takes the lock of everybody who changes the store, and cleans up what one left who was killed.
func (s *Store) lock() (unlock func(), err error) {
	if s.dir == "" {
		return nil, errors.New("no folder for models: HOME is not set; name a folder with --state")
	}
	if err := os.MkdirAll(s.dir, 0o700); err != nil {
		return nil, fmt.Errorf("make the folder of models: %w", err)
	}
	f, err := os.OpenFile(filepath.Join(s.dir, lockName), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, fmt.Errorf("open the lock of the models: %w", err)
	}
	if err := files.TryLock(f); err != nil {
		return nil, errors.Join(fmt.Errorf("another kioku model is adding or removing one; wait for it: %w", err), f.Close())
	}
	if err := s.cleanUp(); err != nil {
		return nil, errors.Join(err, files.Unlock(f))
	}
	return func() { _ = files.Unlock(f) }, nil
}

// cleanUp removes folders that are no models. A model that was moved away for a successor which never came is moved back. The
// caller holds the lock.
func (s *Store) cleanUp() error {
	entries, err := os.ReadDir(s.dir)
	if err != nil {
		return fmt.Errorf("read the folder of models: %w", err)
	}
	for _, e := range entries {
		path := filepath.Join(s.dir, e.Name())
		if name, ok := strings.CutPrefix(e.Name(), replacedPrefix); ok && !exists(filepath.Join(s.dir, name)) {
			if err := os.Rename(path, filepath.Join(s.dir, name)); err != nil {
				return fmt.Errorf("put the model %s back: %w", name, err)
			}
			continue
		}
		if !isLeftOver(e.Name()) {
			continue
		}
		if err := os.RemoveAll(path); err != nil {
			return fmt.Errorf("remove what an earlier kioku model left: %w", err)
		}
	}
	return nil
}

// isLeftOver reports whether a folder of this name is no model and of no use to anybody.
func isLeftOver(name string) bool {
	return slices.ContainsFunc([]string{addingPrefix, gonePrefix, replacedPrefix}, func(p string) bool { return strings.HasPrefix(name, p) })
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

// put gives a folder, which is whole, the name of a model. It replaces the model of that name.
func (s *Store) put(from, name string) error {
	to, away := filepath.Join(s.dir, name), filepath.Join(s.dir, replacedPrefix+name)
	err := os.Rename(to, away)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("replace the model %s: %w", name, err)
	}
	replaced := err == nil
	if err := os.Rename(from, to); err != nil {
		if replaced {
			err = errors.Join(err, os.Rename(away, to))
		}
		return fmt.Errorf("name the model %s: %w", name, err)
	}
	if dir, err := os.Open(s.dir); err == nil {
		_ = dir.Sync() // some file systems cannot
		dir.Close()
	}
	return os.RemoveAll(away)
}
