package indexer

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"

	"kioku/chunker"
	"kioku/internal/files"
	"kioku/internal/text"
	"kioku/memory"
)

// curated are the names of what a workspace has that was made for Kioku: two files and a folder.
var curated = []string{"MEMORY.md", "USER.md", "memory"}

// layout decides what of a workspace is indexed, and maps between files on disk and paths of the index.
type layout struct {
	workspace string
	// transcripts are those of all programs, the agent's own last.
	transcripts []Transcripts
	// unindexed are the targets of those that are only read.
	unindexed []target
	// verdicts are which transcripts are those of this memory.
	verdicts *verdicts
	// targets are what is indexed beside the files that globs include.
	targets []target
	// include and exclude are Options.Include and Options.Exclude.
	include, exclude []string
	// recorded are the globs in the settings file of the workspace when it could last be read.
	recorded *atomic.Pointer[recordedGlobs]
	// private are folders in the workspace that globs do not include: those of the index and of transcripts, and Settings.Left.
	private []string
	// seenCurated is set once the workspace had MEMORY.md or memory/. An editor may take MEMORY.md away for a moment, and that
	// must not bring all of the folder into the index.
	seenCurated *atomic.Bool
}

func newLayout(opt Options) layout {
	given := absolute(opt.Workspace)
	ws := given
	if real, err := filepath.EvalSymlinks(given); err == nil {
		ws = real
	}
	l := layout{workspace: ws, include: opt.Include, exclude: opt.Exclude, recorded: &atomic.Pointer[recordedGlobs]{}, seenCurated: &atomic.Bool{}, verdicts: &verdicts{known: map[string]verdict{}}}
	l.recorded.Store(&recordedGlobs{})
	l.readRecorded()
	for _, base := range curated {
		l.targets = append(l.targets, target{source: memory.SourceMemory, root: ws, base: base, optional: true})
	}
	for _, p := range opt.ExtraPaths {
		l.targets = append(l.targets, extraTarget(given, ws, p))
	}
	private := []string{opt.StateDir, opt.Sessions.Folder}
	for _, t := range opt.Sessions.all() {
		t.Folder, private = absolute(t.Folder), append(private, t.Folder)
		if l.transcripts = append(l.transcripts, t); t.Unindexed {
			l.unindexed = append(l.unindexed, t.target())
		} else {
			l.targets = append(l.targets, t.target())
		}
	}
	for _, dir := range opt.Left {
		private = append(private, filepath.Join(ws, dir))
	}
	for _, dir := range private {
		if rel, ok := below(ws, realPath(dir)); dir != "" && ok && rel != "." {
			l.private = append(l.private, filepath.ToSlash(rel))
		}
	}
	return l
}

// realPath returns a path absolute and, as far as it exists, without symbolic links.
func realPath(p string) string {
	p = absolute(p)
	if real, err := filepath.EvalSymlinks(p); err == nil {
		return real
	}
	return p
}

// current returns the targets that apply now. All that asks what is indexed asks here: a workspace becomes a curated one when
// somebody makes MEMORY.md or memory/ in it.
func (l layout) current() []target {
	l.readRecorded()
	include := l.included()
	if len(include) == 0 {
		return l.targets
	}
	return append(slices.Clip(l.targets), l.including(include))
}

// included returns the globs of files that are indexed beside the curated ones; nil if there are none.
func (l layout) included() []string {
	if len(l.include) > 0 {
		return l.include
	}
	recorded := l.recorded.Load().include
	if len(recorded) == 0 && !l.isCurated() {
		return WholeFolder
	}
	return recorded
}

// decides reports whether what is at an absolute path decides which globs apply.
func (l layout) decides(abs string) bool {
	if filepath.Dir(abs) != l.workspace {
		return false
	}
	switch filepath.Base(abs) {
	case "MEMORY.md", "memory":
		return len(l.include) == 0
	case SettingsFile:
		return len(l.include) == 0 || len(l.exclude) == 0
	}
	return false
}

// isCurated reports whether the workspace has, or had, MEMORY.md or memory/.
func (l layout) isCurated() bool {
	if l.seenCurated.Load() {
		return true
	}
	for _, name := range []string{"MEMORY.md", "memory"} {
		if _, err := os.Lstat(filepath.Join(l.workspace, name)); err == nil || !errors.Is(err, fs.ErrNotExist) {
			l.seenCurated.Store(err == nil)
			return true
		}
	}
	return false
}

// including returns the target of the files of the workspace that globs include.
func (l layout) including(globs []string) target {
	return target{source: memory.SourceMemory, root: l.workspace, base: ".", globs: globs, optional: true, git: true,
		left: slices.Concat(curated, l.private)}
}

// excludes reports whether Options.Exclude, or else the settings file, excludes a path of the index.
func (l layout) excludes(name string) bool {
	globs := l.excluded()
	return len(globs) > 0 && (matchesAny(globs, name) || matchesAny(nameGlobs(globs), path.Base(name)))
}

// nameGlobs returns the globs of names of files, *.md or diary.md, which match in any folder.
func nameGlobs(globs []string) []string {
	return slices.DeleteFunc(slices.Clone(globs), func(glob string) bool { return strings.Contains(glob, "/") || text.MarkdownExtension(glob) == "" })
}

// excluded returns the globs of paths that are not indexed, as they were when the settings file was last read.
func (l layout) excluded() []string {
	if len(l.exclude) == 0 {
		return l.recorded.Load().exclude
	}
	return l.exclude
}

// globs returns all globs that apply now, to be compared with those of another time.
func (l layout) globs() []string {
	l.readRecorded()
	return slices.Concat(l.included(), []string{"but not"}, l.excluded())
}

