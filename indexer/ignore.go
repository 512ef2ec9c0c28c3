package indexer

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"kioku/internal/files"
)

// ignoreFile is the name of git's ignore files. They apply to what globs include, and not to memory/, since a folder of notes made for Kioku
// is often kept out of a repository.
const ignoreFile = ".gitignore"

// formerIgnoreFile is the name of files of patterns that earlier versions read.
const formerIgnoreFile = ".kiokuignore"

// ignoreFileLimit is the maximum size of an ignore file in bytes. A larger one is a mistake, and each pattern costs time for
// each file.
const ignoreFileLimit = 64 << 10

// ignoredFolders are well-known folders of tools. Names that start with a dot are ignored anyway.
var ignoredFolders = map[string]bool{"node_modules": true, "venv": true, "__pycache__": true,
	"#recycle": true, "@Recycle": true, "@eaDir": true, "$RECYCLE.BIN": true, "System Volume Information": true}

// sedTemp matches the temporary files of sed -i.
var sedTemp = regexp.MustCompile(`^sed[A-Za-z0-9]{6}$`)

// ignoredName reports whether files and folders of this name are ignored: hidden ones, folders of tools, and what editors
// write beside a file.
func ignoredName(name string) bool {
	switch {
	case strings.HasPrefix(name, "."), ignoredFolders[name], name == "4913":
		return true
	case strings.HasSuffix(name, "~"), strings.HasSuffix(name, ".tmp"):
		return true
	case strings.HasPrefix(name, "#") && strings.HasSuffix(name, "#"):
		return true
	}
	return len(name) == 9 && sedTemp.MatchString(name)
}

// ignoredPath reports whether any component of a path with "/" has an ignored name, or is a folder of backups.
func ignoredPath(rel string) bool {
	for dir := rel; dir != "." && dir != "/"; dir = path.Dir(dir) {
		if isBackup(dir) {
			return true
		}
	}
	for name := range strings.SplitSeq(rel, "/") {
		if name != "." && ignoredName(name) {
			return true
		}
	}
	return false
}

// badName returns why a name must not be used in messages, which are UTF-8, and in lists with one line for each file. It
// returns "" for a good name.
func badName(name string) string {
	if !utf8.ValidString(name) {
		return "name is not valid UTF-8"
	}
	if strings.ContainsFunc(name, unicode.IsControl) {
		return "control character in the name"
	}
	return ""
}

// printable returns a name or message with invalid bytes and control characters escaped.
func printable(name string) string {
	if badName(name) == "" {
		return name
	}
	var b strings.Builder
	for i := 0; i < len(name); {
		r, size := utf8.DecodeRuneInString(name[i:])
		switch {
		case r == utf8.RuneError && size == 1, unicode.IsControl(r) && size == 1:
			fmt.Fprintf(&b, `\x%02x`, name[i])
		case unicode.IsControl(r):
			fmt.Fprintf(&b, `\u%04x`, r)
		default:
			b.WriteString(name[i : i+size])
		}
		i += size
	}
	return b.String()
}

// ignores contains the .gitignore files of one root. Folders are paths in it; "." is the root itself.
type ignores struct {
	root   *os.Root
	levels map[string][]ignorePattern // nil for a folder without an ignore file
	// above are the patterns of the git repository that the root is in: from the folders above it, nearest first, and then
	// those of .git/info/exclude. Nil if there are none.
	above []aboveIgnores
	// free is the last folder that was found to have no ignore file in or above it; empty if there was none. Most files need
	// no look-ups in the folders above because of it.
	free string
}

// newIgnores returns the ignore files of a root, which is opened from a target.
func newIgnores(root *os.Root, t target) *ignores {
	return &ignores{root: root, levels: map[string][]ignorePattern{}, above: repositoryIgnores(t.root)}
}

// match reports whether an ignore file in the folder of rel or above excludes rel. The deepest one with a matching pattern
// decides; nil ignores match nothing. It returns an error if an ignore file cannot be read.
func (g *ignores) match(rel string, isDir bool) (bool, error) {
	if g == nil {
		return false, nil
	}
	free := true
	for dir := path.Dir(rel); dir != g.free; dir = path.Dir(dir) {
		m, err := g.level(dir)
		if err != nil {
			return false, err
		}
		if m != nil {
			free = false
			if hit, matched := decide(m, strings.TrimPrefix(rel, dir+"/"), isDir); matched {
				return hit, nil
			}
		}
		if dir == "." {
			break
		}
	}
	if free {
		g.free = path.Dir(rel)
	}
	for i := range g.above {
		if hit, matched := decide(g.above[i].patterns, g.above[i].prefix+rel, isDir); matched {
			return hit, nil
		}
	}
	return false, nil
}

// matchAny calls match for all folders above rel and for rel.
func (g *ignores) matchAny(rel string, isDir bool) (bool, error) {
	for i, c := range rel {
		if c != '/' {
			continue
		}
		if hit, err := g.match(rel[:i], true); hit || err != nil {
			return hit, err
		}
	}
	return g.match(rel, isDir)
}

// absent records that a folder has no ignore file, so that nobody looks for it.
func (g *ignores) absent(dir string) {
	if g != nil {
		g.levels[dir] = nil
	}
}

// level returns the patterns of the ignore file in dir; nil if there is none. Git says nothing of malformed ones either.
func (g *ignores) level(dir string) ([]ignorePattern, error) {
	if m, ok := g.levels[dir]; ok {
		return m, nil
	}
	text, err := readIgnoreFile(g.root, path.Join(dir, ignoreFile))
	if err != nil {
		return nil, err
	}
	g.levels[dir] = parseIgnoreFile(text)
	return g.levels[dir], nil
}

// readIgnoreFile returns the patterns of an ignore file; nil if there is none. Like git, it reads no .gitignore that is not a
// regular file.
func readIgnoreFile(root *os.Root, name string) ([]byte, error) {
	data, _, err := files.Read(root, name, ignoreFileLimit)
	var skip *files.SkipError
	switch {
	case errors.Is(err, fs.ErrNotExist), errors.As(err, &skip) && !isRegular(root, name):
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("%s: %s", path.Base(name), skipReason(err))
	}
	return append([]byte{}, bytes.TrimPrefix(data, []byte("\ufeff"))...), nil
}

// isRegular reports whether a name is that of a regular file.
func isRegular(root *os.Root, name string) bool {
	info, err := root.Lstat(name)
	return err == nil && info.Mode().IsRegular()
}

// skipReason returns the reason for skipping a file that could not be read.
func skipReason(err error) string {
	var skip *files.SkipError
	if errors.As(err, &skip) {
		return skip.Reason
	}
	if errors.Is(err, fs.ErrPermission) {
		return "permission denied"
	}
	var pe *fs.PathError
	if errors.As(err, &pe) {
		return pe.Err.Error()
	}
	return err.Error()
}
