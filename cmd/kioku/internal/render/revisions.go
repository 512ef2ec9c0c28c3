package render

import (
	"time"

	"kioku/memory"
)

// Revisions adds updates that were made, each with its old and its new text.
func (p *Page) Revisions(all []memory.Revision) {
	if len(all) == 0 {
		p.Linef("no updates")
	}
	for _, r := range all {
		state := ""
		switch {
		case r.Undone:
			state = "  (taken back)"
		case r.Undoes != "":
			state = "  (takes back " + r.Undoes + ")"
		}
		p.Linef("%s  %s:%d%s", Bold(r.ID), CleanLine(r.Path), r.Line, state)
		about := r.Time.Local().Format(time.DateTime)
		if r.Source != "" {
			about += ", by " + CleanLine(r.Source)
		}
		if r.Reason != "" {
			about += ": " + CleanLine(r.Reason)
		}
		p.Linef("  %s", about)
		p.Linef("  - %s", CleanLine(r.OldText))
		p.Linef("  + %s", CleanLine(r.NewText))
	}
}
