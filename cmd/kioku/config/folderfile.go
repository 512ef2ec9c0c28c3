package config

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"kioku/indexer"
	"kioku/internal/files"
)

// FolderFile is the name of the file with the settings of a workspace. They go before those of the user's file and after
// variables and flags.
//
// The file belongs to whoever can write to the folder, which may come from elsewhere. So it can say what is indexed and how
// it is ranked, but nothing secret, nothing that runs or reaches out, and nothing outside of the folder.
const FolderFile = indexer.SettingsFile

// maxFolderFileBytes is the maximum size of the file of a workspace.
const maxFolderFileBytes = 64 << 10

// readFolder reads the settings of a workspace if it has any.
func (l *loader) readFolder(dir string) {
	if dir == "" {
		return
	}
	path := filepath.Join(dir, FolderFile)
	data, err := readFolderFile(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return
	}
	if err != nil {
		l.errs = append(l.errs, &Error{Where: path, Problem: err.Error()})
		return
	}
	l.conf.FolderFile = path
	l.parseFolder(path, data)
}

// readFolderFile returns the text of the file of a workspace. A link, and whatever else is not a plain file, is refused.
func readFolderFile(dir string) ([]byte, error) {
	real, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return nil, err
	}
	root, err := files.OpenRoot(real)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	data, _, err := files.Read(root, FolderFile, maxFolderFileBytes)
	var skip *files.SkipError
	if errors.As(err, &skip) {
		err = fmt.Errorf("cannot be used: %w", skip)
	}
	return data, err
}

// parseFolder reads the text of the file of a workspace, and keeps what it sets within the bounds of the user's own settings.
func (l *loader) parseFolder(path string, data []byte) {
	doc, err := parseYAML(path, data)
	if err != nil {
		l.errs = append(l.errs, err)
		return
	}
	if doc == nil {
		return
	}
	most := l.conf.Index.MaxFileBytes
	p := fileParser{loader: l, layer: byFolder, path: path, seen: map[string]string{}}
	p.block(resolve(doc.Content[0]), "")
	if l.conf.origins["maxFileBytes"].layer == byFolder && l.conf.Index.MaxFileBytes > most {
		l.conf.Notices = append(l.conf.Notices, fmt.Sprintf("%s: maxFileBytes is more than the %d of your own settings, which hold",
			l.conf.origins["maxFileBytes"].where, most))
		l.conf.Index.MaxFileBytes = most
	}
	if from := l.conf.origins["local.model"]; from.layer == byFolder && filepath.IsAbs(l.conf.LocalModel) {
		l.fail(from.where, "local.model", errors.New("a workspace may only name a model that was added, not a path"))
	}
	l.keepInside(filepath.Dir(path))
}

// mayStand reports whether a key may stand in the file of a workspace: a setting that is permitted there, or a block with one.
func (p *fileParser) mayStand(key string, f Field) bool {
	return f.inFolder || slices.ContainsFunc(p.conf.registry.fields, func(f Field) bool {
		return f.inFolder && strings.HasPrefix(f.Key, key+".")
	})
}

// refuse reports a key that must not stand in the file of a workspace.
func (p *fileParser) refuse(where, key string, known bool) {
	if !known && !p.conf.registry.isBlock(key) && !slices.Contains(openClawBlocks, key) {
		p.unknown(where, key)
		return
	}
	p.fail(where, key, errors.New("a workspace may not set this: its file says only what is indexed and how it is ranked; "+
		"write it to your own settings with kioku config set"))
}

// keepInside refuses extra paths of the file of a workspace that lead out of the folder, also through symbolic links.
func (l *loader) keepInside(dir string) {
	from := l.conf.origins["extraPaths"]
	if from.layer != byFolder {
		return
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		l.fail(from.where, "extraPaths", err)
		return
	}
	defer root.Close()
	for _, path := range l.conf.Index.ExtraPaths {
		if !filepath.IsLocal(path) || leadsOut(root, path) {
			l.fail(from.where, "extraPaths", fmt.Errorf("%q is outside of the workspace; write it to your own settings with kioku config set", shorten(path)))
		}
	}
}

// leadsOut reports whether a part of a path that exists is a link that leads out of the folder.
func leadsOut(root *os.Root, path string) bool {
	for ; path != "."; path = filepath.Dir(path) {
		_, err := root.Stat(path)
		if err == nil {
			return false
		}
		if info, here := root.Lstat(path); here == nil && info.Mode()&fs.ModeSymlink != 0 {
			return true
		}
	}
	return false
}
