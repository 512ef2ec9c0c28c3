package web

import (
	"embed"
	"html/template"
	"net/http"
	"net/url"
	"path"
)

// view is a kind of page. Its files are templates/NAME.html, static/NAME.js and static/NAME.css; the last two are optional.
type view struct {
	// Name of the view's files.
	Name string
	// Title in the navigation and the window.
	Title string
	// Path of the view.
	Path string
	// Key, after g, goes to the view; empty for a view that the navigation does not list.
	Key string
	// load returns what the template shows; nil for a view that its script fills.
	load func(s *site, r *http.Request, agent string) (any, error)
}

// views in the order of the navigation.
var views = []view{
	{Name: "overview", Title: "Overview", Path: "/", Key: "o"},
	{Name: "search", Title: "Search", Path: "/search", Key: "s"},
	{Name: "notes", Title: "Notes", Path: "/notes", Key: "n", load: loadNotes},
	{Name: "known", Title: "Known", Path: "/known", Key: "k"},
	{Name: "timeline", Title: "Time line", Path: "/timeline", Key: "t"},
	{Name: "map", Title: "Map", Path: "/map", Key: "m"},
	{Name: "turns", Title: "Turns", Path: "/turns", Key: "u"},
	{Name: "council", Title: "Council", Path: "/council", Key: "c"},
	{Name: "live", Title: "Live", Path: "/live", Key: "l"},
	{Name: "note", Title: "Note", Path: "/note", load: loadNote},
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
var templateFuncs = template.FuncMap{"link": link, "base": path.Base, "lang": langOf}

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
