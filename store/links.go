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
// memory.ErrNotFound if the index has no such file.
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
	r := linkResolver{q: tx, named: map[string]*namedFiles{}}
	found, err := r.resolve(ctx, memory.Link{Target: name, Kind: chunker.WikiLink})
	if err != nil || found == "" {
		return memory.Links{}, cmp.Or(err, memory.ErrNotFound)
	}
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
	named map[string]*namedFiles
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
// ends with the target, else the one with this title, else the one with this alias; without case, unless there is one with just
// this path. Of several files it is one in the folder of the link, else the one with the shortest path. A link with a path means
// another place only if it has no folder or begins with a slash.
func (r *linkResolver) resolve(ctx context.Context, l memory.Link) (string, error) {
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
		return "", err
	}
	exact := strings.Trim(strings.TrimSuffix(l.Target, ".md"), "/") + ".md"
	if files.paths[exact] {
		return exact, nil
	}
	choices := []choice{files.byPath[target], files.byFolder[target]}
	if end != "" {
		choices = append(choices, files.endingWith(end)...)
	}
	if l.Kind != chunker.PathLink {
		choices = append(choices, files.byTitle[target], files.byAlias[target])
	}
	for _, c := range choices {
		if found := c.nearest(l.From); found != "" {
			return found, nil
		}
	}
	return "", nil
}

// lookUp returns the files with a name in the table aka.
func (r *linkResolver) lookUp(ctx context.Context, name string) (*namedFiles, error) {
	if files, ok := r.named[name]; ok {
		return files, nil
	}
	files := newNamedFiles()
	err := forEachRow(ctx, r.q, func(rows *sql.Rows) error {
		var file, title string
		var list sql.RawBytes
		var aliases []string
		if err := rows.Scan(&file, &title, &list); err != nil {
			return err
		}
		if err := json.Unmarshal(list, &aliases); err != nil {
			return errors.Join(errDamaged, err)
		}
		files.add(file, title, aliases)
		return nil
	}, selectNamed, name)
	if err != nil {
		return nil, fmt.Errorf("look up %q: %w", name, err)
	}
	r.named[name] = files
	return files, nil
}
