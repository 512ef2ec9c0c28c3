package doctor

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"kioku/cmd/kioku/internal/render"
	"kioku/memory"
	"kioku/note"
)

// maxUntidy is the maximum number of untidy entries that are named.
const maxUntidy = 5

// checkNotes looks for entries of MEMORY.md and USER.md that say what others say, or the contrary.
func checkNotes(_ context.Context, s *Subject) []Finding {
	if s.PlaceErr != nil {
		return nil
	}
	var found []Finding
	n := 0
	for _, name := range []string{"MEMORY.md", "USER.md"} {
		text, err := os.ReadFile(filepath.Join(s.Place.Workspace, name))
		if err != nil {
			continue // a folder may have none
		}
		for _, u := range note.Tidy(name, text) {
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
	if n > maxUntidy {
		found = append(found, Finding{"notes", Warn, fmt.Sprintf("and %d more", n-maxUntidy), "kioku tidy"})
	}
	return found
}
