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

	"github.com/bmatcuk/doublestar/v4"

	"kioku/internal/files"
)

// maxDepth is how many folders deep a scan goes. Each level needs a file descriptor, and bind mounts can loop.
const maxDepth = 100

// foundFile is a file that a scan found.
type foundFile struct {
	// path is its path in the index.
	path   string
	source string
	// root and rel open the file.
	root *os.Root
	rel  string
	info fs.FileInfo
	// skip is why the file cannot be indexed, if that is clear without opening it; empty if not.
	skip string
}

// abs returns the absolute path.
func (f *foundFile) abs() string { return filepath.Join(f.root.Name(), f.rel) }

// scan lists what is on disk. It reads only ignore files.
type scan struct {
	layout layout
	// targets are those of the layout when the scan began.
	targets []target
	limit   int64
	// prune drops what the index contains of roots that cannot be read.
	prune bool
	// onFolder gets each folder before it is opened, so that no change is missed between reading and watching: a folder that is
	// open can be read after it was moved away. It gets a root, and the folder of a single file, once they are open: the watch
	// looks regularly whether roots are still there.
	onFolder func(dir string)
	// confirmGone reports whether the files of a root that looks emptied are really gone.
	confirmGone func(name string) bool
	// enough is called with each file and ends the scan if it returns true; nil never does.
	enough func(*foundFile) bool

	roots  map[string]*openedRoot
	files  []foundFile // in no order
	byPath map[string]bool
	// kept are names that could not be read. The index keeps what it has at or below them. "" is the workspace.
	kept        []string
	unavailable []unavailableRoot
	// exhausted is why the scan is incomplete for want of file descriptors or memory; nil if it is complete.
	exhausted error
	// ended is true once enough has returned true.
	ended bool
}

// openedRoot is a root that was opened, or why it could not be.
type openedRoot struct {
	dir *os.Root // nil if err is set, unless the root looks emptied
	// ignored are its .gitignore files; nil until a target needs them.
	ignored *ignores
	err     error
}

// ignores returns the ignore files that apply to a target; nil if none do.
func (r *openedRoot) ignores(t target) *ignores {
	if !t.git {
		return nil
	}
	if r.ignored == nil {
		r.ignored = newIgnores(r.dir, t)
	}
	return r.ignored
}

func (s *scan) close() {
	for _, root := range s.roots {
		if root.dir != nil {
			root.dir.Close()
		}
	}
}

// scanAll scans every target.
func (s *scan) scanAll(ctx context.Context) {
	for _, t := range s.targets {
		s.scanTarget(ctx, t)
	}
}

// scanPaths scans some files and folders. It returns false if everything must be scanned because a root is in trouble.
func (s *scan) scanPaths(ctx context.Context, paths []string) bool {
	for _, p := range paths {
		for _, t := range s.targets {
			if !s.scanPath(ctx, t, p) {
				return false
			}
		}
	}
	return len(s.unavailable) == 0
}

// scanPath scans what is at, above or below a path, as far as it belongs to a target.
func (s *scan) scanPath(ctx context.Context, t target, p string) bool {
	if _, ok := below(p, t.root); ok {
		return false
	}
	if _, ok := below(p, t.abs()); ok {
		s.scanTarget(ctx, t)
		return true
	}
	if _, ok := below(t.abs(), p); !ok {
		return true
	}
	root := s.openRoot(t.root)
	if root.err != nil {
		return false
	}
	rel, _ := below(t.root, p)
	s.scanInside(ctx, t, root, rel)
	return true
}

func (s *scan) scanTarget(ctx context.Context, t target) {
	root := s.openRoot(t.root)
	switch {
	case slices.ContainsFunc(t.globs, func(glob string) bool { return !doublestar.ValidatePattern(glob) }):
		s.targetUnavailable(t, doublestar.ErrBadPattern)
	case t.optional && t.base == "." && errors.Is(root.err, fs.ErrNotExist):
	case root.err != nil:
		s.targetUnavailable(t, root.err)
	case t.base == ".":
		s.scanFolder(ctx, t, root, root.dir, ".")
	default:
		if err := s.scanBase(ctx, t, root); err != nil {
			s.targetUnavailable(t, err)
		}
	}
}

