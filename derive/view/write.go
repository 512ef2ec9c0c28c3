package view

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"regexp"
	"slices"
	"strings"
	"syscall"

	"kioku/internal/files"
)

const (
	// maxBytes bounds what is read of a file in the folder of the views.
	maxBytes = 32 << 20
	// checksumDigits is the length of a checksum.
	checksumDigits = 32
)

// folders of the views, in the folder of all of them.
var folders = []string{".", "people", "topics", "week"}

// Result says what Write has done. All paths are in the folder of the views, in alphabetical order.
type Result struct {
	// Written and Removed files.
	Written, Removed []string
	// Edited files have a name that a view needs, or are views that are no longer needed, and are left alone: a person has edited
	// them, or they are no plain files.
	Edited []string
}

// head returns the front matter of a view.
func head(rel string, body []byte) []byte {
	h := sha256.New()
	fmt.Fprintf(h, "%s\n%s", rel, body)
	return fmt.Appendf(nil, "---\nkioku: derived\nchecksum: %s\n---\n", hex.EncodeToString(h.Sum(nil))[:checksumDigits])
}

// frontMatter is what head returns.
var frontMatter = regexp.MustCompile(`^---\nkioku: derived\nchecksum: [0-9a-f]{32}\n---\n`)

// seal returns a view with its front matter.
func seal(rel string, body []byte) []byte { return append(head(rel, body), body...) }

// unedited reports whether a file is a view as it was written at its place.
func unedited(rel string, data []byte) bool {
	end := frontMatter.FindIndex(data)
	return end != nil && bytes.Equal(data[:end[1]], head(rel, data[end[1]:]))
}

// Write brings the folder dir of root in step with the views of [Render]: it writes those that differ, whole, and removes the views
// that are no longer among them. It never touches a file that it has not written or that somebody has edited, and follows no symbolic
// link. It returns what it has done also with an error.
func Write(root *os.Root, dir string, files map[string][]byte) (Result, error) {
	var result Result
	folder, err := makeFolder(root, dir)
	if err != nil {
		return result, fmt.Errorf("open the folder %s of views: %w", dir, err)
	}
	defer folder.Close()
	for _, rel := range slices.Sorted(maps.Keys(files)) {
		if err := result.write(folder, rel, files[rel]); err != nil {
			return result, fmt.Errorf("write the view %s: %w", path.Join(dir, rel), err)
		}
	}
	for _, sub := range folders {
		if err := result.clean(folder, sub, files); err != nil {
			return result, fmt.Errorf("remove old views in %s: %w", path.Join(dir, sub), err)
		}
	}
	slices.Sort(result.Edited)
	return result, nil
}

// makeFolder opens a folder and creates it, and those above it, if they are missing.
func makeFolder(root *os.Root, dir string) (*os.Root, error) {
	at, err := root.OpenRoot(".")
	if err != nil {
		return nil, err
	}
	for name := range strings.SplitSeq(path.Clean(dir), "/") {
		next, err := files.OpenFolder(at, name)
		if errors.Is(err, fs.ErrNotExist) {
			if err = at.Mkdir(name, 0o755); err == nil || errors.Is(err, fs.ErrExist) {
				next, err = files.OpenFolder(at, name)
			}
		}
		at.Close()
		if err != nil {
			return nil, err
		}
		at = next
	}
	return at, nil
}

// write writes a view unless it is there already, or somebody else's file is in its place.
func (r *Result) write(folder *os.Root, rel string, data []byte) error {
	have, err := read(folder, rel)
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case isForeign(err):
		r.Edited = append(r.Edited, rel)
		return nil
	case err != nil:
		return err
	case bytes.Equal(have, data):
		return nil
	case !unedited(rel, have):
		r.Edited = append(r.Edited, rel)
		return nil
	}
	sub, err := makeFolder(folder, path.Dir(rel))
	if isForeign(err) {
		r.Edited = append(r.Edited, rel)
		return nil
	}
	if err != nil {
		return err
	}
	defer sub.Close()
	err = files.WriteIf(sub, path.Base(rel), data, 0o644, func() error {
		if now, err := read(folder, rel); err == nil && !bytes.Equal(now, have) {
			return errEdited
		}
		return nil
	})
	if errors.Is(err, errEdited) {
		r.Edited = append(r.Edited, rel)
		return nil
	}
	if err == nil {
		r.Written = append(r.Written, rel)
	}
	return err
}

// isForeign reports whether something else than a plain file, or than a folder above it, is in the way.
func isForeign(err error) bool {
	_, refused := errors.AsType[*files.SkipError](err)
	return refused || errors.Is(err, syscall.ENOTDIR)
}

// errEdited: somebody has written into the file just now.
var errEdited = errors.New("it has changed meanwhile")

func read(folder *os.Root, rel string) ([]byte, error) {
	data, _, err := files.Read(folder, rel, maxBytes)
	return data, err
}

// clean removes the views of a folder that are not among views, and the folder if it is empty then.
func (r *Result) clean(folder *os.Root, sub string, views map[string][]byte) error {
	at, err := files.OpenFolder(folder, sub)
	if errors.Is(err, fs.ErrNotExist) || isForeign(err) {
		return nil // there is no such folder of ours
	}
	if err != nil {
		return err
	}
	entries, err := fs.ReadDir(at.FS(), ".")
	at.Close()
	if err != nil {
		return err
	}
	left := len(entries)
	for _, e := range entries {
		rel := path.Join(sub, e.Name())
		if _, wanted := views[rel]; wanted || !e.Type().IsRegular() || path.Ext(rel) != ".md" {
			continue
		}
		data, err := read(folder, rel)
		switch {
		case err != nil || !frontMatter.Match(data):
			continue // somebody's own file
		case !unedited(rel, data):
			r.Edited = append(r.Edited, rel)
			continue
		}
		if err := folder.Remove(rel); err != nil {
			return err
		}
		r.Removed = append(r.Removed, rel)
		left--
	}
	if left == 0 && sub != "." {
		_ = folder.Remove(sub) // not if somebody has put a file there meanwhile
	}
	return nil
}
