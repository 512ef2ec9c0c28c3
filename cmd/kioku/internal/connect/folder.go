package connect

import (
	"context"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"strings"
	"time"

	"kioku"
	"kioku/cmd/kioku/config"
	"kioku/cmd/kioku/internal/render"
	"kioku/indexer"
	"kioku/internal/files"
)

// maxUnnamed is the maximum number of files that are indexed of a folder which nothing names or marks: it may be a folder of
// all kinds of things, in which somebody typed a command by mistake.
const maxUnnamed = 10_000

// CheckFolder returns an error if the index belongs to another folder that still exists: a sync would empty it. Only kioku
// index may do that. It also returns one if there is no index yet and the folder, which has more than maxUnnamed files, was found
// only because it holds Markdown. If the index cannot be read, there is no error; Open reports why.
func CheckFolder(ctx context.Context, conf *config.Config, place config.Place, n Need) error {
	state, err := conf.StateOf(ctx, place.Agent, place.Workspace)
	if err != nil {
		return nil
	}
	indexed, err := kioku.IndexedWorkspace(ctx, state, place.Agent)
	switch {
	case err == nil && indexed == "" && place.Found == config.ByMarkdown:
		return checkSize(ctx, conf, place.Workspace)
	case err != nil, indexed == "", n == ToTakeOver, files.SameFolder(indexed, place.Workspace):
		return nil
	}
	for _, dir := range []string{indexed, place.Workspace} {
		if _, err := os.Stat(dir); err != nil {
			return nil
		}
	}
	return fmt.Errorf("the index of agent %s belongs to %s, not to %s; choose another state folder with --state, another --agent, "+
		"or run kioku index to give it to this folder", place.Agent, indexed, place.Workspace)
}

// checkSize returns an error if more than maxUnnamed files of a folder would be indexed.
func checkSize(ctx context.Context, conf *config.Config, dir string) error {
	conf, err := conf.ForFolder(dir)
	if err != nil {
		return err
	}
	more, err := Files(conf, dir).HasMoreThan(ctx, maxUnnamed)
	if err != nil || !more {
		return err
	}
	return render.Misuse("%s has more than %d Markdown files and no index yet, so nothing was indexed or written; if you mean it, run "+
		"kioku index --workspace %s once, else go to the folder of your notes", dir, maxUnnamed, render.ShellQuote(dir))
}

// Files returns an indexer that tells which files of a folder are indexed. It cannot index them.
func Files(conf *config.Config, dir string) *indexer.Indexer {
	state, _ := conf.StateDir() // without one, nothing of it is in the folder
	return indexer.New(nil, nil, indexer.Options{
		Workspace: dir, StateDir: state, Now: time.Now,
		Settings: indexer.Settings{Include: conf.Include(), Exclude: conf.Exclude(), ExtraPaths: conf.Index.ExtraPaths},
	})
}

// MemoryPath returns a path as the memory names it, relative if it is in the workspace. A path that begins with "./" or "../"
// counts from the working directory if that is in the workspace. A path that names no file is returned unchanged, and so is
// the URI of one; the service reads or refuses it.
func (c *Client) MemoryPath(name string) string {
	if name == "" || strings.HasSuffix(name, "/") || strings.Contains(name, "://") {
		return name
	}
	if strings.HasPrefix(name, "./") || strings.HasPrefix(name, "../") {
		if rel, ok := inFolder(c.Workspace, filepath.Join(c.from.Conf.Dir(), name)); ok {
			return filepath.ToSlash(rel)
		}
	}
	if name = path.Clean(name); !filepath.IsAbs(name) {
		return name
	}
	if rel, ok := inFolder(c.Workspace, name); ok {
		return filepath.ToSlash(rel)
	}
	return name
}

// inFolder returns the path of a file relative to a folder that contains it, also through symbolic links.
func inFolder(folder, file string) (rel string, ok bool) {
	if rel, err := filepath.Rel(folder, file); err == nil && filepath.IsLocal(rel) {
		return rel, true
	}
	realFolder, err := filepath.EvalSymlinks(folder)
	if err != nil {
		return "", false
	}
	realParent, err := filepath.EvalSymlinks(filepath.Dir(file))
	if err != nil {
		return "", false
	}
	rel, err = filepath.Rel(realFolder, filepath.Join(realParent, filepath.Base(file)))
	return rel, err == nil && filepath.IsLocal(rel)
}
