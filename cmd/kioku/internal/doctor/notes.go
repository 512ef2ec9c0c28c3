package doctor

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"kioku/agent/transcripts"
	"kioku/cmd/kioku/internal/render"
	"kioku/memory"
	"kioku/note"
	"kioku/note/forgotten"
)

// maxUntidy is the maximum number of untidy entries that are named.
const maxUntidy = 5

// checkNotes looks for entries of MEMORY.md and USER.md that say what others say, or the contrary, and for what is hidden because it was forgotten.
func checkNotes(_ context.Context, s *Subject) []Finding {
	if s.PlaceErr != nil {
		return nil
	}
	var found []Finding
	gone, err := forgotten.NewReader().In(s.Place.Workspace)
	if err != nil {
		found = append(found, Finding{"notes.forgotten", Warn, fmt.Sprintf("%s cannot be read, so that what was forgotten may be found again: %v", forgotten.File, err), "mend or restore the file"})
	}
	n := 0
	for _, name := range []string{"MEMORY.md", "USER.md"} {
		text, err := os.ReadFile(filepath.Join(s.Place.Workspace, name))
		if err != nil {
			continue // a folder may have none
		}
		for _, e := range forgotten.Sentences(text) {
			if id := gone.Says(e.Text); id != "" {
				found = append(found, Finding{"notes.forgotten", Warn, fmt.Sprintf("%s:%d says what was forgotten, and is shown to nobody", name, e.Line), "remove the line, or kioku forget --undo " + id})
			}
		}
		for _, u := range note.Tidy(name, gone.Mask(text)) {
			if n++; n > maxUntidy {
				continue
			}
			says := "says what line %d says"
			if u.Kind == memory.UntidyContradiction {
				says = "contradicts line %d"
			}
			found = append(found, Finding{"notes." + u.Kind, Warn, fmt.Sprintf("%s:%d "+says+": %s", u.Path, u.Line, u.OtherLine, render.CleanLine(u.Text)), "kioku tidy"})
		}
	}
	found = append(found, checkHosts(s)...)
	if n > maxUntidy {
		found = append(found, Finding{"notes", Warn, fmt.Sprintf("and %d more", n-maxUntidy), "kioku tidy"})
	}
	return found
}

// hostLines and hostBytes are how much of a MEMORY.md Claude Code reads.
const hostLines, hostBytes = 200, 25 << 10

// checkHosts looks at the memories that other programs keep for themselves, if they are among the sources of the agent.
func checkHosts(s *Subject) (found []Finding) {
	if !s.Conf.HasHosts(s.Place.Agent) {
		return nil
	}
	own, _ := os.ReadFile(filepath.Join(s.Place.Workspace, "MEMORY.md")) // a folder may have none
	known := map[string]bool{}
	for _, e := range forgotten.Sentences(own) {
		known[e.Text] = true
	}
	var orphaned, others []string
	for _, dir := range s.Conf.HostMemories() {
		project := filepath.Dir(dir)
		ofClaude := filepath.Dir(project) == filepath.Clean(s.Conf.ClaudeCodeDir)
		if ofClaude {
			projects, certain := transcripts.ClaudeProjects(filepath.Base(project))
			switch {
			case len(projects) == 0 && certain:
				orphaned = append(orphaned, dir)
			case len(projects) > 0 && !slices.ContainsFunc(projects, s.isIn):
				others = append(others, projects[0])
			}
		}
		name := dir
		if filepath.Base(dir) == "memory" {
			name = filepath.Join(dir, "MEMORY.md")
		}
		text, err := os.ReadFile(name)
		if err != nil {
			continue // a folder of other notes
		}
		if lines := bytes.Count(text, []byte("\n")); ofClaude && (lines > hostLines || len(text) > hostBytes) {
			found = append(found, Finding{"notes.host", Warn, fmt.Sprintf("%s has %d lines; Claude Code reads the first %d, and %d KB", name, lines, hostLines, hostBytes>>10),
				"move what is rarely needed into files beside it"})
		}
		for _, e := range forgotten.Sentences(text) {
			if known[e.Text] {
				found = append(found, Finding{"notes.host", Warn, fmt.Sprintf("%s:%d stands in MEMORY.md too: %s", name, e.Line, render.CleanLine(e.Text)), "remove one of them"})
				break
			}
		}
	}
	if len(orphaned) > 0 {
		found = append(found, Finding{"notes.orphaned", Warn, "memories of projects that exist nowhere any more: " + examples(orphaned), "move what still holds into MEMORY.md, and remove the rest"})
	}
	if len(others) > 0 {
		found = append(found, Finding{"notes.projects", OK, "memories of projects that the workspace is not in: " + examples(others), ""})
	}
	return found
}

// isIn reports whether the workspace is a folder or below it.
func (s *Subject) isIn(dir string) bool {
	real, err := filepath.EvalSymlinks(s.Place.Workspace)
	return transcripts.Within(dir, s.Place.Workspace) || err == nil && transcripts.Within(dir, real)
}

// maxExamples is the maximum number of folders that a finding names.
const maxExamples = 3

// examples returns the number of folders, and the first of them.
func examples(dirs []string) string {
	text := fmt.Sprintf("%d, %s", len(dirs), strings.Join(dirs[:min(len(dirs), maxExamples)], ", "))
	if len(dirs) > maxExamples {
		text += ", ..."
	}
	return text
}
