package render

import (
	"cmp"
	"fmt"
	"strings"

	"kioku/memory"
)

// maxPathWidth is the width up to which the paths of a list are filled with spaces.
const maxPathWidth = 60

// Files adds a line for each file: date, chunks, path, title and tags, and what of it could not be read, by its path.
func (p *Page) Files(files []memory.File, remarks map[string]string) {
	paths, chunks := 0, 1
	for _, f := range files {
		paths = max(paths, min(Width(f.Path), maxPathWidth))
		chunks = max(chunks, len(fmt.Sprint(f.Chunks)))
	}
	for _, f := range files {
		path := CleanLine(f.Path)
		gap := strings.Repeat(" ", max(paths-Width(path), 0))
		about := []string{}
		if f.Title != "" {
			about = append(about, CleanLine(f.Title))
		}
		for _, tag := range f.Tags {
			about = append(about, "#"+CleanLine(tag))
		}
		if f.Skipped != "" {
			about = append(about, "not indexed: "+CleanLine(f.Skipped))
		} else if remark := remarks[f.Path]; remark != "" {
			about = append(about, CleanLine(remark))
		}
		p.Linef("%-10s  %*d  %s%s  %s", Dim(fmt.Sprintf("%-10s", cmp.Or(f.Date, "-"))), chunks, f.Chunks, Bold(path), gap,
			strings.Join(about, "  "))
	}
}

// Links adds the links of a file and those of other files to it.
func (p *Page) Links(l memory.Links) {
	p.Linef("%s", Bold(CleanLine(l.Path)))
	p.linksOf("links to", l.Out, func(link memory.Link) (place, where string) {
		return fmt.Sprint(link.Line), cmp.Or(link.To, link.Target+" (no such note)")
	})
	p.linksOf("linked from", l.In, func(link memory.Link) (place, where string) {
		return "", fmt.Sprintf("%s:%d", link.From, link.Line)
	})
}

// linksOf adds the links of one direction under a name.
func (p *Page) linksOf(name string, links []memory.Link, show func(memory.Link) (place, where string)) {
	if len(links) == 0 {
		p.Linef("  %s nothing", name)
		return
	}
	p.Linef("  %s", name)
	for _, link := range links {
		place, where := show(link)
		if place != "" {
			place = "line " + place + ": "
		}
		text := CleanLine(link.Text)
		if text != "" {
			text = "  " + text
		}
		p.Linef("    %s%s%s", place, CleanLine(where), Dim(text))
	}
}
