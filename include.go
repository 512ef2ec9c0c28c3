package kioku

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"kioku/indexer"
	"kioku/internal/atomicfile"
	"kioku/internal/filelock"
	"kioku/memory"
	"kioku/note"
)

// includeAll is what IncludeAll adds to the settings file of a workspace.
const includeAll = "# All Markdown of this folder is indexed, not only MEMORY.md and memory/.\ninclude: [\"**/*.md\"]\n"

// IncludeAll adds to the settings file of a workspace, .kioku.yaml, that every Markdown file in it is indexed. It makes the file
// if there is none, and changes nothing if the file says already what to include. It returns an error that says what to do if
// the file cannot be written or is no YAML that a line can be added to.
func IncludeAll(ctx context.Context, workspace string) error {
	root, err := os.OpenRoot(workspace)
	if err != nil {
		return fmt.Errorf("%w: %w", memory.ErrUnavailable, err)
	}
	defer root.Close()
	return recordInclude(ctx, root)
}

// keepWhole makes sure that the files of a whole folder stay in the index once it has MEMORY.md or memory/, in which Append is
// about to write. The settings file says so: it survives the index, is copied with the folder, and people can read it.
func (m *Memory) keepWhole(ctx context.Context) error {
	hides, err := m.indexer.HidesFiles(ctx)
	if err != nil || !hides {
		return err
	}
	if err := IncludeAll(ctx, m.workspace); err != nil {
		return fmt.Errorf("%w; the note was not written, because with it the other files of the folder would no longer be indexed", err)
	}
	return nil
}

// recordInclude adds includeAll to the settings file in a folder. Other processes that do the same wait for the lock.
func recordInclude(ctx context.Context, root *os.Root) (err error) {
	f, err := note.OpenLocked(ctx, root, indexer.SettingsFile, 0o644)
	if err != nil {
		return note.Unwritten(indexer.SettingsFile, err)
	}
	defer func() { err = errors.Join(err, filelock.Unlock(f)) }()
	text, err := io.ReadAll(f)
	if err != nil {
		return note.Unwritten(indexer.SettingsFile, err)
	}
	globs, err := indexer.ParseInclude(text)
	if err == nil && len(globs) > 0 {
		return nil
	}
	lines := includeAll
	if len(text) > 0 && text[len(text)-1] != '\n' {
		lines = "\n" + lines
	}
	if err == nil {
		globs, err = indexer.ParseInclude(append(text, lines...))
	}
	if err != nil || len(globs) == 0 {
		return errors.Join(fmt.Errorf("%s: add the line include: [\"**/*.md\"] to it yourself", indexer.SettingsFile), err)
	}
	if err := atomicfile.Append(f, []byte(lines)); err != nil {
		return note.Unwritten(indexer.SettingsFile, err)
	}
	return atomicfile.SyncFolder(root, ".")
}
