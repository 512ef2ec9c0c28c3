package web

import (
	"context"
	"embed"
	"html/template"
	"net/http"
	"net/url"
	"path"
	"strings"
	"time"
	"unicode"

	"kioku/server"
)

// view is a kind of page. Its files are templates/NAME.html, static/NAME.js and static/NAME.css; the last two are optional.
type view struct {
	// Name of the view's files.
	Name string
	// Title in the navigation and the window.
	Title string
	// Path of the view.
	Path string
	// Key, after g, goes to the view; empty for a view that is not linked on each page.
	Key string
	// Foot is true for a view that is linked at the foot of the page, not at its top.
	Foot bool
	// shown reports whether the view has something to show; nil if it always is linked.
	shown func(ctx context.Context, s *site, of server.OfAgent) bool
	// load returns what the template shows; nil for a view that its script fills.
	load func(s *site, r *http.Request, agent string) (any, error)
}

// views in the order of the navigation.
var views = []view{
	{Name: "search", Title: "Search", Path: "/", Key: "s"},
	{Name: "notes", Title: "Notes", Path: "/notes", Key: "n", load: loadNotes},
	{Name: "map", Title: "Map", Path: "/map", Key: "m"},
	{Name: "timeline", Title: "Time", Path: "/timeline", Key: "t"},
	{Name: "known", Title: "Known", Path: "/known", Key: "k", shown: hasDerived},
	{Name: "turns", Title: "Turns", Path: "/turns", Key: "u", shown: hasTurns},
	{Name: "council", Title: "Council", Path: "/council", Key: "c", shown: hasCouncil},
	{Name: "overview", Title: "State", Path: "/state", Key: "o", Foot: true},
	{Name: "live", Title: "Events", Path: "/live", Key: "l", Foot: true},
	{Name: "search", Title: "Search", Path: "/search"},
	{Name: "note", Title: "Note", Path: "/note", load: loadNote},
}

// hasDerived reports whether something is derived from the notes.
func hasDerived(ctx context.Context, s *site, of server.OfAgent) bool {
	now, err := server.Derive.Status.Call(ctx, s.conn, of)
	return err == nil && now.Enabled
}

// hasTurns reports whether a turn is recorded.
func hasTurns(ctx context.Context, s *site, of server.OfAgent) bool {
	list, err := server.Beside.Turns.Call(ctx, s.conn, server.TurnsOf{OfAgent: of, PageSize: 1})
	return err == nil && len(list.Entries) > 0
}

// hasCouncil reports whether a council is served.
func hasCouncil(ctx context.Context, s *site, _ server.OfAgent) bool {
	_, err := server.Council.Status.Call(ctx, s.conn, server.None{})
	return err == nil
}

// pattern returns the pattern of the view's path for a ServeMux.
func (v view) pattern() string {
	if v.Path == "/" {
		return "/{$}"
	}
	return v.Path
}

//go:embed templates/*.html
var templateFiles embed.FS

// templates by the name of their view. Each is the layout with the blocks of its file.
var templates = parseTemplates()

func parseTemplates() map[string]*template.Template {
	layout := template.Must(template.New("layout.html").Funcs(templateFuncs).ParseFS(templateFiles, "templates/layout.html"))
	files, err := templateFiles.ReadDir("templates")
	if err != nil {
		panic(err) // the folder is part of the program
	}
	parsed := map[string]*template.Template{}
	for _, f := range files {
		name := f.Name()[:len(f.Name())-len(".html")]
		if name != "layout" {
			parsed[name] = template.Must(template.Must(layout.Clone()).ParseFS(templateFiles, "templates/"+f.Name()))
		}
	}
	return parsed
}

// templateFuncs are the functions of all templates.
var templateFuncs = template.FuncMap{"link": link, "base": path.Base, "name": nameOf, "lang": langOf}

// link returns an address with query parameters, given as names and values; empty values are left out.
func link(to string, params ...string) string {
	q := url.Values{}
	for i := 0; i+1 < len(params); i += 2 {
		if params[i+1] != "" {
			q.Set(params[i], params[i+1])
		}
	}
	if len(q) == 0 {
		return to
	}
	return to + "?" + q.Encode()
}

// nameOf returns what people call a note: its title, else the name of its file, without the ending; a day is written out.
func nameOf(title, file string) string {
	if title == "" {
		title = strings.TrimSuffix(path.Base(file), path.Ext(file))
	}
	if day, err := time.Parse(time.DateOnly, title); err == nil {
		return day.Format("Mon, 2 Jan 2006")
	}
	if first := title[:min(1, len(title))]; len(title) > 1 && !strings.ContainsFunc(title, func(r rune) bool { return !unicode.IsUpper(r) }) {
		return first + strings.ToLower(title[1:]) // MEMORY.md is Memory
	}
	return title
}
