package indexer

import (
	"fmt"
	"os"
	"path"
	"path/filepath"
	"strings"
	"time"

	"kioku/memory"
)

// target is one thing to index: a file, a folder with what is below it, or those entries of a folder that match a glob.
type target struct {
	source string
	// root is the folder opened as an os.Root, absolute; base the target's path in it, "." for root itself.
	root, base string
	// glob selects entries of base by name; empty takes base itself.
	glob string
	// optional targets may be missing without a word: a workspace need not have a USER.md.
	optional bool
}

// layout maps between files and the paths under which the index knows them.
type layout struct {
	workspace string
	// sessions is the folder of transcripts, empty for none.
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
	if sessions.on() {
		t := sessionTarget(sessions.Folder)
		l.sessions, l.targets = t.root, append(l.targets, t)
	}
	return l
}

// CheckPaths returns an error that names the first of Options.ExtraPaths whose pattern is malformed, nil where there is
// none. Whether the paths exist is for the scan to say.
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

// extraTarget places an extra path. Inside of the workspace the path is taken by its letters, so that a symbolic link
// made there later leads nowhere; outside of it, where the owner of the machine rules, the folders above are resolved.
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

// absolute makes p absolute and clean; where the working directory is gone, it is only cleaned.
func absolute(p string) string {
	if abs, err := filepath.Abs(p); err == nil {
		return abs
	}
	return filepath.Clean(p)
}

// below returns p relative to dir, "." where they are the same, and whether p is dir or below it.
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

// abs is where the target is.
func (t target) abs() string { return filepath.Join(t.root, t.base) }

// admits reports whether the target takes a file at rel below its base; "." is the base itself. A folder with the name
// of a memory file is not entered, so nothing below one is taken.
func (t target) admits(rel string) bool {
	if rel == "." {
		return t.single()
	}
	if t.single() || t.glob != "" && !t.selects(rel) {
		return false
	}
	for up := path.Dir(rel); up != "."; up = path.Dir(up) {
		if t.named(up) {
			return false
		}
	}
	return t.named(rel)
}

// single reports whether the target is one file.
func (t target) single() bool { return t.glob == "" && strings.HasSuffix(t.base, ".md") }

// selects reports whether the glob takes the entry of the base that rel is or lies in.
func (t target) selects(rel string) bool {
	first, _, _ := strings.Cut(rel, "/")
	ok, err := path.Match(t.glob, first)
	return ok && err == nil
}

// named reports whether rel has the name of a memory file.
func (t target) named(rel string) bool {
	if t.source == memory.SourceSessions {
		return session(rel)
	}
	if t.source == memory.SourceMemory && path.Ext(rel) == ".jsonl" {
		return path.Dir(rel) == "daily"
	}
	return strings.HasSuffix(rel, ".md")
}

// within returns the path below the target's base of a path in its root, and whether it is the base or below it.
func (t target) within(rel string) (string, bool) {
	if t.base == "." {
		return rel, true
	}
	return below(t.base, rel)
}

// name returns the path under which the index knows a file: relative inside of the workspace, "sessions/<id>.jsonl" for a
// transcript, else absolute, and with bad bytes written as escapes.
func (l layout) name(abs string) string {
	if rel, ok := below(l.sessions, abs); ok && l.sessions != "" {
		abs = path.Join(sessionsName, rel)
	} else if rel, ok := below(l.workspace, abs); ok && rel != "." && (l.sessions == "" || !reserved(rel)) {
		abs = rel
	}
	return printable(filepath.ToSlash(abs))
}

// abs is the place of a file on disk, by its path in the index.
func (l layout) abs(name string) string {
	switch {
	case path.IsAbs(name):
		return name
	case l.sessions != "" && reserved(name):
		return filepath.Join(l.sessions, strings.TrimPrefix(name, sessionsName))
	}
	return filepath.Join(l.workspace, name)
}

// nameIn is name of the path rel in a root. Most files are in the workspace, where the two are the same.
func (l layout) nameIn(root, rel string) string {
	if root == l.workspace && rel != "." && l.sessions == "" {
		return printable(rel)
	}
	return l.name(filepath.Join(root, rel))
}

// owns returns the target that takes the file at an absolute path, by its name alone, and its path in the root.
func (l layout) owns(abs string) (t target, rel string, ok bool) {
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

// Owns says which root folder, to be opened with os.OpenRoot, and which path in it a path of the index names. It is
// false for what the index could never hold: a path that is not clean, lies outside of the sources, has an ignored or
// hidden name, or not the name of a memory file. Nothing but ignore files is read, so the file need not exist.
func (x *Indexer) Owns(p string) (root, rel string, ok bool) {
	if p == "" || p != path.Clean(p) || badName(p) != "" {
		return "", "", false
	}
	abs := x.layout.abs(p)
	if x.layout.name(abs) != p {
		return "", "", false
	}
	t, rel, ok := x.layout.owns(abs)
	if !ok || excluded(t.root, rel) {
		return "", "", false
	}
	return t.root, rel, true
}

// IsSession reports whether a path of the index names a transcript, of which [Sessions.Render] is to be shown.
func (x *Indexer) IsSession(p string) bool { return x.layout.sessions != "" && reserved(p) }

// Limit is the size in bytes above which the file at a path of the index is skipped.
func (x *Indexer) Limit(p string) int64 {
	if x.IsSession(p) {
		return limitOf(memory.SourceSessions, x.opt.MaxFileBytes)
	}
	return x.opt.MaxFileBytes
}

// excluded reports whether ignore files keep rel out. An unreadable one keeps out everything.
func excluded(root, rel string) bool {
	r, err := os.OpenRoot(root)
	if err != nil {
		return false // there is nothing to be read then
	}
	defer r.Close()
	hit, err := newIgnores(r).matchAny(rel, false)
	return hit || err != nil
}

// DateOf returns the day (YYYY-MM-DD) that the file name of a path starts with, empty where it starts with none. What
// follows the day must not be another digit, and the day must be in the calendar.
func DateOf(p string) string {
	name := path.Base(p)
	if len(name) < len(time.DateOnly) {
		return ""
	}
	day, rest := name[:len(time.DateOnly)], name[len(time.DateOnly):]
	if _, err := time.Parse(time.DateOnly, day); err != nil {
		return ""
	}
	if rest != "" && rest[0] >= '0' && rest[0] <= '9' {
		return ""
	}
	return day
}
