package history

import (
	"context"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	"kioku/memory"
)

// Tree is the files of a version.
type Tree struct {
	// ID is the same for trees with the same files.
	ID string
	// Files by path. Symbolic links and submodules are left out.
	Files []File
}

// File is a file of a version.
type File struct {
	// Path of the file.
	Path string
	// Hash of its text, which names the text in the source.
	Hash string
	// Size in bytes.
	Size int64
}

// find returns a file of a tree.
func (t Tree) find(name string) (File, bool) {
	i, ok := slices.BinarySearchFunc(t.Files, name, func(f File, name string) int { return strings.Compare(f.Path, name) })
	if !ok {
		return File{}, false
	}
	return t.Files[i], true
}

// Show returns a file as it was in a version, by the path that it has now or had then. It returns an error that is
// memory.ErrNoVersion if the version has no such file.
func (g *Git) Show(ctx context.Context, name string, v memory.FolderVersion) (File, []byte, error) {
	tree, err := g.Tree(ctx, v)
	if err != nil {
		return File{}, nil, err
	}
	file, ok := tree.find(name)
	if !ok {
		then, err := g.nameAt(ctx, name, v)
		if err != nil {
			return File{}, nil, err
		}
		if file, ok = tree.find(then); !ok {
			return File{}, nil, fmt.Errorf("%w of %s: it was not there at %s; kioku history log %s lists its versions", memory.ErrNoVersion, name, v.Short(), name)
		}
	}
	var text []byte
	err = g.Read(ctx, []File{file}, func(_ File, src []byte) error {
		text = src
		return nil
	})
	return file, text, err
}

// nameAt returns the path that a file had in a version; empty if its log does not say.
func (g *Git) nameAt(ctx context.Context, name string, v memory.FolderVersion) (string, error) {
	changes, err := g.Log(ctx, memory.LogQuery{Path: name})
	if err != nil {
		return "", err
	}
	for _, c := range changes {
		if !c.Time.After(v.Time) && c.Change != memory.FileRemoved {
			return c.Path, nil
		}
	}
	return "", nil
}

// errors of a history that does not exist; each is memory.ErrNoHistory.
var (
	// ErrNoGit: the program git is missing.
	ErrNoGit = fmt.Errorf("%w: the program git is not installed", memory.ErrNoHistory)
	// ErrNoRepository: the folder is in no repository of git that has a version of it.
	ErrNoRepository = fmt.Errorf("%w: it is in no repository of git that has a version of it", memory.ErrNoHistory)
	// ErrBare: the folder is part of a repository without a working tree.
	ErrBare = fmt.Errorf("%w: it is a part of a bare repository, which has no notes", memory.ErrNoHistory)
	// ErrForeignRepository: the repository belongs to another user.
	ErrForeignRepository = fmt.Errorf("%w: its repository belongs to another user; change the owner, or run git config --global --add safe.directory with its folder",
		memory.ErrNoHistory)
)

// errTooMuch is returned for an answer of git that is too large.
var errTooMuch = errors.New("the answer of git is too large")

// isBelow reports whether a path is a folder, or in it. Everything is below the empty path.
func isBelow(name, folder string) bool {
	return folder == "" || name == folder || strings.HasPrefix(name, path.Clean(folder)+"/")
}
