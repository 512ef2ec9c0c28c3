package render

import (
	"time"

	kiokuv1 "kioku/proto/kioku/v1"
)

// Revisions adds updates that were made, each with its old and its new text.
func (p *Page) Revisions(all []*kiokuv1.Revision) {
	if len(all) == 0 {
		p.Linef("no updates")
	}
	for _, r := range all {
		state := ""
		switch {
		case r.GetUndone():
			state = "  (taken back)"
		case r.GetUndoes() != "":
			state = "  (takes back " + r.GetUndoes() + ")"
		}
		p.Linef("%s  %s:%d%s", Bold(r.GetRevision()), CleanLine(r.GetPath()), r.GetLine(), state)
		about := r.GetUpdateTime().AsTime().Local().Format(time.DateTime)
		if r.GetSource() != "" {
			about += ", by " + CleanLine(r.GetSource())
		}
		if r.GetReason() != "" {
			about += ": " + CleanLine(r.GetReason())
		}
		p.Linef("  %s", about)
		p.Linef("  - %s", CleanLine(r.GetOldText()))
		p.Linef("  + %s", CleanLine(r.GetNewText()))
	}
}
