package indexer

import (
	"errors"
	"io"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"time"

	"kioku/internal/files"
	"kioku/memory"
)

// emptyScansToConfirm is how many consecutive scans must find a root emptied before its files are removed from the index: a
// disk that is not mounted looks like an empty folder.
const emptyScansToConfirm = 3

// errEmpty: a root that had files is empty.
var errEmpty = errors.New("empty, although it had files")

// unavailableRoot is a root that cannot be read.
type unavailableRoot struct{ name, reason string }

// rootNames returns the names of roots; nil for none.
func rootNames(roots []unavailableRoot) []string {
	var names []string
	for _, root := range roots {
		names = append(names, root.name)
	}
	return names
}

// openRoot opens a root, once in each scan.
func (s *scan) openRoot(dir string) *openedRoot {
	if root, ok := s.roots[dir]; ok {
		return root
	}
	root := &openedRoot{}
	s.roots[dir] = root
	if root.dir, root.err = openRootFolder(dir); root.err != nil {
		return root
	}
	s.onFolder(dir)
	if isEmpty(root.dir) && !s.confirmGone(printable(dir)) {
		root.err = errEmpty
	}
	return root
}

// openRootFolder opens a folder that is not a symbolic link.
func openRootFolder(dir string) (*os.Root, error) {
	info, err := os.Lstat(dir)
	if err != nil {
		return nil, err
	}
	if info.Mode()&fs.ModeSymlink == 0 && !info.IsDir() {
		return nil, &files.SkipError{Reason: "neither a folder nor a .md file"}
	}
	return files.OpenRoot(dir)
}

// isEmpty reports whether a folder can be read and has no entries.
func isEmpty(dir *os.Root) bool {
	f, err := dir.Open(".")
	if err != nil {
		return false
	}
	defer f.Close()
	_, err = f.ReadDir(1)
	return errors.Is(err, io.EOF)
}

// targetUnavailable records a target that cannot be read. The index keeps its files, except those of a symbolic link, which
// must not be followed.
func (s *scan) targetUnavailable(t target, err error) {
	if s.endedBy(err) {
		return
	}
	name := s.layout.name(t.abs())
	top, reason := name, skipReason(err)
	if errors.Is(err, path.ErrBadPattern) {
		name = s.layout.name(filepath.Join(t.abs(), t.globs[0]))
	}
	if root := s.openRoot(t.root); root.err != nil && t.root == s.layout.workspace {
		name, top = printable(t.root), ""
	} else if skip := (*files.SkipError)(nil); errors.As(err, &skip) {
		s.addFile(t, root, t.base, nil, reason)
		return
	}
	if !s.prune {
		s.kept = append(s.kept, top, s.layout.name(t.abs()))
	}
	if !slices.ContainsFunc(s.unavailable, func(u unavailableRoot) bool { return u.name == name }) {
		s.unavailable = append(s.unavailable, unavailableRoot{name, reason})
	}
}

// goneConfirmer returns scan.confirmGone for one scan. A root whose files the index does not have loses nothing, and with
// Prune a person has confirmed it. Otherwise enough counted scans must agree.
func (r *syncRun) goneConfirmer(stored map[string]Stored) func(string) bool {
	before, now := r.emptyScans, map[string]int{}
	if r.req.full() {
		r.emptyScans = now
	}
	counted := r.req.counted
	return func(name string) bool {
		if r.req.Prune || !r.indexHas(name, stored) {
			return true
		}
		now[name] = before[name]
		if counted {
			now[name]++
		}
		return now[name] >= emptyScansToConfirm
	}
}

// indexHas reports whether the index has files at or below a root.
func (x *Indexer) indexHas(name string, stored map[string]Stored) bool {
	if name == printable(x.layout.workspace) {
		name = ""
	}
	for p, st := range stored {
		if covers(name, p) && (name != "" || !memory.IsTranscript(st.Source)) {
			return true
		}
	}
	return false
}

// rootState tells a root from another folder in its place.
type rootState struct {
	// info identifies the folder; nil if there is none.
	info fs.FileInfo
	// exists, readable and empty describe what is there.
	exists, readable, empty bool
}

// same reports whether nothing happened to a root.
func (a rootState) same(b rootState) bool {
	if a.exists != b.exists || a.readable != b.readable || a.empty != b.empty {
		return false
	}
	return a.info == nil || b.info == nil || os.SameFile(a.info, b.info)
}

// rootStates returns the states of the roots, and of targets that are not their root, by path.
func (x *Indexer) rootStates() map[string]rootState {
	states := map[string]rootState{}
	for _, t := range x.layout.targets {
		for _, dir := range []string{t.root, t.abs()} {
			if _, ok := states[dir]; !ok && !(t.optional && dir != t.root) {
				states[dir] = stateOfRoot(dir)
			}
		}
	}
	return states
}

func stateOfRoot(dir string) rootState {
	info, err := os.Lstat(dir)
	if err != nil {
		return rootState{}
	}
	if !info.IsDir() {
		return rootState{exists: true} // each save may replace a file by another
	}
	s := rootState{info: info, exists: true}
	if root, err := openRootFolder(dir); err == nil {
		s.readable, s.empty = true, isEmpty(root)
		root.Close()
	}
	return s
}

// checkRoots asks for a full scan if a root went, came back or was replaced, and always while polling.
func (w *watch) checkRoots(now time.Time) {
	// A root that a sync could not read may be back, as the same folder, but without its watches.
	lost := w.x.SyncState().Unavailable
	for dir, was := range w.roots {
		if was.readable && !was.empty && slices.Contains(lost, w.x.layout.name(dir)) {
			w.roots[dir] = rootState{}
		}
	}
	roots := w.x.rootStates()
	if !maps.EqualFunc(w.roots, roots, rootState.same) {
		w.roots = roots
		w.closeWatcher()
		w.wantFullScan(now)
	}
	if w.polls {
		w.wantFullScan(now)
	}
}
