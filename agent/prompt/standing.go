package prompt

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"kioku/agent/bootstrap"
	"kioku/agent/standing"
	"kioku/memory"
)

// standingTokens is the maximum size of the section of standing instructions and preferences.
const standingTokens = 600

// ReasonStanding is the reason of standing instructions and preferences that do not fit into their section.
const ReasonStanding = "no room among the standing instructions and preferences"

// standingLines returns the standing instructions and preferences that a prompt lacks: entries of MEMORY.md and USER.md, then
// Input.Preferences.
func (a *assembly) standingLines() []Memory {
	if a.Mode != bootstrap.Full || a.Group {
		return nil
	}
	var lines []Memory
	for _, f := range a.Files {
		if f.Name != bootstrap.Memory && f.Name != bootstrap.User || a.present.has(f.Whole) {
			continue
		}
		for _, e := range standing.Entries(f.Whole) {
			lines = append(lines, Memory{Agent: a.Agent, Path: f.Name, StartLine: e.First, EndLine: e.Last, Score: 1, Text: e.Text})
		}
	}
	return a.missing(append(lines[:min(len(lines), maxStanding)], a.Preferences...))
}

// maxStanding is the maximum number of entries of the files that are looked at: far more than the section has room for.
const maxStanding = 200

// missing returns those memories whose text or quote neither stands in the prompt nor was in an earlier one. Those that seem to give
// the model instructions about itself have no place.
func (a *assembly) missing(memories []Memory) (kept []Memory) {
	seen := a.present
	for _, m := range memories {
		m.Flags = suspicions(m.Text)
		if !slices.Contains(m.Flags, FlagInstruction) && !seen.hasItem(m.Text) && (m.Quote == "" || !seen.hasItem(m.Quote)) {
			kept, seen = append(kept, m), seen+presentIn([]string{m.Text})
		}
	}
	return kept
}

// standingPart returns the part with standing instructions and preferences.
func (a *assembly) standingPart() *part {
	p := &part{name: standingName}
	all := a.standingLines()
	p.frame = func(lines []Memory) string { return a.standingFrame(lines, len(all)-len(lines)) }
	left := standingTokens - a.tokens(a.standingFrame([]Memory{{}}, len(all)))
	for _, m := range all {
		if size := a.tokens(line(m)); size <= left {
			p.memories, left = append(p.memories, m), left-size
		} else {
			a.leaveOut(m, ReasonStanding)
		}
	}
	p.text = p.frame(p.memories)
	return p
}

// standingFrame returns the section with standing instructions and preferences, and the number of others; empty if there are none. It
// does not depend on the time, so that it stays the same from turn to turn.
func (a *assembly) standingFrame(lines []Memory, more int) string {
	if len(lines) == 0 {
		return ""
	}
	var text strings.Builder
	for _, m := range lines {
		text.WriteString(line(m) + "\n")
	}
	if more > 0 {
		fmt.Fprintf(&text, "(%d more)\n", more)
	}
	return a.enclose(memory.StandingHeading, memory.StandingIntro, memory.RecalledTag, text.String(), time.Time{})
}
