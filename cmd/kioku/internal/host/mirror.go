package host

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"kioku"
	"kioku/cmd/kioku/config"
	"kioku/embed"
	"kioku/internal/text"
	"kioku/note/forgotten"
	"kioku/pgstore"
	"kioku/vectors"
)

// sharedFiles returns the files of a folder that a cluster shares: its Markdown, also what the index leaves out, claw0's daily logs, and what decides
// what is indexed, hidden and derived. Folders that are hidden, and node_modules, are left out.
func sharedFiles(root *os.Root) (all map[string]fs.FileInfo, err error) {
	all = map[string]fs.FileInfo{}
	err = fs.WalkDir(root.FS(), ".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && name != "." && (strings.HasPrefix(d.Name(), ".") || d.Name() == "node_modules"):
			return fs.SkipDir
		case !d.Type().IsRegular():
			return nil
		}
		if isShared(name) {
			info, err := d.Info()
			if errors.Is(err, fs.ErrNotExist) {
				return nil // it went meanwhile
			}
			all[name] = info
			return err
		}
		return nil
	})
	return all, err
}

// isShared reports whether a cluster shares a file, by its path in a folder, unless it is in a folder that is left out.
func isShared(name string) bool {
	return text.MarkdownExtension(name) != "" || slices.Contains(deciding, name) || strings.HasPrefix(name, "memory/daily/")
}

// deciding are the files that decide what is indexed and hidden.
var deciding = []string{forgotten.File, config.FolderFile, ".gitignore"}

// mirror is a copy of an agent's folder as the cluster has it, with the notes in it that wait for the owner.
type mirror struct {
	dir string
	// record is the file that says how far the mirror is.
	record string
	// touched are the files that the index must look at.
	touched []string
	// settled reports that the folder has been compared with the cluster, settings that the settings in it have changed, and whole that the index must
	// look at all of it.
	settled, settings, whole bool
	mirrorState
}

// mirrorState is how far a mirror is.
type mirrorState struct {
	// Generation of the cluster that the folder and its index have.
	Generation int64 `json:"generation"`
	// Added are the files that have notes which wait for the owner, or had, and Waiting the number of these notes.
	Added   []string `json:"added"`
	Waiting int      `json:"waiting"`
}

// openMirror returns the mirror in a folder, which is made if it is missing.
func openMirror(dir, record string) (*mirror, error) {
	m := &mirror{dir: dir, record: record}
	data, err := os.ReadFile(record)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	if json.Unmarshal(data, &m.mirrorState) != nil {
		m.mirrorState = mirrorState{} // it is read anew
	}
	return m, os.MkdirAll(dir, 0o700)
}

// settle makes the folder exactly that of the cluster, without the notes that wait: another process may have left more in it, or a loss of power less.
func (m *mirror) settle(ctx context.Context, r pgstore.Reading) error {
	root, err := os.OpenRoot(m.dir)
	if err != nil {
		return err
	}
	defer root.Close()
	have, err := sharedFiles(root)
	if err != nil {
		return err
	}
	want, err := r.Sums(ctx)
	if err != nil {
		return err
	}
	var differ []string
	for p, sum := range want {
		if data, err := root.ReadFile(filepath.FromSlash(p)); err != nil || sha256.Sum256(data) != sum {
			differ = append(differ, p)
		}
	}
	if err := r.Named(ctx, differ, m.put); err != nil {
		return err
	}
	for p := range have {
		if _, ok := want[p]; !ok {
			if err := m.put(pgstore.File{Path: p}); err != nil {
				return err
			}
		}
	}
	m.settled, m.Added, m.Waiting = true, nil, 0
	if m.Generation > r.Agent.Generation { // the store has come back from a backup
		m.Generation = 0
	}
	return nil
}

// save records how far the mirror is, once the index has it too.
func (m *mirror) save(generation int64, added []string, waiting int) error {
	m.Generation, m.Added, m.Waiting = generation, added, waiting
	data, err := json.Marshal(m.mirrorState)
	if err != nil {
		return err
	}
	return os.WriteFile(m.record, data, 0o600)
}

// put writes a file of the cluster into the mirror, unless it has it.
func (m *mirror) put(f pgstore.File) error {
	m.touched = append(m.touched, f.Path)
	if !filepath.IsLocal(f.Path) || strings.ContainsRune(f.Path, 0) {
		return nil // no node writes such a path
	}
	name := filepath.Join(m.dir, filepath.FromSlash(f.Path))
	if f.Data == nil {
		if err := os.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		return nil
	}
	if have, err := os.ReadFile(name); err == nil && bytes.Equal(have, f.Data) {
		return nil
	}
	m.settings = m.settings || f.Path == config.FolderFile
	if f.Path == forgotten.File { // notes that were added here were recorded in full
		old, _ := filepath.Glob(filepath.Join(m.dir+stateOf, "agents", "*", "note", "changes*.jsonl")) // a pattern without mistakes
		for _, name := range old {
			if err := os.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
				return err
			}
		}
	}
	if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		return err
	}
	if err := os.WriteFile(name, f.Data, 0o600); err != nil {
		return err
	}
	return os.Chtimes(name, f.ModTime, f.ModTime)
}

