package prompt

import (
	"slices"
	"strings"

	"kioku/agent/bootstrap"
	"kioku/internal/text"
)

// ReasonPresent is the reason of memories whose text a file in the prompt has already.
const ReasonPresent = "stands in the prompt already"

// present is the text of the files in a prompt, in lines without what cannot be seen.
type present string

// presentIn returns the text of some files.
func presentIn(texts []string) present {
	var b strings.Builder
	b.WriteByte('\n')
	for _, t := range texts {
		b.WriteString(plainLines(string(text.StripMarks([]byte(t)))))
		b.WriteByte('\n')
	}
	return present(b.String())
}

// has reports whether all lines of a text stand in the files, one after the other.
func (p present) has(text string) bool {
	return strings.Contains(string(p), "\n"+plainLines(text)+"\n")
}

// hasItem reports whether the lines of a text stand in the files, the first of them perhaps as an item of a list.
func (p present) hasItem(text string) bool {
	return p.has(text) || p.has("- "+text) || p.has("* "+text)
}

// plainLines returns the lines of a text that are not blank, with single spaces.
func plainLines(text string) string {
	var lines []string
	for line := range strings.Lines(text) {
		if words := strings.Fields(line); len(words) > 0 {
			lines = append(lines, strings.Join(words, " "))
		}
	}
	return strings.Join(lines, "\n")
}

// fileTexts returns the texts of the files that the session may contain, before anything is cut for the budget.
func (a *assembly) fileTexts() []string {
	var texts []string
	for _, name := range bootstrap.Names() {
		texts = append(texts, a.file(name))
	}
	return texts
}

// textsAfterCuts returns the texts of the files as they are in the layers, and whether the budget has cut one.
func (a *assembly) textsAfterCuts(layers []layer) (texts []string, cut bool) {
	isFile := func(name string) bool { return slices.Contains(bootstrap.Names(), name) }
	for _, p := range allParts(layers) {
		if isFile(p.name) {
			texts = append(texts, p.text)
		}
	}
	return texts, slices.ContainsFunc(a.out.Cuts, func(c Cut) bool { return isFile(c.Part) })
}
