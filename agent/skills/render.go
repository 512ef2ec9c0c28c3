package skills

import (
	"cmp"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"kioku/internal/text"
)

const (
	heading = "## Skills\n\nInstructions for particular tasks. When a task fits the description of a skill, follow it. " +
		"Relative paths in a skill start from the folder of its location; where its instructions are not shown here, read them there first."
	// shortDescription is the length of a shortened description in characters.
	shortDescription = 120
	// noteRoom is the maximum length of a note in characters.
	noteRoom = 300
)

// render returns the section of the prompt for the skills that a model may use, in at most limit characters: with descriptions
// and bodies, else with short descriptions, else without the longest bodies, else with the names only.
func render(all []Skill, limit int) (block, names, note string) {
	all = slices.DeleteFunc(slices.Clone(all), func(s Skill) bool { return !s.ModelInvocable })
	if len(all) == 0 {
		return "", "", ""
	}
	names, namesNote := renderNames(all, limit)
	if block = renderAll(all, ""); countChars(block) <= limit {
		return block, names, ""
	}
	note = fmt.Sprintf("Note: the skills have more than %d characters. %d descriptions are shortened.", limit, shortenDescriptions(all))
	if block = renderAll(all, note); countChars(block) <= limit {
		return block, names, note
	}
	note = strings.TrimSuffix(note, ".") + fmt.Sprintf(", and the instructions of %d skills are left out: read them at their location.", dropBodies(all, limit-noteRoom))
	if block = renderAll(all, note); countChars(block) <= limit {
		return block, names, note
	}
	return names, names, namesNote
}

// renderAll returns the section with everything that the skills have.
func renderAll(all []Skill, note string) string {
	var b strings.Builder
	b.WriteString(heading)
	if note != "" {
		b.WriteString("\n\n" + note)
	}
	for _, s := range all {
		fmt.Fprintf(&b, "\n\n### Skill: %s\nDescription: %s\n", s.Name, s.Description)
		if s.Invocation != "" {
			fmt.Fprintf(&b, "Invocation: %s\n", s.Invocation)
		}
		fmt.Fprintf(&b, "Location: %s", text.OneLine(s.Path))
		if s.Body != "" {
			b.WriteString("\n\n" + s.Body)
		}
	}
	return b.String()
}

// shortenDescriptions shortens long descriptions and returns their number.
func shortenDescriptions(all []Skill) int {
	n := 0
	for i := range all {
		if d := text.Shorten(all[i].Description, shortDescription); d != all[i].Description {
			all[i].Description = d
			n++
		}
	}
	return n
}

// dropBodies removes the longest bodies until the section has at most limit characters, and returns their number.
func dropBodies(all []Skill, limit int) int {
	longest := make([]*Skill, len(all))
	for i := range all {
		longest[i] = &all[i]
	}
	slices.SortStableFunc(longest, func(a, b *Skill) int { return cmp.Compare(len(b.Body), len(a.Body)) })
	size, n := countChars(renderAll(all, "")), 0
	for _, s := range longest {
		if size <= limit || s.Body == "" {
			break
		}
		size -= countChars(s.Body) + 2
		s.Body = ""
		n++
	}
	return n
}

// renderNames returns the section with as many names as limit allows.
func renderNames(all []Skill, limit int) (block, note string) {
	var dirs []string
	for _, s := range all {
		if dir := text.OneLine(filepath.Dir(filepath.Dir(s.Path))); !slices.Contains(dirs, dir) {
			dirs = append(dirs, dir)
		}
	}
	rule := "\n\nBefore you use one, read the SKILL.md in its folder below " + strings.Join(dirs, ", ") + "."
	room := limit - countChars(heading) - countChars(rule) - noteRoom
	var names []string
	for _, s := range all {
		if room -= countChars(s.Name) + 2; room < 0 {
			break
		}
		names = append(names, s.Name)
	}
	note = fmt.Sprintf("Note: there is not enough room for the skills. Only the names of %d of %d are listed.", len(names), len(all))
	block = heading + "\n\n" + note + rule
	if len(names) > 0 {
		block += "\n\n" + strings.Join(names, ", ")
	}
	if countChars(block) > limit {
		return "", note
	}
	return block, note
}

func countChars(s string) int { return utf8.RuneCountInString(s) }