// readRecorded reads the settings file, unless the options say all.
func (l layout) readRecorded() {
	if len(l.include) == 0 || len(l.exclude) == 0 {
		recorded := readGlobs(l.workspace, *l.recorded.Load())
		l.recorded.Store(&recorded)
	}
}

// name returns the path of a file in the index: relative inside of the workspace, below "sessions/" for a transcript, and absolute
// otherwise. Invalid bytes are escaped.
func (l layout) name(abs string) string {
	for _, t := range l.transcripts {
		if rel, ok := below(t.Folder, abs); ok {
			return printable(filepath.ToSlash(path.Join(t.prefix(), rel)))
		}
	}
	if rel, ok := below(l.workspace, abs); ok && rel != "." && (len(l.transcripts) == 0 || !reserved(rel)) {
		abs = rel
	}
	return printable(filepath.ToSlash(abs))
}

// abs returns the absolute path of a file by its path in the index.
func (l layout) abs(name string) string {
	switch {
	case path.IsAbs(name):
		return name
	case len(l.transcripts) > 0 && reserved(name):
		for _, t := range l.transcripts {
			if rel, ok := below(t.prefix(), name); ok {
				return filepath.Join(t.Folder, rel)
			}
		}
	}
	return filepath.Join(l.workspace, name)
}

// nameIn returns the name of the path rel in a root. For most files, which are in the workspace, the two are the same.
func (l layout) nameIn(root, rel string) string {
	if root == l.workspace && rel != "." && len(l.transcripts) == 0 {
		return printable(rel)
	}
	return l.name(filepath.Join(root, rel))
}

// owner returns the target that includes a file at an absolute path, judged by its name only, and its path in the root.
func (l layout) owner(abs string) (t target, rel string, ok bool) {
	return l.ownerAmong(append(slices.Clip(l.current()), l.unindexed...), abs)
}

// ownerAmong returns the owner among targets.
func (l layout) ownerAmong(targets []target, abs string) (t target, rel string, ok bool) {
	if l.excludes(l.name(abs)) {
		return target{}, "", false
	}
	for _, t := range targets {
		rel, ok := below(t.root, abs)
		if !ok || rel == "." {
			continue
		}
		inner, ok := t.within(rel)
		if ok && !ignoredPath(inner) && t.admits(inner) {
			return t, rel, true
		}
	}
	return target{}, "", false
}

// Owns returns the root folder, to be opened with os.OpenRoot, and the path in it of a path of the index. ok is false for a
// path that the index can never contain: one that is not clean, is outside of the sources, or has an ignored or hidden name,
// or not the name of a memory file. Only ignore files are read, so the file need not exist.
func (x *Indexer) Owns(p string) (root, rel string, ok bool) {
	if p == "" || p != path.Clean(p) || badName(p) != "" {
		return "", "", false
	}
	abs := x.layout.abs(p)
	if x.layout.name(abs) != p {
		return "", "", false
	}
	t, rel, ok := x.layout.owner(abs)
	if !ok || ignored(t, rel) || !x.ownsTranscript(t, rel) {
		return "", "", false
	}
	return t.root, rel, true
}

// Read returns the bytes of a file by its path in the index, decoded as text. It returns an error that is memory.ErrNoFile for one that the
// index can never contain or that is not there, so that nobody can probe for other files, and memory.ErrNotFound with the reason for one
// whose content is no text.
func (x *Indexer) Read(p string) (files.Text, error) {
	dir, rel, ok := x.Owns(p)
	if !ok {
		return files.Text{}, memory.ErrNoFile
	}
	root, err := os.OpenRoot(dir)
	if err == nil {
		defer root.Close()
		var src files.Text
		if src, err = files.ReadText(root, rel, x.limit(p)); err == nil {
			return src, nil
		}
		if src.Info != nil {
			return src, fmt.Errorf("%w that can be shown: %w", memory.ErrNotFound, err)
		}
	}
	x.opt.Log.Debug("read a file", "path", p, "err", err)
	return files.Text{}, memory.ErrNoFile
}

// Show returns the text of a file by its path in the index, without markers; of a transcript it returns what is said on each line. The errors
// are those of Read.
func (x *Indexer) Show(p string) (string, error) {
	src, err := x.Read(p)
	if err != nil {
		return "", err
	}
	if x.IsTranscript(p) {
		src.Data = x.Render(p, src.Data)
	}
	return chunker.Normalize(text.StripMarks(src.Data)), nil
}

// ownsTranscript reports whether a path in the root of a target is no transcript, or one of this memory.
func (x *Indexer) ownsTranscript(t target, rel string) bool {
	if !memory.IsTranscript(t.source) {
		return true
	}
	root, err := os.OpenRoot(t.root)
	if err != nil {
		return false
	}
	defer root.Close()
	return x.layout.ownsTranscript(t.source, root, rel, filepath.Join(t.root, rel))
}

// IsTranscript reports whether a path of the index is a transcript, which must be shown as [Indexer.Render] returns it.
func (x *Indexer) IsTranscript(p string) bool { return len(x.layout.transcripts) > 0 && reserved(p) }

// limit returns the maximum size in bytes of the file at a path of the index.
func (x *Indexer) limit(p string) int64 {
	if x.IsTranscript(p) {
		return limitOf(memory.SourceSessions, x.opt.MaxFileBytes)
	}
	return x.opt.MaxFileBytes
}

// ignored reports whether ignore files exclude the path rel in the root of a target. An ignore file that cannot be read excludes
// everything.
func ignored(t target, rel string) bool {
	r, err := os.OpenRoot(t.root)
	if err != nil {
		return false // there is nothing to be read then
	}
	defer r.Close()
	hit, err := newIgnores(r, t).matchAny(rel, false)
	return hit || err != nil
}
