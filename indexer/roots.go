package indexer

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"

	"kioku/internal/safefile"
	"kioku/memory"
)

// believedAfter is how many scans in a row must find a root emptied before its files are forgotten: a disk that is
// not mounted looks like an empty folder.
const believedAfter = 3

// errEmpty: a root that had files holds nothing at all any more.
var errEmpty = errors.New("empty, although it had files")

// lostRoot is a root that cannot be looked at.
type lostRoot struct{ name, reason string }

// place opens a root, once a scan.
func (s *scan) place(dir string) *place {
	if pl, ok := s.places[dir]; ok {
		return pl
	}
	pl := &place{}
	s.places[dir] = pl
	pl.root, pl.err = openRoot(dir)
	if pl.err != nil {
		return pl
	}
	pl.ignores = newIgnores(pl.root)
	s.watch(dir)
	if isEmpty(pl.root) && !s.believe(s.rootName(dir)) {
		pl.err = errEmpty
	}
	return pl
}

// openRoot opens a folder that is no symbolic link itself.
func openRoot(dir string) (*os.Root, error) {
	before, err := os.Lstat(dir)
	if err != nil {
		return nil, err
	}
	if before.Mode()&fs.ModeSymlink == 0 && !before.IsDir() {
		return nil, &safefile.SkipError{Reason: "neither a folder nor a .md file"}
	}
	return safefile.OpenRoot(dir)
}

// isEmpty reports whether a folder can be read and has nothing in it.
func isEmpty(dir *os.Root) bool {
	f, err := dir.Open(".")
	if err != nil {
		return false
	}
	defer f.Close()
	_, err = f.ReadDir(1)
	return errors.Is(err, io.EOF)
}

// rootName is what a root is called in reports; the workspace, which has no path in the index, by its folder.
func (s *scan) rootName(dir string) string {
	return printable(dir)
}

// lose notes a target that cannot be looked at. What the index holds of it stays, but for that of a symbolic link,
// which must not be read.
func (s *scan) lose(t target, err error) {
	name := s.layout.name(t.abs())
	top, reason := name, skipReason(err)
	if errors.Is(err, path.ErrBadPattern) {
		name = s.layout.name(filepath.Join(t.abs(), t.glob))
	}
	if pl := s.place(t.root); pl.err != nil && t.root == s.layout.workspace {
		name, top = s.rootName(t.root), ""
	} else if skip := (*safefile.SkipError)(nil); errors.As(err, &skip) {
		s.add(t, pl, t.base, nil, reason)
		return
	}
	if !s.prune {
		s.kept = append(s.kept, top, s.layout.name(t.abs()))
	}
	if !slices.ContainsFunc(s.lost, func(l lostRoot) bool { return l.name == name }) {
		s.lost = append(s.lost, lostRoot{name, reason})
	}
}

// doubts counts how often in a row a root looked as if all its files were deleted. The goroutine of the sync owns it.
type doubts map[string]int

// believer returns the answer to scan.believe for one scan. A root whose files the index does not know has nothing to
// lose. Only a counted scan brings the belief nearer, and prune is a person saying that it is true.
func (x *Indexer) believer(req request, stored map[string]Stored) func(string) bool {
	asked, old := doubts{}, x.doubts
	if req.full {
		x.doubts = asked
	}
	return func(name string) bool {
		if req.prune || !x.knows(name, stored) {
			return true
		}
		asked[name] = old[name]
		if req.counted {
			asked[name]++
		}
		return asked[name] >= believedAfter
	}
}

// knows reports whether the index holds anything at or below a root.
func (x *Indexer) knows(name string, stored map[string]Stored) bool {
	if name == printable(x.layout.workspace) {
		name = ""
	}
	for p, st := range stored {
		if covers(name, p) && (name != "" || st.Source != memory.SourceSessions) {
			return true
		}
	}
	return false
}
