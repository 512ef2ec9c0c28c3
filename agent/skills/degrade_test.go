package skills

import (
	"fmt"
	"strings"
	"testing"
)

// someSkills returns n skills with descriptions of 300 times the letter d, and instructions of different lengths.
func someSkills(n int) []Skill {
	var all []Skill
	for i := range n {
		name := fmt.Sprintf("skill-%03d", i)
		all = append(all, Skill{
			Name: name, Path: "/home/mia/workspace/skills/" + name + "/SKILL.md", ModelInvocable: true,
			Description: strings.Repeat("d", 300), Body: "steps " + strings.Repeat("x", 100+i%7*30),
		})
	}
	return all
}

// information is what the prompt tells of skills: the length of the longest description, and the numbers of instructions, locations
// and names.
type information struct{ description, bodies, locations, names int }

func informationOf(block string) information {
	in := information{bodies: strings.Count(block, "steps "), locations: strings.Count(block, "Location: /"), names: strings.Count(block, ": skill-") + strings.Count(block, "\n- skill-")}
	run := 0
	for _, r := range block {
		if run++; r != 'd' {
			run = 0
		}
		in.description = max(in.description, run)
	}
	return in
}

// checkRoom fails the test if a section exceeds its budget, leaves much of it unused, or does not show its note.
func checkRoom(t *testing.T, what, block, note string, limit int) {
	t.Helper()
	if size := countChars(block); size > limit || note != "" && limit > 3000 && size < limit*8/10 {
		t.Errorf("%s: %d characters of %d", what, size, limit)
	}
	if !strings.Contains(block, note) || strings.Count(block, "Note:") > 1 || (note == "") == strings.Contains(block, "Note:") {
		t.Errorf("%s: the note %q is not visible", what, note)
	}
}

// Skills degrade smoothly: descriptions are shortened before they go, evenly, then bodies, then names. From 1 to 500 skills, what the
// prompt tells of each only becomes less, the budget is always kept and used, and the note is always visible.
func TestBlockOfMoreSkillsTellsLessOfEach(t *testing.T) {
	t.Parallel()
	const limit = 30_000
	all := someSkills(500)
	before, fewer := information{description: 300}, 0
	for n := 1; n <= 500; n += 1 + n/6 {
		block, _, note := render(all[:n], limit, 0)
		what := fmt.Sprintf("%d skills", n)
		checkRoom(t, what, block, note, limit)
		now := informationOf(block)
		if now.description > before.description || before.bodies < fewer && now.bodies > before.bodies || before.locations < fewer && now.locations > before.locations {
			t.Errorf("%s: %+v after %+v", what, now, before)
		}
		if now.bodies < n && now.description > shortDescription || now.locations < n && now.bodies > 0 || now.names != n || now.description < 20 {
			t.Errorf("%s: %+v goes before something else", what, now)
		}
		before, fewer = now, n
	}
	if before.locations > 0 {
		t.Errorf("at last %+v", before)
	}
}

// A larger budget never tells less, from nothing to everything.
func TestBlockOfALargerBudgetTellsMore(t *testing.T) {
	t.Parallel()
	all := someSkills(40)
	var before information
	for limit := 300; limit < 40_000; limit += 389 {
		block, _, note := render(all, limit, 0)
		if block == "" && before == (information{}) {
			continue // not even the heading fits
		}
		what := fmt.Sprintf("%d characters", limit)
		if fewer, names, note := render(all, limit, 7); countChars(fewer) > limit || !strings.Contains(fewer, note) || !strings.Contains(names, " 7 more skills ") || !strings.Contains(note, " 7 more skills ") {
			if fewer != "" || limit > 700 {
				t.Errorf("%s: there are more skills: %q", what, note)
			}
		}
		checkRoom(t, what, block, note, limit)
		now := informationOf(block)
		if now.description < before.description || now.bodies < before.bodies || now.locations < before.locations || now.names < before.names {
			t.Errorf("%s: %+v after %+v", what, now, before)
		}
		before = now
	}
	if want := (information{300, 40, 40, 40}); before != want {
		t.Errorf("at last %+v, want %+v", before, want)
	}
}
