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

// ignoreFile is the name of files with patterns in gitignore syntax. They apply to their folder and all below it.
const ignoreFile = ".kiokuignore"

// ignoreFileLimit is the maximum size of an ignore file in bytes. A larger one is a mistake, and each pattern costs time for
// each file.
const ignoreFileLimit = 64 << 10

// ignoredFolders are well-known folders of tools. Names that start with a dot are ignored anyway.
var ignoredFolders = map[string]bool{"node_modules": true, "venv": true, "__pycache__": true}

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

// ignoredPath reports whether any component of a path with "/" has an ignored name.
func ignoredPath(rel string) bool {
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

// ignores contains the ignore files of one root. Folders are paths in it; "." is the root itself.
type ignores struct {
	root   *os.Root
	levels map[string]*gitignore.Matcher // nil for a folder without an ignore file
	// free is the last folder that was found to have no ignore file in or above it; empty if there was none. Most files need
	// no look-ups in the folders above because of it.
	free string
}

func newIgnores(root *os.Root) *ignores {
	return &ignores{root: root, levels: map[string]*gitignore.Matcher{}}
}

// match reports whether an ignore file in the folder of rel or above excludes rel. The deepest one with a matching pattern
// decides. It returns an error if an ignore file cannot be read.
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
func (g *ignores) absent(dir string) { g.levels[dir] = nil }

// level returns the patterns of the ignore file in dir; nil if there is none.
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

// complaint returns what is wrong with the ignore file in dir; empty if nothing is.
func (g *ignores) complaint(dir string) string {
	m := g.levels[dir]
	if m == nil || len(m.Errors()) == 0 {
		return ""
	}
	first := m.Errors()[0]
	return fmt.Sprintf("line %d: %s", first.Line, printable(first.Message))
}

// skipReason returns the reason for skipping a file that could not be read.
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