// scanBase scans a target that is not a root itself.
func (s *scan) scanBase(ctx context.Context, t target, root *openedRoot) error {
	parent, err := files.OpenFolder(root.dir, path.Dir(t.base))
	if err != nil {
		return err
	}
	defer parent.Close()
	s.onFolder(filepath.Dir(t.abs()))
	info, err := parent.Lstat(path.Base(t.base))
	// A single file that is missing was deleted, unless its whole disk is missing.
	if errors.Is(err, fs.ErrNotExist) && (t.optional || t.single() && s.confirmGone(s.layout.name(t.abs()))) {
		return nil
	}
	if err != nil {
		return err
	}
	if hit, err := root.ignores(t).matchAny(t.base, info.IsDir()); hit || err != nil || s.layout.excludes(s.layout.name(t.abs())) {
		return err
	}
	if !info.IsDir() || t.single() {
		reason := files.Refusal(info)
		if reason == "" && !t.admits(".") {
			reason = "neither a folder nor a Markdown file"
		}
		s.addFile(t, root, t.base, info, reason)
		return nil
	}
	s.onFolder(t.abs())
	dir, err := files.OpenFolder(parent, path.Base(t.base))
	if errors.Is(err, fs.ErrPermission) && t.optional {
		s.unreadable(t, root, t.base, err)
		return nil
	}
	if err != nil {
		return err
	}
	defer dir.Close()
	if !t.optional && isEmpty(dir) && !s.confirmGone(s.layout.name(t.abs())) {
		return errEmpty
	}
	s.scanFolder(ctx, t, root, dir, t.base)
	return nil
}

// scanInside scans one file or folder below the base of a target, after it has checked the folders above.
func (s *scan) scanInside(ctx context.Context, t target, root *openedRoot, rel string) {
	inner, _ := t.within(rel)
	if ignoredPath(inner) {
		return
	}
	dir := path.Dir(rel)
	if hit, err := root.ignores(t).matchAny(dir, true); hit || err != nil {
		if err != nil {
			s.unreadable(t, root, dir, err)
		}
		return
	}
	s.foldersAbove(t, dir)
	parent, err := files.OpenFolder(root.dir, dir)
	if err != nil {
		s.openFailed(t, root, dir, err)
		return
	}
	defer parent.Close()
	info, err := parent.Lstat(path.Base(rel))
	if err != nil {
		s.openFailed(t, root, rel, err)
		return
	}
	s.scanEntry(ctx, t, root, parent, rel, info)
}

// foldersAbove passes the folders of a target down to one of them to onFolder: a file can be indexed before the folders above it
// have been scanned, and goes with them.
func (s *scan) foldersAbove(t target, dir string) {
	var above []string
	for ; ; dir = path.Dir(dir) {
		if _, inside := t.within(dir); !inside {
			break
		}
		above = append(above, filepath.Join(t.root, dir))
		if dir == "." {
			break
		}
	}
	for _, folder := range slices.Backward(above) {
		s.onFolder(folder)
	}
}

// openFailed notes a folder that cannot be opened. One that is missing or a link simply has no files.
func (s *scan) openFailed(t target, root *openedRoot, rel string, err error) {
	var skip *files.SkipError
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) || errors.As(err, &skip) {
		return
	}
	s.unreadable(t, root, rel, err)
}

// scanFolder scans a folder and all below it.
func (s *scan) scanFolder(ctx context.Context, t target, root *openedRoot, dir *os.Root, rel string) {
	if ctx.Err() != nil || s.exhausted != nil || s.ended {
		return
	}
	entries, err := readDir(dir)
	if err != nil {
		s.unreadable(t, root, rel, err)
		return
	}
	ignores := root.ignores(t)
	if !slices.ContainsFunc(entries, func(e fs.FileInfo) bool { return e.Name() == ignoreFile }) {
		ignores.absent(rel)
	}
	// To match any name reads the ignore files that apply here.
	if _, err := ignores.match(path.Join(rel, "x"), false); err != nil {
		s.unreadable(t, root, rel, err)
		return
	}
	for _, info := range entries {
		if info.Name() == formerIgnoreFile {
			s.addFile(t, root, path.Join(rel, formerIgnoreFile), nil, "these files have no effect any more: write its patterns as exclude into .kioku.yaml")
		}
		s.scanEntry(ctx, t, root, dir, path.Join(rel, info.Name()), info)
	}
}

