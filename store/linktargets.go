package store

import (
	"cmp"
	"path"
	"slices"
	"strings"
)

// namedFiles are the files of one name in the table aka, by all that a link may call them, in lower case. A link is resolved by
// look-ups, because in some folders every file has the same name, such as index.md.
type namedFiles struct {
	// paths are the paths as they are.
	paths map[string]bool
	// byPath has paths without .md, byFolder the folders of files that a link to the folder means, byTitle and byAlias the rest.
	byPath, byFolder, byTitle, byAlias map[string]choice
	// ends are the choices of endingWith by the end.
	ends map[string][]choice
}

// choice is the files that a link may mean, all equally well.
type choice struct {
	// first is the file with the shortest path, empty if there is none, and inFolder one file of each folder.
	first    string
	inFolder map[string]string
}

// newNamedFiles returns no files.
func newNamedFiles() *namedFiles {
	return &namedFiles{paths: map[string]bool{}, byPath: map[string]choice{}, byFolder: map[string]choice{},
		byTitle: map[string]choice{}, byAlias: map[string]choice{}, ends: map[string][]choice{}}
}

// add adds a file.
func (n *namedFiles) add(file, title string, aliases []string) {
	n.paths[file] = true
	own := strings.TrimPrefix(strings.TrimSuffix(folded(file), ".md"), "/")
	addChoice(n.byPath, own, file)
	if isIndex(own) {
		addChoice(n.byFolder, path.Dir(own), file)
	}
	addChoice(n.byTitle, folded(title), file)
	for _, alias := range aliases {
		addChoice(n.byAlias, folded(alias), file)
	}
}

// addChoice adds a file to the choices of a name.
func addChoice(choices map[string]choice, name, file string) {
	c := choices[name]
	c.add(file)
	choices[name] = c
}

// endingWith returns the files whose paths end with a path, and those of which the folder does.
func (n *namedFiles) endingWith(end string) []choice {
	if found, ok := n.ends[end]; ok {
		return found
	}
	found := []choice{endingIn(n.byPath, end), endingIn(n.byFolder, end)}
	n.ends[end] = found
	return found
}

// endingIn joins the choices whose names end with a path, but are longer.
func endingIn(choices map[string]choice, end string) choice {
	var joined choice
	for name, c := range choices {
		if strings.HasSuffix(name, "/"+end) {
			for _, file := range c.inFolder {
				joined.add(file)
			}
		}
	}
	return joined
}

// add adds a file.
func (c *choice) add(file string) {
	if c.inFolder == nil {
		c.inFolder = map[string]string{}
	}
	c.first = shorterPath(c.first, file)
	folder := path.Dir(file)
	c.inFolder[folder] = shorterPath(c.inFolder[folder], file)
}

// nearest returns the file that a link in another file means: one of the same folder, else the one with the shortest path; empty
// if there is no file.
func (c choice) nearest(from string) string {
	return cmp.Or(c.inFolder[path.Dir(from)], c.first)
}

// shorterPath returns the shorter path of two, of which the first may be empty.
func shorterPath(a, b string) string {
	if a == "" || cmp.Or(len(a)-len(b), strings.Compare(a, b)) > 0 {
		return b
	}
	return a
}

// isIndex reports whether a path in lower case, without .md, is of the file that a link to its folder means.
func isIndex(p string) bool {
	return slices.Contains([]string{"index", "_index", "readme"}, path.Base(p))
}
