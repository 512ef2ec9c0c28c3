package skills

import (
	"cmp"
	"fmt"
	"path/filepath"
	"slices"
	"sort"
	"strings"
	"unicode/utf8"

	"kioku/internal/text"
)

const (
	heading = "## Skills\n\nInstructions for particular tasks. When a task fits the description of a skill, follow it. " +
		"Relative paths in a skill start from the folder of its location; where its instructions are not shown here, read them there first."
	// shortDescription is the length in characters to which descriptions are shortened before instructions are left out.
	shortDescription = 120
)

// section makes the section of the prompt for some skills, in at most limit characters.
type section struct {
	all   []Skill
	limit int
	// more is the number of skills that the section does not have, because there are too many.
	more int
	// shortest are the indexes of the skills, those with the shortest instructions first.
	shortest []int
}

func newSection(all []Skill, limit, more int) *section {
	c := &section{all: all, limit: limit, more: more}
	sizes := make([]int, len(all))
	for i, s := range all {
		c.shortest, sizes[i] = append(c.shortest, i), countChars(s.Body)
	}
	slices.SortStableFunc(c.shortest, func(a, b int) int { return cmp.Compare(sizes[a], sizes[b]) })
	return c
}

// shape says how much of the skills is shown.
type shape struct {
	// description is the maximum number of characters of a description; 0 shows none.
	description int
	// bodies is the number of skills whose instructions are shown, those with the shortest first.
	bodies int
	// lines is the number of skills, from the end, of which each is a line in a list, without its location.
	lines int
	// names is the number of skills that are listed.
	names int
}

// render returns the section of the prompt for the skills that a model may use, in at most limit characters. If there is no room for
// all, it shows as much as fits: descriptions become shorter, all to the same length, down to 120 characters; then the longest
// instructions are left out; then skill by skill becomes a line in a list; then their descriptions become shorter down to nothing; then
// names are left out. A note says what is missing, and that there are more skills than those. names is the list without descriptions.
func render(all []Skill, limit, more int) (block, names, note string) {
	all = slices.DeleteFunc(slices.Clone(all), func(s Skill) bool { return !s.ModelInvocable })
	if len(all) == 0 {
		return "", "", ""
	}
	longest := 0
	for _, s := range all {
		longest = max(longest, countChars(s.Description))
	}
	c := newSection(all, limit, more)
	names, namesNote := c.largest(len(all), func(n int) shape { return shape{lines: len(all), names: n} })
	whole := shape{longest, len(all), 0, len(all)}
	if block = c.render(whole); countChars(block) <= limit {
		return block, names, c.note(whole)
	}
	for _, step := range []struct {
		most int
		of   func(n int) shape
	}{
		{longest - 1, func(n int) shape { return shape{max(n, shortDescription), len(all), 0, len(all)} }},
		{len(all) - 1, func(n int) shape { return shape{shortDescription, n, 0, len(all)} }},
		{len(all) - 1, func(n int) shape { return shape{shortDescription, 0, len(all) - n, len(all)} }},
		{shortDescription, func(n int) shape { return shape{n, 0, len(all), len(all)} }},
	} {
		if block, note = c.largest(step.most, step.of); block != "" {
			return block, names, note
		}
	}
	return names, names, namesNote
}

// largest returns the section with the largest shape of n that has at most limit characters, n from 0 to most, and its note. Both
// are empty if none fits.
func (c *section) largest(most int, of func(n int) shape) (block, note string) {
	tooLarge := func(n int) bool { return countChars(c.render(of(n))) > c.limit }
	if tooLarge(0) {
		return "", ""
	}
	n := sort.Search(most, func(n int) bool { return tooLarge(n + 1) })
	return c.render(of(n)), c.note(of(n))
}

