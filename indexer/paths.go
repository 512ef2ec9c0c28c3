package indexer

import (
	"fmt"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"kioku/internal/text"
	"kioku/memory"
)

// target is something to index: a file, a folder and all below it, or what globs select below a folder.
type target struct {
	source string
	// root is the folder to open as an os.Root, absolute. base is the path of the target in it; "." is the root itself.
	root, base string
	// globs select files below the base; nil selects all of the base.
	globs []string
	// optional targets may be missing: a workspace need not have a USER.md.
	optional bool
	// git is true if .gitignore applies.
	git bool
	// left are paths in the root that belong to other targets, or are private.
	left []string
	// enters is Transcripts.Enters; nil for other targets.
	enters func(rel string) bool
}

// CheckPaths returns an error that names the first of Options.ExtraPaths with a malformed pattern. It does not check whether
// the paths exist.
func CheckPaths(extra []string) error {
	for _, p := range extra {
		if _, glob := splitGlob(filepath.Clean(p)); glob != "" && checkGlob(glob) != nil {
			return fmt.Errorf("extra path %q: malformed pattern %q (close every [ by a ], or write \\[ for the character itself)", p, glob)
		}
	}
	return nil
}

// splitGlob splits a clean path into a folder and a glob in it: from the first "**" on, or else the last element, if that is a
// pattern. glob is empty if there is none; then dir is the whole path.
func splitGlob(p string) (dir, glob string) {
	names := strings.Split(p, "/")
	at := slices.IndexFunc(names, func(name string) bool { return strings.Contains(name, "**") })
	if at < 0 && strings.ContainsAny(names[len(names)-1], "*?[") {
		at = len(names) - 1
	}
	if at < 0 {
		return p, ""
	}
	dir = strings.Join(names[:at], "/")
	if dir == "" && at > 0 {
		dir = "/"
	}
	return dir, strings.Join(names[at:], "/")
}

// extraTarget returns the target for an extra path. Inside of the workspace symbolic links are not resolved, so that a link
// that an agent makes leads nowhere. Outside, where only the owner of the machine writes, the folders above are resolved.
func extraTarget(given, ws, p string) target {
	if !filepath.IsAbs(p) {
		p = filepath.Join(given, p)
	}
	p, glob := splitGlob(filepath.Clean(p))
	above, name := filepath.Split(p)
	if glob != "" {
		above, name = p, ""
	}
	if rel, ok := below(given, p); ok {
		p = filepath.Join(ws, rel)
	} else if real, err := filepath.EvalSymlinks(above); err == nil {
		p = filepath.Join(real, name)
	}
	t := target{source: memory.SourceExtra, root: p, base: "."}
	if glob != "" {
		t.globs = []string{glob}
	} else if name := filepath.Base(p); text.MarkdownExtension(name) != "" {
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
	if t.single() || !t.hasMemoryName(rel) || t.globs != nil && (t.leaves(rel) || !matchesAny(t.globs, rel)) {
		return false
	}
	for up := path.Dir(rel); up != "."; up = path.Dir(up) {
		if t.hasMemoryName(up) {
			return false
		}
	}
	return true
}

// single reports whether the target is one file.
func (t target) single() bool { return t.globs == nil && text.MarkdownExtension(t.base) != "" }

// mayAdmitBelow reports whether the target may include files of a folder at rel below its base.
func (t target) mayAdmitBelow(rel string) bool {
	if t.globs == nil {
		return !memory.IsTranscript(t.source) || t.enters != nil && t.enters(rel)
	}
	return !t.leaves(rel) && slices.ContainsFunc(t.globs, func(glob string) bool { return mayMatchBelow(glob, rel) })
}

// leaves reports whether the target leaves the path rel below its base to others.
func (t target) leaves(rel string) bool {
	return slices.ContainsFunc(t.left, func(left string) bool {
		_, ok := below(left, rel)
		return ok
	})
}

// hasMemoryName reports whether rel has the name of a memory file.
func (t target) hasMemoryName(rel string) bool {
	if memory.IsTranscript(t.source) {
		return path.Ext(rel) == transcriptExt && (path.Dir(rel) == "." || t.enters != nil && t.enters(path.Dir(rel)))
	}
	if t.source == memory.SourceMemory && t.globs == nil && path.Ext(rel) == ".jsonl" {
		return path.Dir(rel) == "daily"
	}
	return text.MarkdownExtension(rel) != ""
}

// within returns a path of the root relative to the base, and whether it is the base or below it.
func (t target) within(rel string) (string, bool) {
	if t.base == "." {
		return rel, true
	}
	return below(t.base, rel)
}
