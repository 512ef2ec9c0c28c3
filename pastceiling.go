package kioku

import (
	"fmt"
	"os"

	"kioku/internal/safefile"
	"kioku/memory"
)

// withholdPast leaves out the passages of old notes that have lines above a ceiling of sensitivity, where derivation knows it. A note that
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
			src, _, err := safefile.Read(root, h.Path, m.opt.Index.maxFileBytes())
			if err != nil {
				answer.Withheld++
				continue
			}
			episodes = m.opt.Episodes(memory.SourceFile{Path: h.Path, Source: h.Source, Data: src})
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
