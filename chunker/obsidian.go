package chunker

import (
	"kioku/internal/text"
	"slices"
	"strings"
)

var (
	// placeholder is what a template has in the place of a text: {{date:YYYY}}, {{title}}, {{time}} and <% tp.file.title %>. Those of other
	// programs are text of a note.
	placeholder = text.NewRegexp(`(?i)\{\{\s*(?:date|title|time)(?:[:+-][^{}\n]*)?\s*\}\}|<%[-_*+~=]*\s*(?:await\s+)?tp\..*?(?:%>|$)`)
	// codeSpan is code within a line.
	codeSpan = text.NewRegexp("`+[^`]*`+")
	// emptyLine is a line that a person is to fill in: an empty item or task, a label, a rule.
	emptyLine = text.NewRegexp(`^(?:[-*+>|\s]*(?:\[.\])?[-*+>|\s]*|[^.!?]{1,60}[:：]\**)$`)
	// baseEmbed is a line that shows a view of a database.
	baseEmbed = text.NewRegexp(`^!\[\[[^\]]+\.base(?:#[^\]]*)?(?:\|[^\]]*)?\]\]$`)
	// drawingNotice is the line that Excalidraw writes for people who open a drawing as Markdown.
	drawingNotice = text.NewRegexp(`^==⚠.*⚠==`)
)

// dataFences are the info strings of code fences that are views or drawings.
var dataFences = []string{"base", "compressed-json"}

// maxLabelWords is the maximum number of words beside a placeholder in a line of a template.
const maxLabelWords = 3

// readPlaceholders reports whether a note has placeholders outside of code, and whether it has no other text: each line is a heading, is to be filled in,
// or has a placeholder and few words. front is the front matter, whose lines count only if they have placeholders. A file with entries has other text.
func readPlaceholders(front string, lines []Line) (some, only bool) {
	begins := func(text string) bool { return strings.Contains(text, "{{") || strings.Contains(text, "<%") }
	if !begins(front) && !slices.ContainsFunc(lines, func(l Line) bool { return begins(l.Text) }) {
		return false, false // as almost every note: the expressions take longer than all else that reads it
	}
	some, only = placeholder.MatchString(front), true
	for _, line := range lines {
		said := codeSpan.ReplaceAllString(strings.TrimSpace(line.Text), "code")
		isCode := line.Fence != "" || fenceMark(line.Text) != ""
		has := !isCode && placeholder.MatchString(said)
		some = some || has
		switch {
		case line.IsEntry():
			only = false
		case line.Level > 0 || line.Underline || emptyLine.MatchString(said):
		case !has || len(strings.Fields(placeholder.ReplaceAllString(said, " "))) > maxLabelWords:
			only = false
		}
	}
	return some, some && only
}

// hideData returns a text with blank lines in the place of views and drawings of Obsidian, which are data of programs: fences of bases and of drawings,
// embeds of bases, and below the front matter of a drawing the part under the heading "Drawing".
func hideData(text string, body int, meta Meta) string {
	drawing := slices.ContainsFunc(meta.Fields, func(f Field) bool { return f.Name == "excalidraw-plugin" })
	if !drawing && !strings.Contains(text, ".base") && !strings.Contains(text, "``base") && !strings.Contains(text, "``compressed-json") {
		return text
	}
	var b strings.Builder
	b.WriteString(text[:body])
	hides, below := false, false
	for _, line := range Lines(text[body:], "", true) {
		said := strings.TrimSpace(line.Text)
		if mark := fenceMark(line.Text); line.Fence == "" {
			hides = mark != "" && line.Block > 0 && slices.Contains(dataFences, strings.TrimLeft(said, "`~ "))
		}
		below = below || drawing && line.Level > 0 && line.Title() == "Drawing"
		if hides || below || baseEmbed.MatchString(said) || drawing && (said == "%%" || drawingNotice.MatchString(said) || line.Title() == "Excalidraw Data") {
			b.WriteString(line.Text[len(strings.TrimRight(line.Text, "\n")):])
		} else {
			b.WriteString(line.Text)
		}
	}
	return b.String()
}
