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

	"github.com/git-pkgs/gitignore"

	"kioku/internal/safefile"
)

// ignoreFile holds patterns in gitignore syntax for the folder it is in and those below.
const ignoreFile = ".kiokuignore"

// ignoreFileLimit bounds an ignore file. A longer one would be a mistake, and each pattern costs time for each file.
const ignoreFileLimit = 64 << 10

// ignoredFolders are the well-known folders of tools; those that start with a dot are hidden anyway.
var ignoredFolders = map[string]bool{"node_modules": true, "venv": true, "__pycache__": true}

// sedTemp matches the temporary files of sed -i.
var sedTemp = regexp.MustCompile(`^sed[A-Za-z0-9]{6}$`)

// ignoredName reports whether a file or folder of this name is never looked at: hidden ones, folders of tools, and
// what editors write beside a file.
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

// ignoredPath reports whether any component of a path with "/" has an ignored name.
func ignoredPath(rel string) bool {
	for name := range strings.SplitSeq(rel, "/") {
		if name != "." && ignoredName(name) {
			return true
		}
	}
	return false
}

// badName returns why a name cannot be passed on, empty if it can: it goes into messages that are UTF-8, and into
// lists with a line for each file.
func badName(name string) string {
	if !utf8.ValidString(name) {
		return "name is not valid UTF-8"
	}
	if strings.ContainsFunc(name, unicode.IsControl) {
		return "control character in the name"
	}
	return ""
}

// printable returns a name with its bad bytes and control characters written as escapes.
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

// ignores knows the ignore files of one root. Folders are named by their path in it, the root itself by ".".
type ignores struct {
	root   *os.Root
	levels map[string]*gitignore.Matcher // nil where a folder has no ignore file
	// free is a folder that no ignore file counts for, the last one that was found; empty where none was. It spares most
	// files the way up to the root.
	free string
}

func newIgnores(root *os.Root) *ignores {
	return &ignores{root: root, levels: map[string]*gitignore.Matcher{}}
}

// match reports whether an ignore file in the folder of rel, or above it, excludes rel. The deepest file with a
// pattern that matches decides. An ignore file that cannot be read is an error: what it keeps out is not known.
func (g *ignores) match(rel string, isDir bool) (bool, error) {
	free := true
	for dir := path.Dir(rel); dir != g.free; dir = path.Dir(dir) {
		m, err := g.level(dir)
		if err != nil {
			return false, err
		}
		if m != nil {
			free = false
			below := strings.TrimPrefix(rel, dir+"/")
			if isDir {
				below += "/"
			}
			if res := m.MatchDetail(below); res.Matched {
				return res.Ignored, nil
			}
		}
		if dir == "." {
			break
		}
	}
	if free {
		g.free = path.Dir(rel)
	}
	return false, nil
}

// matchAny is match for rel and all folders on the way to it.
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

// absent notes that a folder has no ignore file, which saves looking for it.
func (g *ignores) absent(dir string) { g.levels[dir] = nil }

// level returns the patterns of the ignore file in dir, nil where there is none.
func (g *ignores) level(dir string) (*gitignore.Matcher, error) {
	if m, ok := g.levels[dir]; ok {
		return m, nil
	}
	data, _, err := safefile.Read(g.root, path.Join(dir, ignoreFile), ignoreFileLimit)
	if errors.Is(err, fs.ErrNotExist) {
		g.absent(dir)
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %s", ignoreFile, skipReason(err))
	}
	m := &gitignore.Matcher{}
	m.AddPatterns(bytes.TrimPrefix(data, []byte("\ufeff")), "")
	g.levels[dir] = m
	return m, nil
}

// complaint returns what is wrong with the ignore file in dir, empty if nothing is.
func (g *ignores) complaint(dir string) string {
	m := g.levels[dir]
	if m == nil || len(m.Errors()) == 0 {
		return ""
	}
	first := m.Errors()[0]
	return fmt.Sprintf("line %d: %s", first.Line, first.Message)
}

// skipReason puts an error into the words of a skipped file.
func skipReason(err error) string {
	var skip *safefile.SkipError
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
