package kioku

import (
	"bytes"
	"fmt"
	"os"

	"kioku/chunker"
	"kioku/internal/marks"
	"kioku/internal/safefile"
	"kioku/internal/text"
	"kioku/memory"
)

// withheldLine stands in place of a line above the ceiling, as in searches.
const withheldLine = "[withheld]"

// pastCeiling returns the ceiling of a request for old notes, which nil means Private. It returns an error for Normal without derivation,
// which tells what is private.
func (m *Memory) pastCeiling(wanted *memory.Sensitivity) (memory.Sensitivity, error) {
	switch {
	case wanted == nil:
		return memory.Private, nil
	case *wanted == memory.Normal && m.opt.Episodes == nil:
		return memory.Normal, &memory.InputError{Field: "max_sensitivity",
			Problem: "is normal, but nobody knows which lines are private while derivation is off: set derive.enabled"}
	}
	return *wanted, nil
}

// noteUpTo returns a note as Get shows it, with lines above a ceiling replaced.
func (m *Memory) noteUpTo(name string, src []byte, ceiling memory.Sensitivity) string {
	if decoded, _, err := text.Decode(src); err == nil {
		src = decoded
	}
	if m.opt.Episodes != nil && ceiling < memory.Secret {
		lines := bytes.SplitAfter(src, []byte("\n"))
		for _, e := range m.opt.Episodes(memory.SourceFile{Path: name, Source: memory.SourceMemory, Data: src}) {
			for n := max(e.StartLine, 1); e.Sensitivity > ceiling && n <= min(e.EndLine, len(lines)); n++ {
				if said := bytes.TrimRight(lines[n-1], "\r\n"); len(said) > 0 {
					lines[n-1] = append([]byte(withheldLine), lines[n-1][len(said):]...)
				}
			}
		}
		src = bytes.Join(lines, nil)
	}
	return chunker.Normalize(marks.Strip(src))
}

// withholdPast leaves out the passages of old notes that have lines above a ceiling of sensitivity, if derivation knows it. A note that
// cannot be read is left out too.
func (m *Memory) withholdPast(past *Memory, answer *memory.Answer, ceiling memory.Sensitivity) error {
	if m.opt.Episodes == nil || ceiling >= memory.Secret {
		return nil
	}
	root, err := os.OpenRoot(past.workspace)
	if err != nil {
		return err
	}
	defer root.Close()
	cut := map[string][]memory.Episode{}
	shown := answer.Hits[:0]
	for _, h := range answer.Hits {
		episodes, known := cut[h.Path]
		if !known {
			src, err := safefile.ReadText(root, h.Path, m.opt.Index.maxFileBytes())
			if err != nil {
				answer.Withheld++
				continue
			}
			episodes = m.opt.Episodes(memory.SourceFile{Path: h.Path, Source: h.Source, Data: src.Data})
			cut[h.Path] = episodes
		}
		if isAbove(h, episodes, ceiling) {
			answer.Withheld++
			continue
		}
		shown = append(shown, h)
	}
	answer.Hits = shown
	if n := answer.Withheld; n > 0 {
		answer.Degraded = append(answer.Degraded, memory.Degradation{
			Code: memory.Withheld, Text: fmt.Sprintf("%d passages that match have lines above the ceiling of sensitivity; they were left out.", n),
		})
	}
	return nil
}

// isAbove reports whether a passage has lines of an episode above a ceiling.
func isAbove(h memory.Hit, episodes []memory.Episode, ceiling memory.Sensitivity) bool {
	for _, e := range episodes {
		if e.Sensitivity > ceiling && e.StartLine <= h.EndLine && h.StartLine <= e.EndLine {
			return true
		}
	}
	return false
}
