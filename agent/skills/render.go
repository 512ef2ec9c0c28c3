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
	// shortDescription is how many characters of a description are left if there is not room for all.
	shortDescription = 120
	// noteRoom is what a note takes at most.
	noteRoom = 300
)

// render returns what a prompt says of the skills that a model may use, in at most limit characters: with descriptions
// and bodies, else with short descriptions, else without the longest bodies, else only the names.
func render(all []Skill, limit int) (block, names, note string) {
	all = slices.DeleteFunc(slices.Clone(all), func(s Skill) bool { return !s.ModelInvocable })
	if len(all) == 0 {
		return "", "", ""
	}
	names, namesNote := list(all, limit)
	if block = write(all, ""); chars(block) <= limit {
		return block, names, ""
	}
	descriptions := shorten(all)
	if descriptions > 0 {
		note = fmt.Sprintf("Note: the skills have more than %d characters. %d descriptions are shortened.", limit, descriptions)
		if block = write(all, note); chars(block) <= limit {
			return block, names, note
		}
	}
	bodies := drop(all, limit-noteRoom)
	note = fmt.Sprintf("Note: the skills have more than %d characters. %d descriptions are shortened, and the instructions of %d skills are left out: read them at their location.", limit, descriptions, bodies)
	if block = write(all, note); chars(block) <= limit {
		return block, names, note
	}
	return names, names, namesNote
}

// write writes skills one below the other.
func write(all []Skill, note string) string {
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

// shorten shortens long descriptions and returns how many.
func shorten(all []Skill) int {
	n := 0
	for i := range all {
		if d := text.Shorten(all[i].Description, shortDescription); d != all[i].Description {
			all[i].Description = d
			n++
		}
	}
	return n
}

// drop takes away the longest bodies until the skills have at most limit characters, and returns how many.
func drop(all []Skill, limit int) int {
	order := make([]int, len(all))
	for i := range all {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(len(all[b].Body), len(all[a].Body)) })
	size, n := chars(write(all, "")), 0
	for _, i := range order {
		if size <= limit || all[i].Body == "" {
			break
		}
		size -= chars(all[i].Body) + 2
		all[i].Body = ""
		n++
	}
	return n
}

// list is the names alone, as many as limit allows.
func list(all []Skill, limit int) (block, note string) {
	rule := "\n\nBefore you use one, read the SKILL.md in its folder below " + strings.Join(places(all), ", ") + "."
	room := limit - chars(heading) - chars(rule) - noteRoom
	var names []string
	for _, s := range all {
		if room -= chars(s.Name) + 2; room < 0 {
			break
		}
		names = append(names, s.Name)
	}
	note = fmt.Sprintf("Note: there is not enough room for the skills. Only the names of %d of %d are listed.", len(names), len(all))
	block = heading + "\n\n" + note + rule
	if len(names) > 0 {
		block += "\n\n" + strings.Join(names, ", ")
	}
	if chars(block) > limit {
		return "", note
	}
	return block, note
}

// places returns the folders that hold the folders of skills.
func places(all []Skill) []string {
	var dirs []string
	for _, s := range all {
		if dir := text.OneLine(filepath.Dir(filepath.Dir(s.Path))); !slices.Contains(dirs, dir) {
			dirs = append(dirs, dir)
		}
	}
	return dirs
}

func chars(s string) int { return utf8.RuneCountInString(s) }