// follow brings a mirror and the index of it to the last generation of the cluster. No transaction is open while the index is made, which of many
// notes takes longer than one may.
func (m *mirror) follow(ctx context.Context, store *pgstore.Store, of *Memory) error {
	reading, done := context.WithTimeout(ctx, pushTime)
	defer done()
	var generation int64
	var waiting []pgstore.Waiting
	err := store.Since(reading, of.Agent(), m.Generation, func(ctx context.Context, r pgstore.Reading) (err error) {
		if !m.settled {
			if err := m.settle(ctx, r); err != nil {
				return err
			}
		}
		generation = r.Agent.Generation
		waiting, err = m.read(ctx, r, of)
		return err
	})
	if err != nil {
		return err
	}
	return m.index(ctx, generation, waiting, of)
}

// take brings them to what was read.
func (m *mirror) take(ctx context.Context, r pgstore.Reading, of *Memory) error {
	waiting, err := m.read(ctx, r, of)
	if err != nil {
		return err
	}
	return m.index(ctx, r.Agent.Generation, waiting, of)
}

// read brings the files of a mirror and the vectors to what was read, and returns the notes that wait.
func (m *mirror) read(ctx context.Context, r pgstore.Reading, of *Memory) ([]pgstore.Waiting, error) {
	if err := takeVectors(ctx, r, of); err != nil {
		return nil, err
	}
	written := false // into a file to which the mirror has added notes
	if err := r.Files(ctx, func(f pgstore.File) error {
		written = written || slices.Contains(m.Added, f.Path)
		return m.put(f)
	}); err != nil {
		return nil, err
	}
	waiting, err := r.Waiting(ctx)
	if err != nil {
		return nil, err
	}
	known := slices.DeleteFunc(slices.Clone(waiting), func(w pgstore.Waiting) bool { return w.Generation > m.Generation })
	if len(known) == m.Waiting && !written {
		return waiting, nil
	}
	// A note that the owner has written stands where the owner has put it, and nowhere else.
	left := map[string]bool{}
	for _, p := range m.Added {
		left[p] = true
	}
	if err := r.Named(ctx, m.Added, func(f pgstore.File) error { delete(left, f.Path); return m.put(f) }); err != nil {
		return nil, err
	}
	for _, p := range slices.Sorted(maps.Keys(left)) {
		if err := m.put(pgstore.File{Path: p}); err != nil {
			return nil, err
		}
	}
	m.Added, m.Waiting = nil, 0
	return waiting, nil
}

// index adds the notes that wait to a mirror, unless it has them, and brings its index to a generation.
func (m *mirror) index(ctx context.Context, generation int64, waiting []pgstore.Waiting, of *Memory) (err error) {
	added := slices.Clone(m.Added)
	for _, w := range waiting {
		if m.Waiting > 0 && w.Generation <= m.Generation {
			continue
		}
		n := w.Note
		n.At = w.Time
		a, err := of.Append(ctx, n)
		if isRefusal(err) {
			continue // as the folder will, which says so
		}
		if err != nil {
			return err
		}
		if a.Path != "" {
			m.touched, added = append(m.touched, a.Path), with(added, a.Path)
		}
	}
	if m.whole || len(m.touched) > touchedAtOnce {
		_, err = of.Sync(ctx, kioku.SyncOptions{}, nil)
	} else if len(m.touched) > 0 {
		err = of.SyncPaths(ctx, m.touched)
	}
	if err != nil {
		return err
	}
	m.touched, m.whole = nil, false
	return m.save(generation, added, len(waiting))
}

// with returns paths with one more, if it is one and not among them.
func with(paths []string, one string) []string {
	if one == "" || slices.Contains(paths, one) {
		return paths
	}
	return append(slices.Clone(paths), one)
}

// touchedAtOnce is the number of files above which the whole folder is looked at.
const touchedAtOnce = 500

// takeVectors stores the vectors of the cluster that are new.
func takeVectors(ctx context.Context, r pgstore.Reading, of *Memory) error {
	var rows []vectors.Row
	put := func() error {
		err := of.PutVectorRows(ctx, rows)
		rows = rows[:0]
		return err
	}
	err := r.Vectors(ctx, func(v pgstore.Vector) error {
		row := vectors.Row{Kind: vectors.Kind(v.Kind), Vector: v.Vector}
		var space spaceJSON
		if json.Unmarshal([]byte(v.Space), &space) != nil || len(v.SHA256) != len(row.Hash) {
			return nil
		}
		row.Space, row.Hash = embed.Space(space), vectors.Hash(v.SHA256)
		if rows = append(rows, row); len(rows) == vectorsAtOnce {
			return put()
		}
		return nil
	})
	if err == nil && len(rows) > 0 {
		err = put()
	}
	return err
}

// vectorsAtOnce is the number of vectors that are copied in one transaction.
const vectorsAtOnce = 1000

// spaceJSON is an embed.Space with its endpoint.
type spaceJSON struct {
	Provider string
	Model    string
	Dims     int
	Endpoint string
}
