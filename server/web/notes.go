package web

import (
	"net/http"
	"regexp"
	"slices"
	"strings"

	"kioku/memory"
	"kioku/server"
)

// notesPerPage is the number of notes that the list shows at once.
const notesPerPage = 200

// notes is what the list of notes shows.
type notes struct {
	// Notes in the order of their paths.
	Notes []memory.File
	// Total is the number of notes that the request selects.
	Total int
	// Find is a part of the name, Folder a folder; Skipped is "1" for files that are not indexed only. Each may be empty.
	Find, Folder, Skipped string
	// After is where the page begins, and Next where the next one does; both may be empty.
	After, Next string
}

// globMarks are the characters of globs.
var globMarks = regexp.MustCompile(`[\\*?\[\]{}]`)

// loadNotes lists the notes that a request selects. The parameters are find, folder, skipped and after.
func loadNotes(s *site, r *http.Request, agent string) (any, error) {
	ask := r.URL.Query()
	n := notes{Find: strings.TrimSpace(ask.Get("find")), Folder: strings.Trim(ask.Get("folder"), "/ "), Skipped: ask.Get("skipped"), After: ask.Get("after")}
	if agent == "" {
		return n, nil
	}
	q := memory.FileQuery{Limit: notesPerPage, After: n.After, Skipped: true}
	if n.Folder != "" {
		q.PathPrefix = n.Folder + "/"
	}
	if n.Find != "" {
		q.Glob = "**/*" + globMarks.ReplaceAllString(n.Find, `\$0`) + "*"
	}
	if n.Skipped != "" {
		q.Limit = 10_000 // skipped files are few, and only the list of all files has them
	}
	list, err := server.Notes.List.Call(r.Context(), s.conn, server.ListNotes{OfAgent: server.OfAgent{Agent: agent}, FileQuery: q})
	n.Notes, n.Total, n.Next = list.Files, list.Total, list.Next
	if n.Skipped != "" {
		n.Notes = slices.DeleteFunc(n.Notes, func(f memory.File) bool { return f.Skipped == "" })
		n.Total = len(n.Notes)
	}
	return n, err
}
