package doctor

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"kioku/history"
)

// checkHistory tells where the versions of notes are kept. A folder without a history is as it should be, unless there is a repository
// that cannot be read.
func checkHistory(ctx context.Context, s *Subject) []Finding {
	if s.PlaceErr != nil {
		return nil
	}
	_, err := history.OpenGit(ctx, s.Place.Workspace)
	switch {
	case err == nil:
		return one("history", OK, "git has versions of the notes: kioku history log, kioku search --as-of", "")
	case errors.Is(err, history.ErrForeignRepository), errors.Is(err, history.ErrNoGit) && (s.Conf.History.Journal || isInRepository(s.Place.Workspace)):
		return one("history", Warn, fmt.Sprintf("the versions of the notes cannot be read: %v", err), "install git, or change the owner of the repository")
	case s.Conf.History.Journal:
		return one("history", OK, "the journal keeps versions of the notes: kioku history log, kioku search --as-of", "")
	}
	return one("history", OK, "no versions of the notes are kept; git or kioku config set history.journal true keeps some", "")
}

// isInRepository reports whether a folder is in a repository of git.
func isInRepository(dir string) bool {
	for {
		if _, err := os.Lstat(filepath.Join(dir, ".git")); err == nil {
			return true
		}
		up := filepath.Dir(dir)
		if up == dir {
			return false
		}
		dir = up
	}
}
