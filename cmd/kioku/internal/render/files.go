package render

import (
	"cmp"
	"fmt"
	"strings"

	kiokuv1 "kioku/proto/kioku/v1"
)

// maxPathWidth is the width up to which the paths of a list are filled with spaces.
const maxPathWidth = 60

// Files adds a line for each file: date, chunks, path, title and tags, and what of it could not be read, by its path.
func (p *Page) Files(files []*kiokuv1.File, remarks map[string]string) {
	paths, chunks := 0, 1
	for _, f := range files {
		paths = max(paths, min(Width(f.GetPath()), maxPathWidth))
		chunks = max(chunks, len(fmt.Sprint(f.GetChunkCount())))
	}
	for _, f := range files {
		path := CleanLine(f.GetPath())
		gap := strings.Repeat(" ", max(paths-Width(path), 0))
		about := []string{}
		if f.GetTitle() != "" {
			about = append(about, CleanLine(f.GetTitle()))
		}
		for _, tag := range f.GetTags() {
			about = append(about, "#"+CleanLine(tag))
		}
		if f.GetSkipped() != "" {
			about = append(about, "not indexed: "+CleanLine(f.GetSkipped()))
		} else if remark := remarks[f.GetPath()]; remark != "" {
			about = append(about, CleanLine(remark))
		}
		p.Linef("%-10s  %*d  %s%s  %s", Dim(fmt.Sprintf("%-10s", cmp.Or(f.GetDate(), "-"))), chunks, f.GetChunkCount(), Bold(path), gap,
			strings.Join(about, "  "))
	}
}

// Links adds the links of a file and those of other files to it.
func (p *Page) Links(l *kiokuv1.Links) {
	p.Linef("%s", Bold(CleanLine(l.GetPath())))
	p.linksOf("links to", l.GetOutgoing(), func(link *kiokuv1.Link) (place, where string) {
		return fmt.Sprint(link.GetLine()), cmp.Or(link.GetToPath(), link.GetTarget()+" (no such note)")
	})
	p.linksOf("linked from", l.GetIncoming(), func(link *kiokuv1.Link) (place, where string) {
		return "", fmt.Sprintf("%s:%d", link.GetFromPath(), link.GetLine())
	})
}

// linksOf adds the links of one direction under a name.
func (p *Page) linksOf(name string, links []*kiokuv1.Link, show func(*kiokuv1.Link) (place, where string)) {
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
		text := CleanLine(link.GetText())
		if text != "" {
			text = "  " + text
		}
		p.Linef("    %s%s%s", place, CleanLine(where), Dim(text))
	}
}
