package web

import (
	"context"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"unicode"

	"kioku/chunker"
	"kioku/memory"
	"kioku/server"
)

// note is what the reader shows.
type note struct {
	source
	rendered
	// Title of the note; empty if the note begins with a heading of its own.
	Title string
	// Folders above the note, outermost first.
	Folders []folder
	// File as the index lists it; nil if it does not.
	File *memory.File
	// Fields of the front matter.
	Fields []field
	// Links of the note and to it; nil if the index does not have it.
	Links *memory.Links
	// Raw is true if the lines are shown as they are, and WhyRaw is the reason if nobody asked for it.
	Raw    bool
	WhyRaw string
	// Query that led to the note, and Hit the lines that it found; both may be empty.
	Query string
	Hit   lineRange
	// Lang of the text, guessed from its script; empty for scripts that need no font of their own.
	Lang string
	// Agent that links name; empty if they need not.
	Agent string
}

// folder is a folder above a note.
type folder struct{ Name, Path string }

// loadNote reads and renders the note that a request names. The parameters are path, from (the first line of the part), lines (those of
// a hit, "3-9"), q (the query that found it), heading, and view, which is "raw" for the text as it is.
func loadNote(s *site, r *http.Request, agent string) (any, error) {
	ask := r.URL.Query()
	from, _ := strconv.Atoi(ask.Get("from")) // 0 for what is no number: the first part
	n := note{Query: ask.Get("q"), Hit: parseRange(ask.Get("lines")), Raw: ask.Get("view") == "raw", Agent: ask.Get("agent")}
	var err error
	if n.source, err = s.readSource(r.Context(), agent, ask.Get("path"), max(from, 0), n.Hit.First); err != nil {
		return nil, err
	}
	if err := s.lookUp(r.Context(), agent, &n); err != nil {
		return nil, err
	}
	n.render()
	n.describe()
	if line := headingLine(n.Outline, ask.Get("heading")); line > 0 {
		return nil, redirect{to: link("/note", "agent", n.Agent, "path", n.Path, "from", ask.Get("from")) + "#L" + strconv.Itoa(line)}
	}
	return n, nil
}

// render fills in the HTML or, if the text cannot be rendered, why it is shown as it is.
func (n *note) render() {
	src, first := n.text(), n.First
	if n.First == 1 && !n.Raw {
		fields, lines := frontMatter(src)
		n.Fields, first = fields, lines+1
		src = strings.Join(n.Lines[lines:], "\n") + "\n"
	}
	if !n.Raw {
		var err error
		if n.rendered, err = renderMarkdown(src, first, n.Hit, n.resolver()); err != nil {
			n.Raw, n.WhyRaw = true, err.Error()
		}
	}
	if n.Raw {
		n.Fields, n.rendered = nil, rendered{Outline: rawOutline(n.source)}
	}
}

// rawOutline returns the headings of a text by its lines.
func rawOutline(src source) []heading {
	var outline []heading
	for i, line := range chunker.Lines(src.text(), "", true) {
		if line.Level > 0 {
			outline = append(outline, heading{Line: src.First + i, Level: line.Level, Title: strings.TrimSpace(line.Title())})
		}
	}
	return outline
}

// describe fills in the title, the folders and the language.
func (n *note) describe() {
	n.Lang = langOf(n.text())
	parts := strings.Split(strings.TrimPrefix(n.Path, "/"), "/")
	for i, name := range parts[:len(parts)-1] {
		n.Folders = append(n.Folders, folder{name, strings.Join(parts[:i+1], "/")})
	}
	if own := len(n.Outline) > 0 && n.Outline[0].Level == 1 && !n.Raw; own {
		return
	}
	if n.File != nil {
		n.Title = n.File.Title
	}
	n.Title = nameOf(n.Title, n.Path)
}

// lookUp fills in what the index knows of the note.
func (s *site) lookUp(ctx context.Context, agent string, n *note) error {
	of := server.OfAgent{Agent: agent}
	links, err := server.Notes.Links.Call(ctx, s.conn, server.AgentPath{OfAgent: of, Path: n.Path})
	if err == nil {
		n.Links = &links
	} else if code, _ := codeOf(err); code != "NOT_FOUND" && code != "INVALID_ARGUMENT" {
		return err
	}
	// The path itself is the first of those that begin with it.
	q := memory.FileQuery{Filter: memory.Filter{PathPrefix: n.Path}, Limit: 1, Skipped: true}
	list, err := server.Notes.List.Call(ctx, s.conn, server.ListNotes{OfAgent: of, FileQuery: q})
	if len(list.Files) > 0 && list.Files[0].Path == n.Path {
		n.File = &list.Files[0]
	}
	return err
}

// parseRange returns the lines that "3-9" or "3" names; none for anything else.
func parseRange(s string) lineRange {
	first, last, both := strings.Cut(s, "-")
	a, err := strconv.Atoi(first)
	b := a
	if err == nil && both {
		b, err = strconv.Atoi(last)
	}
	if err != nil || a < 1 || b < a {
		return lineRange{}
	}
	return lineRange{a, b}
}

// String returns the range as "3-9".
func (r lineRange) String() string {
	if r.First == 0 {
		return ""
	}
	return fmt.Sprintf("%d-%d", r.First, r.Last)
}

// langOf guesses the language of a text from its script, for the choice of fonts; empty for scripts that need none.
func langOf(s string) string {
	han := ""
	for _, r := range s {
		switch {
		case r < 0x1100:
		case unicode.In(r, unicode.Hiragana, unicode.Katakana):
			return "ja"
		case unicode.Is(unicode.Hangul, r):
			return "ko"
		case unicode.Is(unicode.Han, r):
			han = "zh"
		}
	}
	return han
}

// Address returns the address of the note in the reader with other parameters, given as names and values.
func (n note) Address(params ...string) string {
	all := append([]string{"agent", n.Agent, "path", n.Path, "q", n.Query, "lines", n.Hit.String()}, params...)
	return link("/note", all...)
}

// LinkTo returns the address of another note.
func (n note) LinkTo(path string, line int) string {
	at := link("/note", "agent", n.Agent, "path", path)
	if line > 0 {
		at += "#L" + strconv.Itoa(line)
	}
	return at
}

// Number returns the number of a line by its index.
func (n note) Number(i int) int { return n.First + i }

// Found reports whether a line is among those of the hit.
func (n note) Found(line int) bool { return lineRange{line, line}.overlaps(n.Hit) }
