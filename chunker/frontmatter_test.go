package chunker_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"kioku/chunker"
)

func TestSplitReturnsFrontMatterAsMeta(t *testing.T) {
	t.Parallel()
	scalar := func(name, value string) chunker.Field { return chunker.Field{Name: name, Values: []string{value}} }
	list := func(name string, values ...string) chunker.Field {
		return chunker.Field{Name: name, Values: values, List: true}
	}
	cases := []struct {
		name, block string
		want        chunker.Meta
	}{
		{"all keys", "Title: Wet garden\nalias: Sump\ndate: 2026-01-20\ntags: [garden, '#庭/水']\nevergreen: true\nstatus: open",
			chunker.Meta{Title: "Wet garden", Aliases: []string{"Sump"}, Date: "2026-01-20", Tags: []string{"garden", "庭/水"}, Evergreen: true,
				Fields: []chunker.Field{scalar("title", "Wet garden"), scalar("alias", "Sump"), scalar("date", "2026-01-20"),
					list("tags", "garden", "#庭/水"), scalar("evergreen", "true"), scalar("status", "open")}}},
		{"lists", "tags:\n- a\n- b c\naliases:\n  - x, y\n  - z",
			chunker.Meta{Tags: []string{"a", "b c"}, Aliases: []string{"x, y", "z"}, Fields: []chunker.Field{list("tags", "a", "b c"), list("aliases", "x, y", "z")}}},
		{"commas", "tags: 'a, b,, #c d'", chunker.Meta{Tags: []string{"a", "b", "c d"}, Fields: []chunker.Field{scalar("tags", "a, b,, #c d")}}},
		{"spaces", "tags: '#a #b/c A'", chunker.Meta{Tags: []string{"a", "b/c"}, Fields: []chunker.Field{scalar("tags", "#a #b/c A")}}},
		{"nulls", "tags:\ndate:\nstatus: ~", chunker.Meta{Fields: []chunker.Field{{Name: "tags"}, {Name: "date"}, {Name: "status"}}}},
		{"yes", "evergreen: Yes", chunker.Meta{Evergreen: true, Fields: []chunker.Field{scalar("evergreen", "Yes")}}},
		{"no", "evergreen: no", chunker.Meta{Fields: []chunker.Field{scalar("evergreen", "no")}}},
		{"mappings", "author: {name: Ida, address: {city: Ulm}}", chunker.Meta{Fields: []chunker.Field{scalar("author.name", "Ida"), scalar("author.address.city", "Ulm")}}},
		{"lists in lists", "matrix: [[1, 2], 3, {a: b}]", chunker.Meta{Fields: []chunker.Field{list("matrix", "3")}}},
		{"too long", "short: " + strings.Repeat("x", 256) + "\nlong: " + strings.Repeat("x", 257), chunker.Meta{Fields: []chunker.Field{
			scalar("short", strings.Repeat("x", 256)), {Name: "long"}}}},
		{"tags that YAML takes for comments", "tags: #a #b/c\ntag:\n  - #d\n  - e\nstatus: # none", chunker.Meta{Tags: []string{"a", "b/c", "d", "e"},
			Fields: []chunker.Field{scalar("tags", "#a #b/c"), list("tag", "#d", "e"), {Name: "status"}}}},
	}
	c := newChunker(t, chunker.Options{})
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			doc := c.Split(chunker.Notes, []byte("---\n"+tc.block+"\n---\nbody\n"))
			if diff := cmp.Diff(tc.want, doc.Meta); diff != "" {
				t.Error(diff)
			}
			if len(doc.Chunks) != 1 || doc.Chunks[0].StartLine != 1 {
				t.Errorf("chunks %s, want the block and the body in one", spans(doc.Chunks))
			}
		})
	}
}

func TestSplitTakesFrontMatterOnlyAtTheStart(t *testing.T) {
	t.Parallel()
	const block = "date: 2026-01-20\n"
	cases := map[string]string{
		"---\n" + block + "---\n":            "2026-01-20",
		"--- \r\n" + block + "...\n":         "2026-01-20",
		"\uFEFF---\n" + block + "---":        "2026-01-20",
		"\n---\n" + block + "---\n":          "",
		"---\n" + block:                      "",
		"----\n" + block + "---\n":           "",
		" ---\n" + block + "---\n":           "",
		"---\n" + block + "--- closed?\n":    "",
		"# Title\n\n---\n" + block + "---\n": "",
	}
	c := newChunker(t, chunker.Options{})
	for text, want := range cases {
		if got := c.Split(chunker.Notes, []byte(text)).Meta.Date; got != want {
			t.Errorf("date of %q is %q, want %q", text, got, want)
		}
	}
}

