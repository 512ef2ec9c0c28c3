package indexer

import (
	"fmt"
	"os"
	"path"
	"path/filepath"
	"strings"

	"kioku/memory"
)

// target is something to index: a file, a folder and all below it, or the entries of a folder that match a glob.
type target struct {
	source string
	// root is the folder to open as an os.Root, absolute. base is the path of the target in it; "." is the root itself.
	root, base string
	// glob selects entries of base by name; empty selects base itself.
	glob string
	// optional targets may be missing: a workspace need not have a USER.md.
	optional bool
}

// layout maps between files on disk and paths of the index.
type layout struct {
	workspace string
	// sessions is the folder of transcripts; empty if there is none.
	sessions string
	targets  []target
}

func newLayout(workspace string, extra []string, sessions Sessions) layout {
	given := absolute(workspace)
	ws := given
	if real, err := filepath.EvalSymlinks(given); err == nil {
		ws = real
	}
	l := layout{workspace: ws}
	for _, base := range []string{"MEMORY.md", "USER.md", "memory"} {
		l.targets = append(l.targets, target{source: memory.SourceMemory, root: ws, base: base, optional: true})
	}
	for _, p := range extra {
		l.targets = append(l.targets, extraTarget(given, ws, p))
	}
	if sessions.enabled() {
		t := sessionTarget(sessions.Folder)
		l.sessions, l.targets = t.root, append(l.targets, t)
	}
	return l
}

// CheckPaths returns an error that names the first of Options.ExtraPaths with a malformed pattern. It does not check whether
// the paths exist.
func CheckPaths(extra []string) error {
	for _, p := range extra {
		name := filepath.Base(p)
		if _, err := path.Match(name, ""); err != nil && isGlob(name) {
			return fmt.Errorf("extra path %q: malformed pattern %q (close every [ by a ], or write \\[ for the character itself)", p, name)
		}
	}
	return nil
}

// isGlob reports whether the last element of a path is a pattern.
func isGlob(name string) bool { return strings.ContainsAny(name, "*?[") }

// extraTarget returns the target for an extra path. Inside of the workspace symbolic links are not resolved, so that a link
// that an agent makes leads nowhere. Outside, where only the owner of the machine writes, the folders above are resolved.
func extraTarget(given, ws, p string) target {
	if !filepath.IsAbs(p) {
		p = filepath.Join(given, p)
	}
	p = filepath.Clean(p)
	dir, name := filepath.Dir(p), filepath.Base(p)
	if rel, ok := below(given, p); ok {
		p = filepath.Join(ws, rel)
	} else if real, err := filepath.EvalSymlinks(dir); err == nil {
		p = filepath.Join(real, name)
	}
	t := target{source: memory.SourceExtra, root: p, base: "."}
	if isGlob(name) {
		t.glob, t.root = name, filepath.Dir(p)
	} else if strings.HasSuffix(name, ".md") {
		t.root, t.base = filepath.Dir(p), name
	}
	if rel, ok := below(ws, filepath.Join(t.root, t.base)); ok {
		t.root, t.base = ws, filepath.ToSlash(rel)
	}
	return t
}

// absolute makes p absolute and clean. If the working directory is gone, it only cleans p.
func absolute(p string) string {
	if abs, err := filepath.Abs(p); err == nil {
		return abs
	}
	return filepath.Clean(p)
}

// below returns p relative to dir ("." if they are the same), and whether p is dir or below it.
func below(dir, p string) (string, bool) {
	if p == dir {
		return ".", true
	}
	if dir == "/" {
		return strings.TrimPrefix(p, "/"), strings.HasPrefix(p, "/")
	}
	if len(p) > len(dir) && p[len(dir)] == '/' && p[:len(dir)] == dir {
		return p[len(dir)+1:], true
	}
	return p, false
}

// abs returns the absolute path of the target.
func (t target) abs() string { return filepath.Join(t.root, t.base) }

// admits reports whether the target includes a file at rel below its base; "." is the base itself. Scans do not enter a
// folder with the name of a memory file, so no file below one is included.
func (t target) admits(rel string) bool {
	if rel == "." {
		return t.single()
	}
	if t.single() || t.glob != "" && !t.selects(rel) {
		return false
	}
	for up := path.Dir(rel); up != "."; up = path.Dir(up) {
		if t.hasMemoryName(up) {
			return false
		}
	}
	return t.hasMemoryName(rel)
}

// single reports whether the target is one file.
func (t target) single() bool { return t.glob == "" && strings.HasSuffix(t.base, ".md") }

// selects reports whether the glob matches the entry of the base that rel is, or is in.
func (t target) selects(rel string) bool {
	first, _, _ := strings.Cut(rel, "/")
	ok, err := path.Match(t.glob, first)
	return ok && err == nil
}

// hasMemoryName reports whether rel has the name of a memory file.
func (t target) hasMemoryName(rel string) bool {
	if t.source == memory.SourceSessions {
		return isTranscript(rel)
	}
	if t.source == memory.SourceMemory && path.Ext(rel) == ".jsonl" {
		return path.Dir(rel) == "daily"
	}
	return strings.HasSuffix(rel, ".md")
}

// within returns a path of the root relative to the base, and whether it is the base or below it.
func (t target) within(rel string) (string, bool) {
	if t.base == "." {
		return rel, true
	}
	return below(t.base, rel)
}

// name returns the path of a file in the index: relative inside of the workspace, "sessions/<id>.jsonl" for a transcript,
// and absolute otherwise. Invalid bytes are escaped.
func (l layout) name(abs string) string {
	if rel, ok := below(l.sessions, abs); ok && l.sessions != "" {
		abs = path.Join(sessionsName, rel)
	} else if rel, ok := below(l.workspace, abs); ok && rel != "." && (l.sessions == "" || !reserved(rel)) {
		abs = rel
	}
	return printable(filepath.ToSlash(abs))
}

// abs returns the absolute path of a file by its path in the index.
func (l layout) abs(name string) string {
	switch {
	case path.IsAbs(name):
		return name
	case l.sessions != "" && reserved(name):
		return filepath.Join(l.sessions, strings.TrimPrefix(name, sessionsName))
	}
	return filepath.Join(l.workspace, name)
}

// nameIn returns the name of the path rel in a root. For most files, which are in the workspace, the two are the same.
func (l layout) nameIn(root, rel string) string {
	if root == l.workspace && rel != "." && l.sessions == "" {
		return printable(rel)
	}
	return l.name(filepath.Join(root, rel))
}

// owner returns the target that includes a file at an absolute path, judged by its name only, and its path in the root.
func (l layout) owner(abs string) (t target, rel string, ok bool) {
	for _, t := range l.targets {
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
	if !ok || excluded(t.root, rel) {
		return "", "", false
	}
	return t.root, rel, true
}

// IsSession reports whether a path of the index is a transcript, which must be shown as [Sessions.Render] returns it.
func (x *Indexer) IsSession(p string) bool { return x.layout.sessions != "" && reserved(p) }

// Limit returns the maximum size in bytes of the file at a path of the index.
func (x *Indexer) Limit(p string) int64 {
	if x.IsSession(p) {
		return limitOf(memory.SourceSessions, x.opt.MaxFileBytes)
	}
	return x.opt.MaxFileBytes
}

// excluded reports whether ignore files exclude rel. An ignore file that cannot be read excludes everything.
func excluded(root, rel string) bool {
	r, err := os.OpenRoot(root)
	if err != nil {
		return false // there is nothing to be read then
	}
	defer r.Close()
	hit, err := newIgnores(r).matchAny(rel, false)
	return hit || err != nil
}
