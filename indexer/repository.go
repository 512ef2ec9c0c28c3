package indexer

import (
	"io/fs"
	"os"
	"path/filepath"
)

// maxAbove is how many folders above a workspace are searched for the repository that it is in.
const maxAbove = 40

// aboveIgnores are patterns from a folder above a root.
type aboveIgnores struct {
	patterns []ignorePattern
	// prefix is the path of the root in that folder, with a slash at its end; empty for the root itself.
	prefix string
}

// repositoryIgnores returns the patterns of the git repository around a folder that are not in the folder: those of .gitignore
// in the folders above, nearest first, and of .git/info/exclude. It returns nil if the folder is in no repository. What cannot
// be read is left out: these files only say what git does not keep.
func repositoryIgnores(dir string) []aboveIgnores {
	var all []aboveIgnores
	prefix := ""
	for top, n := dir, 0; n < maxAbove; n++ {
		if n > 0 {
			all = addAbove(all, filepath.Join(top, ignoreFile), prefix)
		}
		if info, err := os.Lstat(filepath.Join(top, ".git")); err == nil {
			if info.IsDir() {
				all = addAbove(all, filepath.Join(top, ".git", "info", "exclude"), prefix)
			}
			if leavesOut(all) {
				return nil
			}
			return all
		}
		up := filepath.Dir(top)
		if up == top {
			break
		}
		prefix, top = filepath.Base(top)+"/"+prefix, up
	}
	return nil
}

// leavesOut reports whether a repository ignores the root itself. Then somebody who chose the root wants what is in it.
func leavesOut(all []aboveIgnores) bool {
	for i := range all {
		for at, c := range all[i].prefix {
			if hit, _ := decide(all[i].patterns, all[i].prefix[:at], true); c == '/' && hit {
				return true
			}
		}
	}
	return false
}

// addAbove adds the patterns of a file, if it is a regular one that is not too large.
func addAbove(all []aboveIgnores, file, prefix string) []aboveIgnores {
	info, err := os.Lstat(file)
	if err != nil || info.Mode()&fs.ModeType != 0 || info.Size() > ignoreFileLimit {
		return all
	}
	data, err := os.ReadFile(file)
	if err != nil || len(data) == 0 {
		return all
	}
	return append(all, aboveIgnores{patterns: parseIgnoreFile(data), prefix: prefix})
}
