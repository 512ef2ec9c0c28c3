package history

import (
	"bytes"
	"fmt"
	"os"
	"slices"

	"kioku/chunker"
	"kioku/internal/files"
	"kioku/internal/text"
	"kioku/memory"
)

// checkCeiling returns the ceiling of a request for old notes, which nil means Private. It returns an error for Normal without derivation,
// which tells what is private.
func (p *Past) checkCeiling(wanted *memory.Sensitivity) (memory.Sensitivity, error) {
	switch {
	case wanted == nil:
		return memory.Private, nil
	case *wanted == memory.Normal && p.opt.Episodes == nil:
		return memory.Normal, &memory.InputError{Field: "max_sensitivity",
			Problem: "is normal, but nobody knows which lines are private while derivation is off: set derive.enabled"}
	}
	return *wanted, nil
}

// noteUpTo returns a note as Get shows it, with lines above a ceiling replaced.
func (p *Past) noteUpTo(name string, src []byte, ceiling memory.Sensitivity) string {
	if decoded, _, err := text.Decode(src); err == nil {
		src = decoded
	}
	if p.opt.Episodes != nil && ceiling < memory.Secret {
		lines := bytes.SplitAfter(src, []byte("\n"))
		for _, e := range p.opt.Episodes(memory.SourceFile{Path: name, Source: memory.SourceMemory, Data: src}) {
			for n := max(e.StartLine, 1); e.Sensitivity > ceiling && n <= min(e.EndLine, len(lines)); n++ {
				if said := bytes.TrimRight(lines[n-1], "\r\n"); len(said) > 0 {
					lines[n-1] = append([]byte(memory.WithheldLine), lines[n-1][len(said):]...)
				}
			}
		}
		src = bytes.Join(lines, nil)
	}
	return chunker.Normalize(text.StripMarks(src))
}

// withhold leaves out the passages of an answer that have lines above a ceiling of sensitivity, if derivation knows it. folder has the old
// notes. A note that cannot be read is left out too.
func (p *Past) withhold(folder string, answer *memory.Answer, ceiling memory.Sensitivity) error {
	if p.opt.Episodes == nil || ceiling >= memory.Secret {
		return nil
	}
	root, err := os.OpenRoot(folder)
	if err != nil {
		return err
	}
	defer root.Close()
	cut := map[string][]memory.Episode{}
	shown := answer.Hits[:0]
	for _, h := range answer.Hits {
		episodes, known := cut[h.Path]
		if !known {
			src, err := files.ReadText(root, h.Path, p.opt.MaxFileBytes)
			if err != nil {
				answer.Withheld++
				continue
			}
			episodes = p.opt.Episodes(memory.SourceFile{Path: h.Path, Source: h.Source, Data: src.Data})
			cut[h.Path] = episodes
		}
		above := func(e memory.Episode) bool { return e.Sensitivity > ceiling && h.HasLinesOf(e) }
		if slices.ContainsFunc(episodes, above) {
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