// render returns the section in a shape.
func (c *section) render(sh shape) string {
	var b strings.Builder
	b.WriteString(heading)
	if note := c.note(sh); note != "" {
		b.WriteString("\n\n" + note)
	}
	shown := c.withBody(sh)
	for i, s := range c.all[:len(c.all)-sh.lines] {
		fmt.Fprintf(&b, "\n\n### Skill: %s\nDescription: %s\n", s.Name, text.Shorten(s.Description, sh.description))
		if s.Invocation != "" {
			fmt.Fprintf(&b, "Invocation: %s\n", s.Invocation)
		}
		fmt.Fprintf(&b, "Location: %s", text.OneLine(s.Path))
		if s.Body != "" && shown[i] {
			b.WriteString("\n\n" + s.Body)
		}
	}
	if sh.lines > 0 {
		c.writeList(&b, sh)
	}
	return b.String()
}

// withBody says of each skill whether its instructions are shown: those of the skills with the shortest ones.
func (c *section) withBody(sh shape) []bool {
	shown := make([]bool, len(c.all))
	for _, i := range c.shortest[:sh.bodies] {
		shown[i] = true
	}
	return shown
}

// writeList writes a line for each skill of the list, and where these skills are.
func (c *section) writeList(b *strings.Builder, sh shape) {
	var dirs []string
	from := len(c.all) - sh.lines
	for _, s := range c.all[from:] {
		if dir := text.OneLine(filepath.Dir(filepath.Dir(s.Path))); !slices.Contains(dirs, dir) {
			dirs = append(dirs, dir)
		}
	}
	intro := "\n\nBefore you use one, read"
	if from > 0 {
		intro = "\n\n### More skills\nBefore you use one of these, read"
	}
	b.WriteString(intro + " the SKILL.md in its folder below " + strings.Join(dirs, ", ") + ".\n")
	for _, s := range c.all[from:sh.names] {
		b.WriteString("\n- " + s.Name)
		if folder := text.OneLine(filepath.Base(filepath.Dir(s.Path))); folder != s.Name {
			b.WriteString(" (in " + folder + ")")
		}
		if sh.description > 0 {
			b.WriteString(": " + text.Shorten(s.Description, sh.description))
		}
	}
}

// note says what the section lacks; empty if nothing.
func (c *section) note(sh shape) string {
	var parts []string
	if lacks := c.lacks(sh); lacks != "" {
		parts = append(parts, lacks)
	}
	if c.more > 0 {
		parts = append(parts, fmt.Sprintf("%d more skills are installed and not shown, because there are too many for the prompt.", c.more))
	}
	if len(parts) == 0 {
		return ""
	}
	return "Note: " + strings.Join(parts, " ")
}

// lacks says what the section shows less of; empty if it shows all of its skills.
func (c *section) lacks(sh shape) string {
	short, left := 0, 0
	shown := c.withBody(sh)
	for i, s := range c.all {
		if countChars(s.Description) > sh.description {
			short++
		}
		if s.Body != "" && !shown[i] {
			left++
		}
	}
	var lacks []string
	switch {
	case sh.names < len(c.all):
		return fmt.Sprintf("There is not enough room for the skills. Only the names of %d of %d are listed.", sh.names, len(c.all))
	case sh.lines > 0 && sh.description == 0:
		return fmt.Sprintf("The skills have more than %d characters. Only their names are listed.", c.limit)
	case short > 0:
		lacks = append(lacks, fmt.Sprintf("%d descriptions are shortened to %d characters", short, sh.description))
	}
	if left > 0 {
		lacks = append(lacks, fmt.Sprintf("the instructions of %d skills are left out", left))
	}
	if sh.lines > 0 {
		lacks = append(lacks, fmt.Sprintf("%d skills are listed without their location", sh.lines))
	}
	if len(lacks) == 0 {
		return ""
	}
	return fmt.Sprintf("The skills have more than %d characters: %s.", c.limit, strings.Join(lacks, ", and "))
}

func countChars(s string) int { return utf8.RuneCountInString(s) }
