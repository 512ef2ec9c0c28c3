package rule

import (
	"maps"
	"path"
	"slices"
	"strings"

	"kioku/chunker"
	"kioku/derive/vocab"
	"kioku/internal/text"
	"kioku/memory"
	"kioku/search/dates"
)

var (
	// comment is an HTML comment on one line.
	comment = text.NewRegexp(`<!--.*?-->`)
	// viewLine is a line of a derived view, wherever it was copied: one that ends with its citation or its id, a quotation with its
	// day, or the notice that Kioku writes the page.
	viewLine = text.NewRegexp(`\([^()\s][^()]*\.(?:md|jsonl)#L\d+(?:-L\d+)?(?:, \d+ more)?\)(?:\s*\^\S+)?$` +
		`|; confidence \d\.\d\d(?:; in conflict)?(?:; pinned)?; id [0-9a-f]{8}\)(?: \*\*holds\*\*)?$` +
		`|^By .+; id [0-9a-f]{8}\.$|^\d{4}-\d{2}-\d{2} “.*”(?: \([^()]+\))?$|^Kioku writes this page from your notes\. `)
	// noteDay is the name of a file of notes of one day.
	noteDay = text.NewRegexp(`^\d{4}-\d{2}-\d{2}`)
)

// isDerivedPath reports whether a path is in the folder of derived views.
func isDerivedPath(p string) bool { return strings.HasPrefix(p, "derived/") }

// isLongTerm reports whether a file is one of what stays true.
func isLongTerm(p string) bool {
	name := path.Base(p)
	return (name == "MEMORY.md" || name == "USER.md") && !strings.HasPrefix(p, "/")
}

// readMarkdown reads a Markdown file.
func (d *Document) readMarkdown() {
	normal := chunker.Normalize(d.file.Data)
	d.raw = strings.Split(string(d.file.Data), "\n")
	meta := readFrontMatter(normal)
	if meta.derived {
		return
	}
	d.longTerm = isLongTerm(d.file.Path)
	d.sectioned = noteDay.MatchString(path.Base(d.file.Path))
	d.sensitivity = max(meta.sensitivity, d.rules.sensitivityOf(d.file.Path))
	front, _ := chunker.FrontMatterLines(normal)
	d.lines = markdownLines(chunker.Lines(normal, "", true), front)
	d.asForm = meta.form
	d.about = subjectOfFile(d.file.Path, meta, d.lines)
	d.finishLines(normal)
	setSpeakers(d.raw, d.lines, d.sectioned || d.longTerm || d.file.Date != "")
	setOrders(d.lines, d.longTerm)
	d.setDays()
	if d.about.ofUser {
		d.about.users = ownNames(d.lines)
	}
}

// ownName is the line of USER.md that tells the name of the owner.
var ownName = text.NewRegexp(`^\s*(?:[-*+]\s+)?(?:\*\*)?(?:(?:Full )?[Nn]ame|名前|氏名|姓名|名字)(?:\*\*)?\s*[:：](?:\*\*)?\s*([^.。,，]+)`)

// ownNames returns the names that the owner has in USER.md by their norms: the whole name, its first word and its other forms.
func ownNames(lines []line) map[string]string {
	names := map[string]string{}
	for i := range lines {
		m := ownName.FindStringSubmatch(lines[i].text)
		if m == nil || lines[i].role != prose {
			continue
		}
		name, aliases := splitAliases(cleanName(m[1]))
		for _, n := range withFirstWords(append(aliases, name)) {
			if isPersonName(n) {
				names[vocab.Norm(n)] = n
			}
		}
	}
	return names
}

// finishLines hides what must not be read, and sets the sensitivity of each line.
func (d *Document) finishLines(normal string) {
	hideRecalled(normal, d.lines)
	levels := sensitivities(normal, len(d.lines))
	var under [7]memory.Sensitivity // of the headings of each level
	for i := range d.lines {
		l := &d.lines[i]
		l.sensitivity = max(levels[i], d.sensitivity)
		if l.role == heading {
			under[l.level] = l.sensitivity
			clear(under[l.level+1:])
		}
		for _, above := range under {
			l.sensitivity = max(l.sensitivity, above)
		}
		if l.role == prose && isViewLine(l.text) {
			l.role = hidden
		}
	}
}

// isViewLine reports whether viewLine matches a text.
func isViewLine(text string) bool {
	return containsAny(text, "#L", "; id ", "“", "Kioku writes") && viewLine.MatchString(text)
}

