package render

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"kioku/memory"
)

// VersionName returns a version for people: its time and the commit.
func VersionName(v memory.FolderVersion) string {
	if v.ID == "" {
		return "now"
	}
	at := v.Time.Local().Format("2006-01-02 15:04")
	id := v.Short()
	if v.History == memory.HistoryGit {
		id = "commit " + id
	}
	if s := CleanLine(v.Subject); s != "" {
		id += " (" + s + ")"
	}
	return at + ", " + id
}

// FileChanges adds changes of files.
func (p *Page) FileChanges(all []memory.FileChange) {
	if len(all) == 0 {
		p.Linef("no changes")
	}
	for _, c := range all {
		path := CleanLine(c.Path)
		if c.OldPath != "" {
			path = CleanLine(c.OldPath) + " -> " + path
		}
		p.Linef("%s  %s  %-7s  %s  %s", c.Time.Local().Format("2006-01-02 15:04"), Cyan(c.Short()), c.Change, Bold(path), Dim(CleanLine(c.Subject)))
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
func (p *Page) FileDiffs(d memory.Diff) {
	if len(d.Files) == 0 {
		p.Linef("no differences between %s and %s", VersionName(d.From), VersionName(d.To))
	}
	from, to := cmp.Or(d.From.Short(), "now"), cmp.Or(d.To.Short(), "now")
	for _, f := range d.Files {
		path, before, after := CleanLine(f.Path), "a/", "b/"
		before, after = before+path, after+path
		switch f.Change {
		case memory.FileAdded:
			before = "/dev/null"
		case memory.FileRemoved:
			after = "/dev/null"
		}
		p.Linef("%s", Bold(fmt.Sprintf("--- %s\t%s", before, from)))
		p.Linef("%s", Bold(fmt.Sprintf("+++ %s\t%s", after, to)))
		for line := range strings.Lines(f.Text) {
			p.diffLine(strings.TrimSuffix(line, "\n"))
		}
	}
	if n := d.More; n > 0 {
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
func (p *Page) Writes(all []memory.Write, dry bool) {
	if len(all) == 0 {
		p.Linef("nothing was written that this state folder has a record of")
	}
	for _, w := range all {
		outcome := w.Outcome
		if dry && outcome == memory.WriteUndone {
			outcome = "would go"
		}
		place := CleanLine(w.Path)
		if w.Line > 0 {
			place += fmt.Sprintf(":%d", w.Line)
		}
		about := w.Time.Local().Format(time.DateTime) + ", by " + CleanLine(w.Source)
		if w.Session != "" {
			about += ", " + CleanLine(w.Session)
		}
		p.Linef("%-8s  %s  %s", outcome, Bold(place), Dim(about))
		if text := CleanLine(w.Text); text != "" {
			p.Linef("          %s", text)
		}
	}
}
