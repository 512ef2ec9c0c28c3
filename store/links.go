package store

import (
	"cmp"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	"kioku/chunker"
	"kioku/memory"
)

const (
	selectLinksOf = `SELECT f.path, l.line, l.text, l.target, l.kind FROM links l JOIN files f ON f.id = l.file
		WHERE f.path = ? AND f.out_of_scope = 0 ORDER BY l.rowid`
	// selectLinksTo reads the links whose targets may be one of the names of a JSON array.
	selectLinksTo = `SELECT f.path, l.line, l.text, l.target, l.kind FROM json_each(?) j CROSS JOIN links l ON l.name = j.value
		CROSS JOIN files f ON f.id = l.file WHERE f.out_of_scope = 0 ORDER BY f.path, l.line, l.rowid`
	selectNamed = `SELECT f.path, f.title, f.aliases FROM aka a CROSS JOIN files f ON f.id = a.file WHERE a.name = ? AND f.out_of_scope = 0`
	selectAka   = `SELECT a.name FROM aka a WHERE a.file = (SELECT id FROM files WHERE path = ?)`
)

// Links returns the links of a file, given by its path or a name that a link to it may have, and the links to it. It returns
// memory.ErrNotFound if the index has no such file, and a *memory.InputError that lists the files if the name fits several alike.
func (s *Store) Links(ctx context.Context, name string) (memory.Links, error) {
	return use(ctx, s, func(x *index) (memory.Links, error) { return x.linksOf(ctx, name) })
}

// linksOf implements Store.Links.
func (x *index) linksOf(ctx context.Context, name string) (memory.Links, error) {
	tx, _, err := x.snapshot(ctx)
	if err != nil {
		return memory.Links{}, err
	}
	defer tx.Rollback()
	r := linkResolver{q: tx, named: map[string][]namedFile{}}
	files, err := r.fitting(ctx, memory.Link{Target: name, Kind: chunker.WikiLink})
	switch {
	case err != nil:
		return memory.Links{}, err
	case len(files) == 0:
		return memory.Links{}, memory.ErrNotFound
	case len(files) > 1:
		return memory.Links{}, ambiguous(name, files)
	}
	found := files[0]
	links := memory.Links{Path: found}
	if links.Out, err = r.readLinks(ctx, selectLinksOf, found); err != nil {
		return memory.Links{}, err
	}
	names, err := r.namesOf(ctx, found)
	if err != nil {
		return memory.Links{}, err
	}
	in, err := r.readLinks(ctx, selectLinksTo, names)
	links.In = slices.DeleteFunc(in, func(l memory.Link) bool { return l.To != found || l.From == found })
	return links, err
}

// linkResolver finds the files that links mean, in one snapshot.
type linkResolver struct {
	q queryer
	// named contains the files of each name that was looked up.
	named map[string][]namedFile
}

// namedFile is a file with all that a link may call it, in lower case.
type namedFile struct {
	path    string
	folded  string // path without .md
	title   string
	aliases []string
}

// readLinks returns the links that a query selects, with the files that they mean.
func (r *linkResolver) readLinks(ctx context.Context, query string, arg any) ([]memory.Link, error) {
	var links []memory.Link
	err := forEachRow(ctx, r.q, func(rows *sql.Rows) error {
		var l memory.Link
		err := rows.Scan(&l.From, &l.Line, &l.Text, &l.Target, &l.Kind)
		links = append(links, l)
		return err
	}, query, arg)
	if err != nil {
		return nil, fmt.Errorf("read links: %w", err)
	}
	for i := range links {
		if links[i].To, err = r.resolve(ctx, links[i]); err != nil {
			return nil, err
		}
	}
	return links, nil
}

// namesOf returns all names of a file in the table aka, as a JSON array.
func (r *linkResolver) namesOf(ctx context.Context, path string) (string, error) {
	var names []string
	err := forEachRow(ctx, r.q, func(rows *sql.Rows) error {
		var name string
		err := rows.Scan(&name)
		names = append(names, name)
		return err
	}, selectAka, path)
	if err != nil {
		return "", fmt.Errorf("read names of %s: %w", path, err)
	}
	return jsonList(names)
}

