package kioku

import (
	"errors"
	"io/fs"
	"os"
	"path"
	"strings"

	"golang.org/x/text/unicode/norm"

	"kioku/internal/safefile"
)

// sameName returns the path of the file that a path means. That is the path itself if there is such a file. Otherwise it is the
// only file whose path is the same but for the composition of its characters: macOS, and archives from there, may write "é" as
// "e" and an accent, which looks the same and is another name on Linux. If there is none, sameName returns the path itself.
func (m *Memory) sameName(p string) string {
	dir, rel, ok := m.indexer.Owns(p)
	if !ok {
		return p
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return p
	}
	defer root.Close()
	if _, err := root.Lstat(rel); !errors.Is(err, fs.ErrNotExist) {
		return p
	}
	found := "."
	for name := range strings.SplitSeq(rel, "/") {
		entry, ok := sameEntry(root, found, name)
		if !ok {
			return p
		}
		found = path.Join(found, entry)
	}
	return strings.TrimSuffix(p, rel) + found
}

// sameEntry returns the entry of a folder with a name, or the only one whose name is the same but for its composition.
func sameEntry(root *os.Root, dir, name string) (entry string, ok bool) {
	if _, err := root.Lstat(path.Join(dir, name)); err == nil {
		return name, true
	}
	folder, err := safefile.OpenFolder(root, dir)
	if err != nil {
		return "", false
	}
	defer folder.Close()
	f, err := folder.Open(".")
	if err != nil {
		return "", false
	}
	defer f.Close()
	names, err := f.Readdirnames(-1)
	if err != nil {
		return "", false
	}
	want := norm.NFC.String(name)
	for _, other := range names {
		if norm.NFC.String(other) == want {
			if ok {
				return "", false // two of them; only the exact name tells them apart
			}
			entry, ok = other, true
		}
	}
	return entry, ok
}
