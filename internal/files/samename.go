package files

import (
	"errors"
	"io/fs"
	"os"
	"path"
	"strings"

	"golang.org/x/text/unicode/norm"
)

// SameName returns the path of the file or folder that a path means, and whether there is one: the path itself, or else the only one that is
// the same but for the composition of its characters.
func SameName(root *os.Root, rel string) (found string, ok bool) {
	if _, err := root.Lstat(rel); err == nil || errors.Is(err, fs.ErrPermission) {
		return rel, true
	}
	found = "."
	for name := range strings.SplitSeq(rel, "/") {
		entry, ok := sameEntry(root, found, name)
		if !ok {
			return "", false
		}
		found = path.Join(found, entry)
	}
	return found, true
}

// sameEntry returns the entry of a folder with a name, or the only one whose name is the same but for its composition.
func sameEntry(root *os.Root, dir, name string) (entry string, ok bool) {
	if _, err := root.Lstat(path.Join(dir, name)); err == nil {
		return name, true
	}
	folder, err := OpenFolder(root, dir)
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