// FuzzFrontMatterFields looks for panics, and for fields beyond the limits.
func FuzzFrontMatterFields(f *testing.F) {
	for _, block := range []string{"a: 1", "a: [x, {b: c}]", "A: {b: {c: {d: {e: f}}}}", "tags: '#a b'", "? [a]\n: b", "date: 2026-01-20", "alias: a, b", "\"\": x"} {
		f.Add(block)
	}
	c, err := chunker.New(chunker.Options{})
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, block string) {
		meta := c.Split(chunker.Notes, []byte("---\n"+block+"\n---\nbody\n")).Meta
		if len(meta.Fields) > 64 || len(meta.Tags) > 64 || meta.Date != "" && len(meta.Date) != len("2026-01-20") {
			t.Errorf("%+v", meta)
		}
		for _, field := range meta.Fields {
			if field.Name == "" || len(field.Name) > 64 || field.Name != strings.ToLower(field.Name) || len(field.Values) > 64 {
				t.Errorf("field %+v", field)
			}
			for _, value := range field.Values {
				if value == "" || len(value) > 256 || !utf8.ValidString(value) || strings.ContainsAny(value, "\n\x00") {
					t.Errorf("value %q of %s", value, field.Name)
				}
			}
		}
	})
}

// Hazard K14: `date`, `created`, `published`, `updated` (ISO, with or without time zone) date a note.
func TestSplitReadsTheDateOfANote(t *testing.T) {
	t.Parallel()
	cases := []struct{ block, want string }{
		{"date: 2026-01-20", "2026-01-20"},
		{"date: '2026-01-20'", "2026-01-20"},
		{"date: 20260120", "2026-01-20"},
		{"date: 2026-01-20T09:15:00Z", "2026-01-20"},
		{"date: 2026-01-20T23:30:00-08:00", "2026-01-20"},
		{"date: 2026-01-20 09:15", "2026-01-20"},
		{"created: 2026-01-20T09:15:00+09:00", "2026-01-20"},
		{"published: 2026-01-20", "2026-01-20"},
		{"updated: 2026-01-20", "2026-01-20"},
		{"updated: 2026-01-04\ncreated: 2026-01-03\npublished: 2026-01-02\ndate: 2026-01-01", "2026-01-01"},
		{"updated: 2026-01-04\ncreated: 2026-01-03\npublished: 2026-01-02", "2026-01-02"},
		{"updated: 2026-01-04\ncreated: 2026-01-03", "2026-01-03"},
		{"date: soon\ncreated: 2026-01-03", "2026-01-03"},
		{"Date: 2026-01-20", "2026-01-20"},
		{"date: 2026-02-30", ""},
		{"date: [2026-01-20]", "2026-01-20"},
		{"date: [2026-01-20, 2026-01-21]", ""},
		{"date: '[[2026-01-20]]'", "2026-01-20"},
		{"date: [[2026-01-20]]", "2026-01-20"},
		{"date:\n  - '[[Journal/2026-01-20|Tuesday]]'", "2026-01-20"},
		{"date: 2026/01/20", "2026-01-20"},
		{"date: 2026-1-20", "2026-01-20"},
		{"date: 1768896000", "2026-01-20"},
		{"date: 1768896000123", "2026-01-20"},
		{"date: 176889600", ""},
		{"date: January 20th, 2026", "2026-01-20"},
		{"date: 20 Jan 2026", "2026-01-20"},
		{"date: 20.01.2026", "2026-01-20"},
		{"date: 2026年1月20日", "2026-01-20"},
		{"date: Tue, 20 Jan 2026 10:00:00 +0100", "2026-01-20"},
		{"date: 05/06/2026", ""},
		{"date created: 2026-01-20", "2026-01-20"},
		{"Date-Created: 2026-01-20", "2026-01-20"},
		{"date_created: 2026-01-20", "2026-01-20"},
		{"dateCreated: 2026-01-20", "2026-01-20"},
		{"createdAt: 2026-01-20", "2026-01-20"},
		{"creation date: 2026-01-20 10:00", "2026-01-20"},
		{"day: 2026-01-20", "2026-01-20"},
		{"pubDate: 2026-01-20", "2026-01-20"},
		{"lastmod: 2026-01-20", "2026-01-20"},
		{"date modified: 2026-01-20", "2026-01-20"},
		{"modified: 2026-01-04\ncreated_at: 2026-01-03\npublish_date: 2026-01-02\nday: 2026-01-01", "2026-01-01"},
		{"modified: 2026-01-04\ncreated_at: 2026-01-03", "2026-01-03"},
		{"date: on 2026-01-20", ""},
		{"due: 2026-01-20", ""},
	}
	c := newChunker(t, chunker.Options{})
	for _, tc := range cases {
		t.Run(tc.block, func(t *testing.T) {
			t.Parallel()
			if got := c.Split(chunker.Notes, []byte("---\n"+tc.block+"\n---\n")).Meta.Date; got != tc.want {
				t.Errorf("%q, want %q", got, tc.want)
			}
		})
	}
}
