package indexer

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"kioku/internal/safefile"
	"kioku/memory"
)

// maxDepth bounds how many folders deep a scan goes: each level holds a file descriptor, and bind mounts can loop.
const maxDepth = 100

// found is a file that a scan came across.
type found struct {
	// path is the name in the index.
	path   string
	source string
	// root and rel open the file.
	root *os.Root
	rel  string
	info fs.FileInfo
	// skip is why the file cannot be indexed, as far as that shows without opening it.
	skip string
}

// abs is the place on disk.
func (f *found) abs() string { return filepath.Join(f.root.Name(), f.rel) }

// scan looks at what is on disk, without reading any file but ignore files.
type scan struct {
	layout layout
	limit  int64
	// prune forgets what the index holds of roots that cannot be looked at.
	prune bool
	// watch is told of each folder before it is read, so that no change falls between reading and watching.
	watch func(dir string)
	// believe is asked whether a root that looks as if all its files were deleted is to be taken at its word.
	believe func(name string) bool

	places map[string]*place
	files  []found
	byPath map[string]bool
	// kept names whatever could not be looked at: what the index holds at or below these stays. "" is the workspace.
	kept []string
	lost []lostRoot
}

// place is an open root.
type place struct {
	root    *os.Root
	ignores *ignores
	err     error
}

func (s *scan) close() {
	for _, p := range s.places {
		if p.root != nil {
			p.root.Close()
		}
	}
}

// all looks at every target. The files are in no order.
func (s *scan) all(ctx context.Context) {
	for _, t := range s.layout.targets {
		s.target(ctx, t)
	}
}

// only looks at some files and folders. It is false where more than these must be looked at: a root is in trouble.
func (s *scan) only(ctx context.Context, paths []string) bool {
	for _, p := range paths {
		for _, t := range s.layout.targets {
			if !s.changed(ctx, t, p) {
				return false
			}
		}
	}
	return len(s.lost) == 0
}

func (s *scan) changed(ctx context.Context, t target, p string) bool {
	if _, ok := below(p, t.root); ok {
		return false
	}
	if _, ok := below(p, t.abs()); ok {
		s.target(ctx, t)
		return true
	}
	if _, ok := below(t.abs(), p); !ok {
		return true
	}
	pl := s.place(t.root)
	if pl.err != nil {
		return false
	}
	rel, _ := below(t.root, p)
	s.at(ctx, t, pl, rel)
	return true
}

// target looks at a whole target.
func (s *scan) target(ctx context.Context, t target) {
	pl := s.place(t.root)
	_, badGlob := path.Match(t.glob, "x")
	switch {
	case badGlob != nil:
		s.lose(t, badGlob)
	case t.optional && t.base == "." && errors.Is(pl.err, fs.ErrNotExist):
	case pl.err != nil:
		s.lose(t, pl.err)
	case t.base == ".":
		s.folder(ctx, t, pl, pl.root, ".")
	default:
		if err := s.base(ctx, t, pl); err != nil {
			s.lose(t, err)
		}
	}
}

// base looks at a target that is not a root itself.
func (s *scan) base(ctx context.Context, t target, pl *place) error {
	parent, err := safefile.OpenFolder(pl.root, path.Dir(t.base))
	if err != nil {
		return err
	}
	defer parent.Close()
	s.watch(filepath.Dir(t.abs()))
	info, err := parent.Lstat(path.Base(t.base))
	if errors.Is(err, fs.ErrNotExist) && (t.optional || s.deleted(t)) {
		return nil
	}
	if err != nil {
		return err
	}
	if hit, err := pl.ignores.matchAny(t.base, info.IsDir()); hit || err != nil {
		return err
	}
	if !info.IsDir() || t.single() {
		s.add(t, pl, t.base, info, baseReason(t, info))
		return nil
	}
	dir, err := safefile.OpenFolder(parent, path.Base(t.base))
	if errors.Is(err, fs.ErrPermission) && t.optional {
		s.unreadable(t, pl, t.base, err)
		return nil
	}
	if err != nil {
		return err
	}
	defer dir.Close()
	if !t.optional && isEmpty(dir) && !s.believe(s.layout.name(t.abs())) {
		return errEmpty
	}
	s.folder(ctx, t, pl, dir, t.base)
	return nil
}

// deleted reports whether a single file that is missing was deleted, rather than being on a disk that is away.
func (s *scan) deleted(t target) bool {
	return t.single() && s.believe(s.layout.name(t.abs()))
}

func baseReason(t target, info fs.FileInfo) string {
	if reason := safefile.Refusal(info); reason != "" {
		return reason
	}
	if !t.admits(".") {
		return "neither a folder nor a .md file"
	}
	return ""
}

