package store

import (
	"context"
	"encoding/json"
	"path"
	"strconv"
	"strings"

	"golang.org/x/text/unicode/norm"

	"kioku/indexer"
	"kioku/internal/text"
)

const (
	insertFieldSQL  = "INSERT OR IGNORE INTO fields (file, name, value, number, day) VALUES (?, ?, ?, ?, ?)"
	insertAkaSQL    = "INSERT OR IGNORE INTO aka (name, file) VALUES (?, ?)"
	insertOriginSQL = "INSERT INTO origins (file, start_line, end_line, origin) VALUES (?, ?, ?, ?)"
	insertLinkSQL   = "INSERT INTO links (file, line, text, target, kind, name) VALUES (?, ?, ?, ?, ?, ?)"
)

// writeDescription writes the row of a file, its fields, names, origins and links, and returns the id of the file.
func (w *fileWriter) writeDescription(ctx context.Context, f *indexer.File, embedded int) (int64, error) {
	res, err := w.insertFile.ExecContext(ctx, f.Path, f.Source, f.SHA256[:], f.ModTime.UnixNano(), f.Stamp, f.Size, f.Date,
		isEvergreen(f), f.Title, f.Names, f.Folders, array(f.Meta.Aliases), array(f.Tags), f.Skipped, len(f.Chunks), embedded)
	if err != nil {
		return 0, err
	}
	id, err := res.LastInsertId()
	if err != nil || f.Skipped != "" {
		return id, err
	}
	if err := w.writeFields(ctx, id, f); err != nil {
		return id, err
	}
	if err := w.writeAka(ctx, id, f); err != nil {
		return id, err
	}
	for _, o := range f.Origins {
		origin, err := json.Marshal(o.Origin)
		if err != nil {
			return id, err
		}
		if _, err := w.insertOrigin.ExecContext(ctx, id, o.From, o.To, string(origin)); err != nil {
			return id, err
		}
	}
	for _, l := range f.Links {
		if _, err := w.insertLink.ExecContext(ctx, id, l.Line, l.Text, l.Target, l.Kind, akaOf(l.Target)); err != nil {
			return id, err
		}
	}
	return id, nil
}

// Fields that Kioku fills in itself, whether or not the front matter has them.
const (
	fieldTitle   = "title"
	fieldDate    = "date"
	fieldTags    = "tags"
	fieldAliases = "aliases"
	// fieldRemark is what of the file could not be read. No name in a front matter begins with a space.
	fieldRemark = " remark"
)

// writeFields writes the fields of a file.
func (w *fileWriter) writeFields(ctx context.Context, id int64, f *indexer.File) error {
	own := map[string][]string{fieldTitle: nonEmpty(f.Title), fieldDate: nonEmpty(f.Date), fieldTags: f.Tags, fieldAliases: f.Meta.Aliases,
		fieldRemark: nonEmpty(f.Remark)}
	for _, name := range []string{fieldTitle, fieldDate, fieldTags, fieldAliases, fieldRemark} {
		if err := w.writeField(ctx, id, name, own[name]); err != nil {
			return err
		}
	}
	for _, field := range f.Meta.Fields {
		if _, known := own[field.Name]; known {
			continue
		}
		values := field.Values
		if len(values) == 0 {
			values = []string{""}
		}
		if err := w.writeField(ctx, id, field.Name, values); err != nil {
			return err
		}
	}
	return nil
}

// nonEmpty returns a list of a value, nil for "".
func nonEmpty(value string) []string {
	if value == "" {
		return nil
	}
	return []string{value}
}

// writeField writes the values of a field.
func (w *fileWriter) writeField(ctx context.Context, id int64, name string, values []string) error {
	for _, value := range values {
		var number, day any // NULL
		if n, ok := numberOf(value); ok {
			number = n
		}
		if d := text.DayOf(value); d != "" {
			day = d
		}
		kept := folded(value)
		if name == fieldRemark { // which is shown, not searched
			kept = value
		}
		if _, err := w.insertField.ExecContext(ctx, id, name, kept, number, day); err != nil {
			return err
		}
	}
	return nil
}

// numberOf returns the finite number that a value is.
func numberOf(value string) (float64, bool) {
	if value == "" || strings.Trim(value, "0123456789.eE+-") != "" {
		return 0, false
	}
	n, err := strconv.ParseFloat(value, 64)
	return n, err == nil
}

// folded returns a text in a form that does not depend on case and composition.
func folded(s string) string { return strings.ToLower(norm.NFC.String(s)) }

// writeAka writes what a link may call a file: the end of its path, its title and its aliases. A link to a folder means its
// index.md or README.md.
func (w *fileWriter) writeAka(ctx context.Context, id int64, f *indexer.File) error {
	names := append(nonEmpty(f.Title), f.Meta.Aliases...)
	names = append(names, f.Path)
	if isIndex(akaOf(f.Path)) {
		names = append(names, path.Dir(f.Path))
	}
	for _, name := range names {
		if _, err := w.insertAka.ExecContext(ctx, akaOf(name), id); err != nil {
			return err
		}
	}
	return nil
}

// akaOf returns the last part of a path, or of the target of a link, by which files are looked up in the table aka.
func akaOf(target string) string { return text.WithoutMarkdown(folded(path.Base(target))) }
