package render

import (
	"fmt"
	"slices"
	"strings"

	"kioku/agent/sidecar"
	"kioku/memory"
)

// Layers adds the table of a prompt's layers.
func (p *Page) Layers(made sidecar.Prompt) {
	width := len("layer")
	for _, l := range made.Layers {
		width = max(width, len([]rune(l.Name)))
	}
	chars := 0
	p.Linef("%-*s %10s %8s %7s", width, "layer", "characters", "tokens", "share")
	for _, l := range made.Layers {
		chars += l.Chars
		p.Linef("%-*s %10d %8d %6.1f%%", width, CleanLine(l.Name), l.Chars, l.Tokens, 100*float64(l.Tokens)/float64(max(made.Tokens, 1)))
	}
	p.Linef("%-*s %10d %8d", width, "all", chars, made.Tokens)
}

// PromptNotes returns what the table of layers lacks: what was cut or left out, and what was recalled.
func PromptNotes(made sidecar.Prompt) []string {
	var notes []string
	add := func(format string, args ...any) { notes = append(notes, fmt.Sprintf(format, args...)) }
	for _, f := range made.Files {
		switch {
		case f.Path == "":
		case f.Text == "":
			add("%s is left out: %s", f.Name, f.Reason)
		case f.Cut:
			add("%s is cut: %d of %d characters", f.Name, f.InjectedChars, f.RawChars)
		}
	}
	for _, e := range made.Skills.Report {
		if e.Reason != "" {
			add("skill %s is left out: %s (%s)", e.Name, e.Reason, e.Path)
		}
	}
	if made.Skills.Note != "" {
		add("skills: %s", made.Skills.Note)
	}
	for _, c := range made.Cuts {
		add("the budget cuts %s from %d to %s", c.Part, c.From, Count(c.To, "token"))
	}
	if made.Over {
		add("the prompt exceeds the budget, and nothing is left to cut")
	}
	if made.Group {
		add("this is a conversation of a group: MEMORY.md and memories that are not shared are left out")
	}
	return slices.Concat(notes, recallNotes(made))
}

// recallNotes returns what was searched and found.
func recallNotes(made sidecar.Prompt) []string {
	var notes []string
	add := func(format string, args ...any) { notes = append(notes, fmt.Sprintf(format, args...)) }
	if made.Recall.Skipped != "" {
		add("nothing is recalled: %s", made.Recall.Skipped)
		return notes
	}
	for _, s := range made.Recall.Searches {
		if s.Err != nil {
			add("the memory of %s does not answer: %v", s.Agent, s.Err)
			continue
		}
		add("the memory of %s has %s, by %s, in %s", s.Agent, Count(s.Hits, "passage"), searchedBy(s.Mode), ThreeDigits(s.Took))
		for _, d := range s.Degraded {
			if d.IsHint() {
				continue
			}
			add("degraded (%s): %s", d.Code, d.Text)
		}
	}
	for _, m := range made.Recalled {
		add("recalled %.2f %s%s", m.Score, m.Source(), flagsOf(m.Flags))
	}
	for _, m := range made.LeftOut {
		add("left out %.2f %s: %s", m.Score, m.Source(), m.Reason)
	}
	return notes
}

// searchedBy names the channels of a search.
func searchedBy(mode string) string {
	if mode == memory.ModeKeyword {
		return "keywords"
	}
	return mode
}

// flagsOf names what looks suspicious about a memory.
func flagsOf(flags []string) string {
	if len(flags) == 0 {
		return ""
	}
	return " (" + strings.Join(flags, ", ") + ")"
}
