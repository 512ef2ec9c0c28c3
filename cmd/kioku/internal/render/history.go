package render

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"kioku/memory"
	kiokuv1 "kioku/proto/kioku/v1"
)

// VersionName returns a version for people: its time and the commit.
func VersionName(v *kiokuv1.FolderVersion) string {
	if v.GetId() == "" {
		return "now"
	}
	at := v.GetVersionTime().AsTime().Local().Format("2006-01-02 15:04")
	id := versionID(v)
	if v.GetHistory() == memory.HistoryGit {
		id = "commit " + id
	}
	if s := CleanLine(v.GetSubject()); s != "" {
		id += " (" + s + ")"
	}
	return at + ", " + id
}

// versionID returns the id of a version for people.
func versionID(v *kiokuv1.FolderVersion) string {
	return memory.FolderVersion{ID: v.GetId(), History: v.GetHistory()}.Short()
}

// FileChanges adds changes of files.
func (p *Page) FileChanges(all []*kiokuv1.FileChange) {
	if len(all) == 0 {
		p.Linef("no changes")
	}
	for _, c := range all {
		v, path := c.GetVersion(), CleanLine(c.GetPath())
		if c.GetOldPath() != "" {
			path = CleanLine(c.GetOldPath()) + " -> " + path
		}
		p.Linef("%s  %s  %-7s  %s  %s", v.GetVersionTime().AsTime().Local().Format("2006-01-02 15:04"), Cyan(versionID(v)), c.GetChange(), Bold(path), Dim(CleanLine(v.GetSubject())))
	}
}

// Text adds a text of several lines.
func (p *Page) Text(s string) { p.b.WriteString(cleanLines(s)) }

// cleanLines returns a text without what controls a terminal, with a line break at its end.
func cleanLines(s string) string {
	if s = Clean(s); s != "" && !strings.HasSuffix(s, "\n") {
		s += "\n"
	}
	return s
}

// FileDiffs adds what two versions differ in, in the unified format.
func (p *Page) FileDiffs(d *kiokuv1.DiffFilesResponse) {
	if len(d.GetFiles()) == 0 {
		p.Linef("no differences between %s and %s", VersionName(d.GetFrom()), VersionName(d.GetTo()))
	}
	from, to := cmp.Or(versionID(d.GetFrom()), "now"), cmp.Or(versionID(d.GetTo()), "now")
	for _, f := range d.GetFiles() {
		path, before, after := CleanLine(f.GetPath()), "a/", "b/"
		before, after = before+path, after+path
		switch f.GetChange() {
		case memory.FileAdded:
			before = "/dev/null"
		case memory.FileRemoved:
			after = "/dev/null"
		}
		p.Linef("%s", Bold(fmt.Sprintf("--- %s\t%s", before, from)))
		p.Linef("%s", Bold(fmt.Sprintf("+++ %s\t%s", after, to)))
		for line := range strings.Lines(f.GetText()) {
			p.diffLine(strings.TrimSuffix(line, "\n"))
		}
	}
	if n := d.GetMoreCount(); n > 0 {
		p.Linef("and %d more files: name a folder or a file", n)
	}
}

// diffLine adds a line of a difference.
func (p *Page) diffLine(line string) {
	style := ""
	switch {
	case strings.HasPrefix(line, "@@"):
		style = "36"
	case strings.HasPrefix(line, "+"):
		style = "32"
	case strings.HasPrefix(line, "-"):
		style = "31"
	}
	if style == "" {
		p.b.WriteString(Clean(line) + "\n")
		return
	}
	p.b.WriteString(Paint{style, line}.On(p.color) + "\n")
}

// Writes adds what an agent has written and what became of it.
func (p *Page) Writes(all []*kiokuv1.AgentWrite, dry bool) {
	if len(all) == 0 {
		p.Linef("nothing was written that this state folder has a record of")
	}
	for _, w := range all {
		outcome := w.GetOutcome()
		if dry && outcome == memory.WriteUndone {
			outcome = "would go"
		}
		place := CleanLine(w.GetPath())
		if w.GetLine() > 0 {
			place += fmt.Sprintf(":%d", w.GetLine())
		}
		about := w.GetWriteTime().AsTime().Local().Format(time.DateTime) + ", by " + CleanLine(w.GetSource())
		if w.GetSession() != "" {
			about += ", " + CleanLine(w.GetSession())
		}
		p.Linef("%-8s  %s  %s", outcome, Bold(place), Dim(about))
		if text := CleanLine(w.GetText()); text != "" {
			p.Linef("          %s", text)
		}
	}
}