// markdownLines returns the lines of a Markdown text, of which the first ones are front matter.
func markdownLines(all []chunker.Line, front int) []line {
	var trail chunker.Trail
	lines := make([]line, len(all))
	inComment := false
	for i, in := range all {
		l := &lines[i]
		l.number, l.text = i+1, strings.TrimRight(in.Text, " \t\r\n")
		inComment = inComment && !in.IsEntry()
		switch {
		case i < front:
			l.role = hidden
			continue
		case in.Fence != "" || in.Block > 0 && in.Level == 0 && !in.Underline:
			l.role = code
		case in.Underline:
			l.role = hidden
		case in.Level > 0 && !inComment:
			l.role, l.level = heading, in.Level
			trail.Enter(in.Level, in.Title())
		}
		l.headings = trail.String()
		if l.role != code {
			inComment = stripComments(l, inComment)
		}
	}
	return lines
}

// stripComments removes the comments from a line, which begins in one if inside is set. It reports whether the next line does.
func stripComments(l *line, inside bool) bool {
	if inside {
		_, after, closed := strings.Cut(l.text, "-->")
		if l.text = strings.TrimSpace(after); !closed || l.text == "" {
			l.role = hidden
		}
		if !closed {
			return true
		}
	}
	if !strings.Contains(l.text, "<!--") {
		return false
	}
	l.text = strings.TrimRight(comment.ReplaceAllString(l.text, ""), " \t")
	before, _, open := strings.Cut(l.text, "<!--")
	if open {
		l.text = strings.TrimRight(before, " \t")
	}
	if l.text == "" {
		l.role = hidden
	}
	return open
}

// hideRecalled hides the lines of memories that were recalled into a text.
func hideRecalled(normal string, lines []line) {
	stripped := memory.StripRecalled(normal)
	if stripped == normal {
		return
	}
	kept := map[string]int{}
	for l := range strings.SplitSeq(stripped, "\n") {
		kept[strings.TrimSpace(l)]++
	}
	for i, l := range strings.Split(normal, "\n") {
		if i >= len(lines) {
			break
		}
		if l = strings.TrimSpace(l); kept[l] > 0 {
			kept[l]--
		} else if l != "" {
			lines[i].role = hidden
		}
	}
}

// withFirstWords returns names and the first word of each.
func withFirstWords(names []string) []string {
	all := names
	for _, n := range names {
		if words := strings.Fields(n); len(words) > 1 {
			all = append(all, words[0])
		}
	}
	return all
}

// OwnerNames returns the names that a USER.md gives the owner of the memory, for Options.UserNames; none if it gives none.
func OwnerNames(userFile []byte) []string {
	normal := chunker.Normalize(userFile)
	front, _ := chunker.FrontMatterLines(normal)
	return slices.Sorted(maps.Values(ownNames(markdownLines(chunker.Lines(normal, "", true), front))))
}

// setDays sets the day and the time of each line, from the headings above it or the file.
func (d *Document) setDays() {
	for i := range d.lines {
		l := &d.lines[i]
		if i > 0 && d.lines[i-1].headings == l.headings {
			l.day, l.at = d.lines[i-1].day, d.lines[i-1].at
			continue
		}
		l.day = dates.OfHeadings(l.headings, d.file.Date)
		l.at = d.timeOf(l.day, l.headings)
	}
}

// frontMatter is what the rules read of the front matter.
type frontMatter struct {
	derived     bool
	sensitivity memory.Sensitivity
	title, kind string
	aliases     []string
	people      []string
	// form is set for the front matter of a template of an issue.
	form bool
}

// readFrontMatter returns what the front matter of a text says.
func readFrontMatter(normal string) frontMatter {
	var m frontMatter
	mapping, _, slip := text.LooseFrontMatter(normal)
	if mapping == nil || slip != "" {
		if block, _, err := text.FrontMatterBlock(normal); err == nil && unreadSensitivity.MatchString(block) {
			m.sensitivity = memory.Private
		}
	}
	if mapping == nil {
		return m
	}
	has := map[string]bool{}
	for i := 0; i+1 < len(mapping.Content); i += 2 {
		has[strings.ToLower(mapping.Content[i].Value)] = true
		values := scalars(mapping.Content[i+1])
		first := strings.Join(values[:min(1, len(values))], "")
		switch key := strings.ToLower(mapping.Content[i].Value); key {
		case "kioku":
			m.derived = strings.EqualFold(first, "derived")
		case "sensitivity":
			m.sensitivity = max(m.sensitivity, sensitivityNamed(first))
		case "private":
			if first != "" && !strings.EqualFold(first, "false") {
				m.sensitivity = max(m.sensitivity, memory.Private)
			}
		case "title":
			m.title = first
		case "type", "kind":
			m.kind = first
		case "alias", "aliases":
			m.aliases = append(m.aliases, values...)
		case "people", "persons", "attendees", "participants", "人物", "参加者", "参与者":
			m.people = append(m.people, values...)
		}
	}
	m.form = has["name"] && has["about"] && (has["title"] || has["labels"] || has["assignees"])
	return m
}
