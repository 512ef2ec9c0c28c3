package web

import (
	"net/http"
	"strings"

	kiokuv1 "kioku/proto/kioku/v1"
)

// notesPerPage is the number of notes that the list shows at once.
const notesPerPage = 200

// notes is what the list of notes shows.
type notes struct {
	// Notes in the order of their paths.
	Notes []*kiokuv1.File
	// Total is the number of notes that the request selects.
	Total int32
	// Find is a part of the name, Folder a folder; Skipped is "1" for files that are not indexed only. Each may be empty.
	Find, Folder, Skipped string
	// After is where the page begins, and Next where the next one does; both may be empty.
	After, Next string
}

// loadNotes lists the notes that a request selects. The parameters are find, folder, skipped and after.
func loadNotes(s *site, r *http.Request, agent string) (any, error) {
	ask := r.URL.Query()
	n := notes{Find: strings.TrimSpace(ask.Get("find")), Folder: strings.Trim(ask.Get("folder"), "/ "), Skipped: ask.Get("skipped"), After: ask.Get("after")}
	if agent == "" {
		return n, nil
	}
	page := &kiokuv1.ListFilesRequest{Agent: agent, Glob: n.glob(), PageSize: notesPerPage, PageToken: n.After, IncludeSkipped: true}
	if n.Skipped != "" {
		page.PageSize = 10_000 // skipped files are few, and only the list of all files has them
	}
	resp, err := s.memory.ListFiles(r.Context(), page)
	if err != nil {
		return nil, err
	}
	n.Notes, n.Total, n.Next = resp.GetFiles(), resp.GetTotalCount(), resp.GetNextPageToken()
	if n.Skipped != "" {
		n.keepSkipped()
	}
	return n, nil
}

// glob returns the glob of the paths that a request selects.
func (n notes) glob() string {
	glob := ""
	if n.Folder != "" {
		glob = escapeGlob(n.Folder) + "/**"
	}
	if n.Find != "" {
		glob = strings.TrimSuffix(glob, "**") + "**/*" + escapeGlob(n.Find) + "*"
	}
	return glob
}

// keepSkipped leaves out the files that are indexed.
func (n *notes) keepSkipped() {
	var skipped []*kiokuv1.File
	for _, f := range n.Notes {
		if f.GetSkipped() != "" {
			skipped = append(skipped, f)
		}
	}
	n.Notes, n.Total = skipped, int32(len(skipped))
}

// escapeGlob returns the glob of exactly one path.
func escapeGlob(path string) string { return globMarks.ReplaceAllString(path, `\$0`) }