// resolve returns the path of the file that a link means, "" if there is none: the file with this path, else the one whose path
// ends with the target, else the one with this title, else the one with this alias. Of several files it is one in the folder
// of the link, else the one with the shortest path. A link with a path means another place only if it has no folder or begins
// with a slash.
func (r *linkResolver) resolve(ctx context.Context, l memory.Link) (string, error) {
	files, err := r.fitting(ctx, l)
	best := ""
	for _, f := range files {
		if best == "" || nearer(l.From, f, best) {
			best = f
		}
	}
	return best, err
}

// fitting returns the paths of the files that fit a link best, in the order of resolve, but for the folder of the link.
func (r *linkResolver) fitting(ctx context.Context, l memory.Link) ([]string, error) {
	target := strings.Trim(strings.TrimSuffix(folded(l.Target), ".md"), "/")
	end := target
	switch {
	case l.Kind == chunker.PathLink && path.Dir(l.Target) == path.Dir(l.From):
		end = path.Base(target)
	case l.Kind == chunker.PathLink && !path.IsAbs(l.Target):
		end = ""
	}
	files, err := r.lookUp(ctx, akaOf(l.Target))
	if err != nil || target == "" {
		return nil, err
	}
	var best []string
	rank := 0
	for _, f := range files {
		switch n := f.rankFor(target, end, l.Kind != chunker.PathLink); {
		case n == 0 || rank > 0 && n > rank:
		case n == rank:
			best = append(best, f.path)
		default:
			best, rank = []string{f.path}, n
		}
	}
	return best, nil
}

// maxListed is the maximum number of files that the error of an ambiguous name lists.
const maxListed = 8

// ambiguous returns the error of a name that several files have.
func ambiguous(name string, files []string) error {
	slices.Sort(files)
	more := ""
	if len(files) > maxListed {
		more = fmt.Sprintf(" and %d more", len(files)-maxListed)
	}
	return &memory.InputError{Field: "path", Problem: fmt.Sprintf("%q is the name of %d files, so give the path of one: %s%s",
		name, len(files), strings.Join(files[:min(len(files), maxListed)], ", "), more)}
}

// rankFor returns how well a file fits a target, 1 for best; 0 if it does not. end is how its path may end instead, "" for
// nothing, and named allows titles and aliases.
func (f namedFile) rankFor(target, end string, named bool) int {
	own := strings.TrimPrefix(f.folded, "/")
	folder := ""
	if isIndex(own) {
		folder = path.Dir(own)
	}
	switch {
	case own == target:
		return 1
	case folder == target:
		return 2
	case end != "" && strings.HasSuffix(own, "/"+end):
		return 3
	case end != "" && strings.HasSuffix(folder, "/"+end):
		return 4
	case named && f.title == target:
		return 5
	case named && slices.Contains(f.aliases, target):
		return 6
	}
	return 0
}

// isIndex reports whether a path in lower case, without .md, is of the file that a link to its folder means.
func isIndex(p string) bool {
	switch path.Base(p) {
	case "index", "_index", "readme":
		return true
	}
	return false
}

// nearer reports whether a link in a file rather means the file a than b: a is in the same folder, or its path is shorter.
func nearer(from, a, b string) bool {
	here := func(p string) int {
		if path.Dir(p) == path.Dir(from) {
			return 0
		}
		return 1
	}
	return cmp.Or(here(a)-here(b), len(a)-len(b), strings.Compare(a, b)) < 0
}

// lookUp returns the files with a name in the table aka.
func (r *linkResolver) lookUp(ctx context.Context, name string) ([]namedFile, error) {
	if files, ok := r.named[name]; ok {
		return files, nil
	}
	files := []namedFile{}
	err := forEachRow(ctx, r.q, func(rows *sql.Rows) error {
		var f namedFile
		var aliases sql.RawBytes
		if err := rows.Scan(&f.path, &f.title, &aliases); err != nil {
			return err
		}
		if err := json.Unmarshal(aliases, &f.aliases); err != nil {
			return errors.Join(errDamaged, err)
		}
		f.folded, f.title = strings.TrimSuffix(folded(f.path), ".md"), folded(f.title)
		for i, alias := range f.aliases {
			f.aliases[i] = folded(alias)
		}
		files = append(files, f)
		return nil
	}, selectNamed, name)
	if err != nil {
		return nil, fmt.Errorf("look up %q: %w", name, err)
	}
	r.named[name] = files
	return files, nil
}
