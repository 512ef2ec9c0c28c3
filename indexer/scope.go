package indexer

import (
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"

	"kioku/memory"
)

// outOfScope reports whether an indexed file that the scan did not find is merely outside of what it looked for: other options
// included it, it is still there, and no ignore file excludes it now.
func (s *scan) outOfScope(name string, st Stored) bool {
	switch {
	case st.Skipped != "":
		return false
	case memory.IsTranscript(st.Source):
		return !s.layout.hasTranscripts(st.Source) || s.layout.excludes(name)
	}
	abs := s.layout.abs(name)
	if _, _, ok := s.layout.ownerAmong(s.targets, abs); ok {
		return false // the scan has looked for it
	}
	if path.IsAbs(name) {
		return !isDeleted(abs)
	}
	root := s.openRoot(s.layout.workspace)
	if root.err != nil {
		return true
	}
	if _, err := root.dir.Lstat(filepath.FromSlash(name)); err != nil {
		return false
	}
	hit, err := root.ignores(target{root: s.layout.workspace, git: st.Source == memory.SourceMemory}).matchAny(name, false)
	return !hit || err != nil
}

// isDeleted reports whether a file outside of the workspace is certainly deleted: its folder is there, with other files.
func isDeleted(abs string) bool {
	if _, err := os.Lstat(abs); !errors.Is(err, fs.ErrNotExist) {
		return false
	}
	dir, err := os.OpenRoot(filepath.Dir(abs))
	if err != nil {
		return false
	}
	defer dir.Close()
	return !isEmpty(dir)
}

// addOutOfScope adds the indexed files that are out of scope to the files that were found, so that a rebuild keeps them. It
// leaves out transcripts, since nobody says where these are now, and files that cannot be opened.
func (s *scan) addOutOfScope(stored map[string]Stored) {
	for name, st := range stored {
		if s.byPath[name] || memory.IsTranscript(st.Source) || !s.outOfScope(name, st) {
			continue
		}
		dir, rel := s.layout.workspace, name
		if path.IsAbs(name) {
			dir, rel = path.Split(name)
		}
		root := s.openRoot(filepath.Clean(dir))
		if root.err != nil {
			continue
		}
		if info, err := root.dir.Lstat(rel); err == nil {
			s.byPath[name] = true
			s.files = append(s.files, foundFile{path: name, source: st.Source, root: root.dir, rel: rel, info: info, outOfScope: true})
		}
	}
}
