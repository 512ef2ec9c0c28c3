package store

import (
	"context"
	"database/sql"
	"fmt"
	"maps"
	"slices"
	"strings"

	"kioku/chunker"
	"kioku/internal/text"
	"kioku/memory"
)

const (
	selectLinksOf = `SELECT f.path, l.line, l.text, l.target, l.kind FROM links l JOIN files f ON f.id = l.file
		WHERE f.path = ? ORDER BY l.rowid`
	// selectLinksTo reads the links whose targets may be one of the names of a JSON array.
	selectLinksTo = `SELECT f.path, l.line, l.text, l.target, l.kind FROM json_each(?) j CROSS JOIN links l ON l.name = j.value
		CROSS JOIN files f ON f.id = l.file ORDER BY f.path, l.line, l.rowid`
	selectNamed = `SELECT f.path, f.title, f.aliases FROM aka a CROSS JOIN files f ON f.id = a.file WHERE a.name = ?`
	selectAka   = `SELECT a.name FROM aka a WHERE a.file = (SELECT id FROM files WHERE path = ?)`
)

// Links returns the links of a file, given by its path or a name that a link to it may have, and the links to it. It returns
// memory.ErrNotFound if the index has no such file.
func (s *Store) Links(ctx context.Context, name string) (links memory.Links, err error) {
	err = s.read(ctx, "read links", func(tx *sql.Tx, _ meta) error {
		r := linkResolver{q: tx, named: map[string]*namedFiles{}}
		found, err := r.only(ctx, name)
		if err != nil {
			return err
		}
		links = memory.Links{Path: found}
		links.Out, err = r.readLinks(ctx, func(memory.Link) bool { return true }, selectLinksOf, found)
		if err != nil {
			return err
		}
		names, err := column[string](ctx, tx, selectAka, found)
		if err != nil {
			return err
		}
		links.In, err = r.readLinks(ctx, func(l memory.Link) bool { return l.To == found && l.From != found }, selectLinksTo, array(names))
		return err
	})
	return links, err
}

// only returns the path of the one file that a person means by a name. It returns memory.ErrNotFound if there is none, and a
// *memory.InputError that lists them if there are several in different folders.
func (r *linkResolver) only(ctx context.Context, name string) (string, error) {
	files, err := r.lookUp(ctx, akaOf(name))
	if err != nil {
		return "", err
	}
	link := memory.Link{Target: name, Kind: chunker.WikiLink}
	same := files.fitting(link)
	if same == nil {
		return "", memory.ErrNotFound
	}
	found := files.find(link)
	if len(same.in) > 1 && found != name && text.WithoutMarkdown(found) != name {
		return "", ambiguous(name, slices.Collect(maps.Values(same.in)))
	}
	return found, nil
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

// linkResolver finds the files that links mean, in one snapshot.
type linkResolver struct {
	q queryer
	// named contains the files of each name that was looked up.
	named map[string]*namedFiles
}

// readLinks returns those of the links that a query selects that keep returns true for, with the files that they mean.
func (r *linkResolver) readLinks(ctx context.Context, keep func(memory.Link) bool, query string, arg any) ([]memory.Link, error) {
	var links []memory.Link
	err := forEachRow(ctx, r.q, func(rows *sql.Rows) error {
		var l memory.Link
		err := rows.Scan(&l.From, &l.Line, &l.Text, &l.Target, &l.Kind)
		if err == nil {
			l.To, err = r.resolve(ctx, l)
		}
		if err == nil && keep(l) {
			links = append(links, l)
		}
		return err
	}, query, arg)
	if err == nil {
		err = ctx.Err()
	}
	return links, err
}

// resolve returns the path of the file that a link means, "" if there is none; see namedFiles.find.
func (r *linkResolver) resolve(ctx context.Context, l memory.Link) (string, error) {
	files, err := r.lookUp(ctx, akaOf(l.Target))
	if err != nil {
		return "", err
	}
	return files.find(l), nil
}

// lookUp returns the files with a name in the table aka.
func (r *linkResolver) lookUp(ctx context.Context, name string) (*namedFiles, error) {
	if files, ok := r.named[name]; ok {
		return files, nil
	}
	files := newNamedFiles()
	err := forEachRow(ctx, r.q, func(rows *sql.Rows) error {
		var path, title string
		var aliases []string
		err := rows.Scan(&path, &title, jsonColumn{&aliases})
		files.add(path, title, aliases)
		return err
	}, selectNamed, name)
	if err != nil {
		return nil, fmt.Errorf("look up %q: %w", name, err)
	}
	r.named[name] = files
	return files, nil
}