// at looks at one file or folder below a target's base, after checking the way to it.
func (s *scan) at(ctx context.Context, t target, pl *place, rel string) {
	inner, _ := t.within(rel)
	if ignoredPath(inner) {
		return
	}
	dir := path.Dir(rel)
	if hit, err := pl.ignores.matchAny(dir, true); hit || err != nil {
		if err != nil {
			s.unreadable(t, pl, dir, err)
		}
		return
	}
	parent, err := safefile.OpenFolder(pl.root, dir)
	if err != nil {
		s.blocked(t, pl, dir, err)
		return
	}
	defer parent.Close()
	info, err := parent.Lstat(path.Base(rel))
	if err != nil {
		s.blocked(t, pl, rel, err)
		return
	}
	s.entry(ctx, t, pl, parent, rel, info)
}

// blocked deals with a way that ends early. What is missing, or behind a link, is simply not found.
func (s *scan) blocked(t target, pl *place, rel string, err error) {
	var skip *safefile.SkipError
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) || errors.As(err, &skip) {
		return
	}
	s.unreadable(t, pl, rel, err)
}

// folder looks at what is in a folder, and in those below.
func (s *scan) folder(ctx context.Context, t target, pl *place, dir *os.Root, rel string) {
	if ctx.Err() != nil {
		return
	}
	s.watch(filepath.Join(t.root, rel))
	entries, err := readDir(dir)
	if err != nil {
		s.unreadable(t, pl, rel, err)
		return
	}
	if !slices.ContainsFunc(entries, func(e fs.FileInfo) bool { return e.Name() == ignoreFile }) {
		pl.ignores.absent(rel)
	}
	// Asking about a made-up name reads the ignore files that count here.
	if _, err := pl.ignores.match(path.Join(rel, "x"), false); err != nil {
		s.unreadable(t, pl, rel, err)
		return
	}
	if complaint := pl.ignores.complaint(rel); complaint != "" {
		s.add(t, pl, path.Join(rel, ignoreFile), nil, complaint)
	}
	prefix := rel + "/"
	if rel == "." {
		prefix = ""
	}
	for _, info := range entries {
		s.entry(ctx, t, pl, dir, prefix+info.Name(), info)
	}
}

// entry looks at a file or folder in dir.
func (s *scan) entry(ctx context.Context, t target, pl *place, dir *os.Root, rel string, info fs.FileInfo) {
	name := path.Base(rel)
	inner, _ := t.within(rel)
	wanted := t.admits(inner)
	if ignoredName(name) || !(wanted || s.mayHold(t, dir, inner, info)) {
		return
	}
	if hit, err := pl.ignores.match(rel, info.IsDir()); hit || err != nil {
		return
	}
	reason := badName(name)
	if reason == "" && (wanted || !info.IsDir()) {
		reason = safefile.Refusal(info)
	}
	if reason == "" && strings.Count(rel, "/") >= maxDepth {
		reason = fmt.Sprintf("more than %d folders deep", maxDepth)
	}
	if reason != "" || wanted {
		s.add(t, pl, rel, info, reason)
		return
	}
	sub, err := safefile.OpenFolder(dir, name)
	if err != nil {
		s.blocked(t, pl, rel, err)
		return
	}
	defer sub.Close()
	s.folder(ctx, t, pl, sub, rel)
}

// mayHold reports whether what has no name of a memory file may still lead to some: a folder, or a link to one.
func (s *scan) mayHold(t target, dir *os.Root, inner string, info fs.FileInfo) bool {
	if t.glob != "" && !t.selects(inner) || t.source == memory.SourceSessions {
		return false
	}
	if info.Mode()&fs.ModeSymlink == 0 {
		return info.IsDir()
	}
	to, err := dir.Stat(info.Name())
	if err != nil {
		return !errors.Is(err, fs.ErrNotExist) // leads out of the root
	}
	return to.IsDir()
}

// add notes a file, unless another target had it already.
func (s *scan) add(t target, pl *place, rel string, info fs.FileInfo, reason string) {
	name, seen := s.layout.nameIn(t.root, rel), len(s.byPath)
	s.byPath[name] = true
	if len(s.byPath) == seen {
		return
	}
	if limit := limitOf(t.source, s.limit); reason == "" && info.Size() > limit {
		reason = safefile.TooLarge(limit)
	}
	s.files = append(s.files, found{path: name, source: t.source, root: pl.root, rel: rel, info: info, skip: reason})
}

// unreadable notes a folder that cannot be looked into: its files stay as they are in the index.
func (s *scan) unreadable(t target, pl *place, rel string, err error) {
	s.kept = append(s.kept, s.layout.name(filepath.Join(t.root, rel)))
	s.add(t, pl, rel, nil, skipReason(err))
}

// keeps reports whether what the index holds under a name stays, since nothing is known of the file.
func (s *scan) keeps(name string) bool {
	return slices.ContainsFunc(s.kept, func(k string) bool { return covers(k, name) })
}

// covers reports whether a name of the index is top or below it. The top "" is the workspace.
func covers(top, name string) bool {
	if top == "" {
		return !path.IsAbs(name)
	}
	_, ok := below(top, name)
	return ok
}

// readDir returns what is in a folder, in no order. The system is asked by the open folder, never by a path.
func readDir(dir *os.Root) ([]fs.FileInfo, error) {
	f, err := dir.Open(".")
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return f.Readdir(-1)
}
