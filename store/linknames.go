package store

import (
	"path"
	"slices"
	"strings"

	"kioku/chunker"
	"kioku/internal/text"
	"kioku/memory"
)

// namedFiles are the files of one name in the table aka, by all that a link may call them. What a link means is found by a
// few look-ups, however many files have the name: each folder of a site may have an index.md.
type namedFiles struct {
	called map[calling]*namesakes
	// spellings are the paths that differ only by case and composition, by their form without either.
	spellings map[string][]string
}

// calling is a way to call a file.
type calling struct {
	how  int    // one of the constants by...
	name string // in lower case, without .md
}

// Ways to call a file, best first: by its path or that of the folder of which it is the index, by the end of either, by its
// title, or by an alias.
const (
	byPath = iota
	byFolder
	byPathEnd
	byFolderEnd
	byTitle
	byAlias
	waysToCall
)

// namesakes are the files that are called the same.
type namesakes struct {
	first string            // the file with the shortest path
	in    map[string]string // the file with the shortest path in each folder
}

func newNamedFiles() *namedFiles {
	return &namedFiles{called: map[calling]*namesakes{}, spellings: map[string][]string{}}
}

// add adds a file.
func (n *namedFiles) add(file, title string, aliases []string) {
	own := linkName(file)
	n.spellings[own] = append(n.spellings[own], file)
	n.call(byPath, own, file)
	for _, end := range pathEnds(own) {
		n.call(byPathEnd, end, file)
	}
	if isIndex(own) {
		n.call(byFolder, path.Dir(own), file)
		for _, end := range pathEnds(path.Dir(own)) {
			n.call(byFolderEnd, end, file)
		}
	}
	if title != "" {
		n.call(byTitle, folded(title), file)
	}
	for _, alias := range aliases {
		n.call(byAlias, folded(alias), file)
	}
}

// call records that a file is called by a name.
func (n *namedFiles) call(how int, name, file string) {
	key, dir := calling{how, name}, path.Dir(file)
	same := n.called[key]
	if same == nil {
		same = &namesakes{first: file, in: map[string]string{}}
		n.called[key] = same
	}
	if shorter(file, same.first) {
		same.first = file
	}
	if here, ok := same.in[dir]; !ok || shorter(file, here) {
		same.in[dir] = file
	}
}

// shorter reports whether a path goes before another one if nothing else decides.
func shorter(a, b string) bool { return len(a) < len(b) || len(a) == len(b) && a < b }

// find returns the path of the file that a link means, "" if there is none: the file with this path, else the one whose path
// ends with the target, else the one with this title, else the one with this alias. Of several files it is one in the folder
// of the link, else the one with the shortest path, and of files that differ only by case or composition the one that is
// spelled as in the link. A link with a path means another place only if it has no folder or begins with a slash.
func (n *namedFiles) find(l memory.Link) string {
	same := n.fitting(l)
	if same == nil {
		return ""
	}
	return n.spelled(same.nearest(l.From), l.Target)
}

// fitting returns the files that a link fits best, nil if it fits none.
func (n *namedFiles) fitting(l memory.Link) *namesakes {
	target := linkName(l.Target)
	if target == "" {
		return nil
	}
	end, named := target, l.Kind != chunker.PathLink
	switch {
	case !named && path.Dir(l.Target) == path.Dir(l.From):
		end = path.Base(target)
	case !named && !path.IsAbs(l.Target):
		end = ""
	}
	names := [waysToCall]string{byPath: target, byFolder: target, byPathEnd: end, byFolderEnd: end}
	if named {
		names[byTitle], names[byAlias] = target, target
	}
	for how, name := range names {
		if same := n.called[calling{how, name}]; same != nil && name != "" {
			return same
		}
	}
	return nil
}

// nearest returns the file that a link in the file from means.
func (s *namesakes) nearest(from string) string {
	if here, ok := s.in[path.Dir(from)]; ok {
		return here
	}
	return s.first
}

// spelled returns a file, or the one that is spelled as a target is and differs from it only by case or composition.
func (n *namedFiles) spelled(file, target string) string {
	spelling := func(f string) int {
		switch {
		case f == target:
			return 0
		case strings.HasSuffix("/"+text.WithoutMarkdown(f), "/"+strings.Trim(text.WithoutMarkdown(target), "/")):
			return 1
		}
		return 2
	}
	best := file
	for _, f := range n.spellings[linkName(file)] {
		if spelling(f) < spelling(best) {
			best = f
		}
	}
	return best
}

// linkName returns a path or the target of a link in lower case, without the extension, and without slashes around it.
func linkName(p string) string { return strings.Trim(text.WithoutMarkdown(folded(p)), "/") }

// pathEnds returns a path and each of its ends that begins behind a slash.
func pathEnds(p string) []string {
	ends := []string{p}
	for i := range len(p) {
		if p[i] == '/' {
			ends = append(ends, p[i+1:])
		}
	}
	return ends
}

// isIndex reports whether a path in lower case, without .md, is of the file that a link to its folder means.
func isIndex(p string) bool {
	return slices.Contains([]string{"index", "_index", "readme"}, path.Base(p))
}
