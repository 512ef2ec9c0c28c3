package config

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"kioku/internal/files"
	"kioku/internal/text"
)

// Found is how a workspace was found from the working directory.
type Found int

const (
	// NotFound: there is none, or it was not looked for.
	NotFound Found = iota
	// ByMarkdown: the working directory, or the git repository around it, holds Markdown.
	ByMarkdown
	// ByLayout: the folder contains MEMORY.md, memory/ or .obsidian/.
	ByLayout
	// ByFolderFile: the folder contains a FolderFile.
	ByFolderFile
)

// marked reports whether something in the folder says that it is a workspace.
func (f Found) marked() bool { return f >= ByLayout }

// findWorkspace returns the workspace around the working directory: the nearest folder upwards that is marked as one, else the
// git repository around it or the working directory itself if that holds Markdown. If the working directory was entered through a
// symbolic link, the folders above where it really is are looked at before those above the link. Upwards, the search ends before the
// user's home and the root: these count only if they are the working directory. A folder for temporary files never counts: it must be
// named. Nor does Markdown make a workspace of a folder directly below the root, such as /var.
func (c *Config) findWorkspace() (dir string, how Found) {
	start := filepath.Clean(c.src.Dir)
	if !filepath.IsAbs(start) {
		return "", NotFound
	}
	starts := []string{start}
	if real, err := filepath.EvalSymlinks(start); err == nil && real != start {
		starts = []string{real, start}
	}
	var unmarked []string
	for _, start := range starts {
		dir, how := c.markedAbove(start)
		if how != NotFound {
			return dir, how
		}
		unmarked = append(unmarked, dir, start)
	}
	for _, dir := range unmarked {
		if dir != "" && !c.IsShared(dir) && !isBelowRoot(dir) && holdsMarkdown(dir) {
			return dir, ByMarkdown
		}
	}
	return "", NotFound
}

// markedAbove returns the nearest folder upwards that is marked as a workspace, else the git repository around the folder; "" if it is in
// none.
func (c *Config) markedAbove(start string) (dir string, how Found) {
	repository := ""
	for dir := start; !c.isTemporary(dir); dir = filepath.Dir(dir) {
		shared := c.IsShared(dir)
		if shared && dir != start {
			break
		}
		if how := marksOf(dir, shared); how != NotFound {
			return dir, how
		}
		if shared {
			break
		}
		if repository == "" && exists(filepath.Join(dir, ".git")) {
			repository = dir
		}
	}
	return repository, NotFound
}

// IsShared reports whether a folder is the user's home, a root or a folder for temporary files, in which all kinds of things are.
func (c *Config) IsShared(dir string) bool {
	return filepath.Dir(dir) == dir || c.home != "" && files.SameFolder(dir, c.home) || c.isTemporary(dir)
}

// isTemporary reports whether a folder is one of the system's for temporary files, into which anybody may write.
func (c *Config) isTemporary(dir string) bool {
	return slices.ContainsFunc([]string{c.temporary, "/tmp", "/var/tmp"}, func(t string) bool { return t != "" && files.SameFolder(dir, t) })
}

// isBelowRoot reports whether a folder is directly below a root.
func isBelowRoot(dir string) bool {
	if real, err := filepath.EvalSymlinks(dir); err == nil {
		dir = real
	}
	top := filepath.Dir(dir)
	return filepath.Dir(top) == top
}

// marksOf returns what marks a folder as a workspace. A shared one is never read whole, so that .obsidian/ does not mark it.
func marksOf(dir string, shared bool) Found {
	switch {
	case exists(filepath.Join(dir, FolderFile)):
		return ByFolderFile
	case looksLikeWorkspace(dir), !shared && isFolder(filepath.Join(dir, ".obsidian")):
		return ByLayout
	}
	return NotFound
}

// looksLikeWorkspace reports whether a folder contains MEMORY.md or memory/. A memory/ that is a workspace itself, as ~/memory may be, makes none
// of the folder around it.
func looksLikeWorkspace(dir string) bool {
	below := filepath.Join(dir, "memory")
	return exists(filepath.Join(dir, "MEMORY.md")) || isFolder(below) && !exists(filepath.Join(below, "MEMORY.md"))
}

// maxLook is how many files and folders are looked at for Markdown.
const maxLook = 2000

// holdsMarkdown reports whether a folder holds Markdown, as far as a look at its first files and folders tells.
func holdsMarkdown(dir string) bool {
	found, looked := false, 0
	_ = fs.WalkDir(os.DirFS(dir), ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return nil // what cannot be read is not looked at
		}
		looked++
		switch name := strings.ToLower(d.Name()); {
		case looked > maxLook:
			return filepath.SkipAll
		case d.IsDir() && path != "." && (strings.HasPrefix(name, ".") || name == "node_modules"):
			return filepath.SkipDir
		case d.Type().IsRegular() && text.MarkdownExtension(name) != "":
			found = true
			return filepath.SkipAll
		}
		return nil
	})
	return found
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

func isFolder(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

// contains reports whether a folder contains another one or is it, also through symbolic links.
func contains(folder, other string) bool {
	for _, resolve := range []func(string) (string, error){filepath.Abs, filepath.EvalSymlinks} {
		a, errA := resolve(folder)
		b, errB := resolve(other)
		if errA != nil || errB != nil {
			continue
		}
		if rel, err := filepath.Rel(a, b); err == nil && filepath.IsLocal(rel) {
			return true
		}
	}
	return false
}

// IsMarked reports whether something in a folder says that it is a workspace.
func IsMarked(dir string) bool { return marksOf(dir, false).marked() }