// scanEntry scans a file or folder in dir.
func (s *scan) scanEntry(ctx context.Context, t target, root *openedRoot, dir *os.Root, rel string, info fs.FileInfo) {
	name := path.Base(rel)
	inner, _ := t.within(rel)
	wanted := t.admits(inner)
	if ignoredName(name) || !(wanted || s.mayContain(t, dir, inner, info)) || s.ended {
		return
	}
	if s.layout.excludes(s.layout.nameIn(t.root, rel)) || t.git && s.isAlias(root, rel, info) {
		return
	}
	if hit, err := root.ignores(t).match(rel, info.IsDir()); hit || s.endedBy(err) || err != nil {
		return
	}
	reason := badName(name)
	if reason == "" && (wanted || !info.IsDir()) {
		reason = files.Refusal(info)
	}
	switch {
	case reason != "":
	case wanted:
		reason = copyReason(dir, name)
	case isBackup(inner):
		reason = "a folder of copies that Logseq keeps"
	}
	if reason == "" && strings.Count(rel, "/") >= maxDepth {
		reason = fmt.Sprintf("more than %d folders deep", maxDepth)
	}
	if wanted && !s.layout.ownsTranscript(t.source, dir, name, filepath.Join(t.root, rel)) {
		return
	}
	if reason != "" || wanted {
		s.addFile(t, root, rel, info, reason)
		return
	}
	if info.IsDir() {
		s.onFolder(filepath.Join(t.root, rel))
	}
	sub, err := files.OpenFolder(dir, name)
	if err != nil {
		s.openFailed(t, root, rel, err)
		return
	}
	defer sub.Close()
	s.scanFolder(ctx, t, root, sub, rel)
}

// mayContain reports whether an entry that is no memory file may contain some: a folder, or a link to one.
func (s *scan) mayContain(t target, dir *os.Root, inner string, info fs.FileInfo) bool {
	if !t.mayAdmitBelow(inner) {
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

// addFile adds a file, unless another target has added it already.
func (s *scan) addFile(t target, root *openedRoot, rel string, info fs.FileInfo, skip string) {
	name, known := s.layout.nameIn(t.root, rel), len(s.byPath)
	s.byPath[name] = true
	if len(s.byPath) == known {
		return
	}
	if limit := limitOf(t.source, s.limit); skip == "" && info.Size() > limit {
		skip = files.TooLarge(limit)
	}
	s.files = append(s.files, foundFile{path: name, source: t.source, root: root.dir, rel: rel, info: info, skip: skip})
	s.ended = s.enough != nil && s.enough(&s.files[len(s.files)-1])
}

// isAlias reports whether an entry of a workspace is MEMORY.md, USER.md or memory under another name: on a disk that does not
// tell "memory.md" from "MEMORY.md".
func (s *scan) isAlias(root *openedRoot, rel string, info fs.FileInfo) bool {
	return slices.ContainsFunc(curated, func(name string) bool {
		if rel == name || !strings.EqualFold(rel, name) {
			return false
		}
		other, err := root.dir.Lstat(name)
		return err == nil && os.SameFile(info, other)
	})
}

// unreadable lists a folder that cannot be read. The index keeps its files.
func (s *scan) unreadable(t target, root *openedRoot, rel string, err error) {
	if s.endedBy(err) {
		return
	}
	s.kept = append(s.kept, s.layout.name(filepath.Join(t.root, rel)))
	s.addFile(t, root, rel, nil, skipReason(err))
}

// endedBy reports whether an error says nothing about the file or folder, but means that the scan is incomplete.
func (s *scan) endedBy(err error) bool {
	if !isExhausted(err) {
		return false
	}
	if s.exhausted == nil {
		s.exhausted = fmt.Errorf("list the files: %w", err)
	}
	return true
}

// keeps reports whether the index keeps the file of this name, because nothing is known of it.
func (s *scan) keeps(name string) bool {
	return slices.ContainsFunc(s.kept, func(k string) bool { return covers(k, name) })
}

// covers reports whether a path of the index is top or below it. "" is the workspace.
func covers(top, name string) bool {
	if top == "" {
		return !path.IsAbs(name)
	}
	_, ok := below(top, name)
	return ok
}

// readDir returns the entries of a folder in no order. It reads the open folder, so no path can lead elsewhere.
func readDir(dir *os.Root) ([]fs.FileInfo, error) {
	f, err := dir.Open(".")
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return f.Readdir(-1)
}
