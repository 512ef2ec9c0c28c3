package prompt

import (
	"slices"
	"strings"
	"time"
	"unicode/utf16"

	"kioku/agent/bootstrap"
	"kioku/agent/standing"
	"kioku/memory"
)

// keptUnits are the maximum lengths of the beginnings of files that a session begins with, in UTF-16 units.
var keptUnits = map[string]int{bootstrap.Memory: 4000, bootstrap.User: 1500}

// kept returns the beginnings of MEMORY.md and USER.md, for a private session that begins: the user's own lines, and as data those of
// notes that a model wrote after it had read the result of a tool and those that seem to give it instructions about itself. A file that
// says nothing has none.
func (a *assembly) kept() (own, data []Memory) {
	if !a.Start || a.Group || a.Mode != bootstrap.Full {
		return nil, nil
	}
	for _, f := range a.Files {
		room, is := keptUnits[f.Name]
		if !is || !standing.Says(f.Whole) {
			continue
		}
		isData := func(number int, line string) bool {
			flags := suspicions(line)
			return f.FromTool[number] || slices.Contains(flags, FlagInstruction) || slices.Contains(flags, FlagHidden)
		}
		run, wasData := Memory{}, false
		end := func() {
			run.Text = strings.TrimRight(run.Text, " \t\r\n")
			run.EndLine = run.StartLine + strings.Count(run.Text, "\n")
			switch {
			case !standing.Says(run.Text):
			case wasData:
				data = append(data, run)
			default:
				own = append(own, run)
			}
		}
		number := 0
		for line := range strings.Lines(f.Whole) {
			number++
			if room -= len(utf16.Encode([]rune(line))); room < 0 {
				break
			}
			if is := isData(number, line); is != wasData || run.Text == "" {
				end()
				run, wasData = Memory{Agent: a.Agent, Path: f.Name, StartLine: number, Score: 1}, is
			}
			if run.Text == "" && strings.TrimSpace(line) == "" {
				continue // a part begins with words
			}
			run.Text += line
		}
		end()
	}
	return own, data
}

// keptSection returns the section with what the user keeps, empty if there is nothing. Like the standing lines it does not depend on the
// time.
func (a *assembly) keptSection(kept []Memory) string {
	if len(kept) == 0 {
		return ""
	}
	var parts []string
	for _, m := range kept {
		parts = append(parts, m.Source()+":\n\n"+m.Text+"\n")
	}
	return a.enclose(memory.KeptHeading, memory.KeptIntro, memory.KeptTag, strings.Join(parts, "\n"), time.Time{})
}
