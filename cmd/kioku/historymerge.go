package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"kioku/cmd/kioku/internal/render"
	"kioku/note"
)

// mergedFiles are the attributes of a folder of notes in git.
const mergedFiles = "# Notes that two machines have changed are merged by entry; see kioku history merge --help.\n" +
	"MEMORY.md merge=kioku\nUSER.md merge=kioku\nmemory/**/*.md merge=kioku\n" + ".kioku-forgotten.jsonl merge=union\n"

func (a *app) historyMergeCmd() *cobra.Command {
	install := false
	cmd := &cobra.Command{
		Use: "merge BASE OURS THEIRS", Short: "Merge notes that two machines have changed, for git",
		Long: "Merge notes into OURS: lines as git merges them, and conflicts by entry: what each side has added is there, what one has removed is gone, and\n" +
			"what both have changed is there as each has it. git calls it once it is installed: --install, run in each clone, adds the files to\n" +
			".gitattributes and the command to the settings of the repository.",
		Example: "  cd ~/notes && kioku history merge --install",
		Args:    cobra.MaximumNArgs(3), ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, args []string) error {
			if install && len(args) == 0 {
				return a.installMerge(cmd.Context())
			}
			if install || len(args) != 3 {
				return render.Misuse("name the three files BASE OURS THEIRS, or --install")
			}
			text, err := mergedNotes(cmd.Context(), args[0], args[1], args[2])
			if err != nil {
				return err
			}
			return os.WriteFile(args[1], text, 0o600)
		},
	}
	cmd.Flags().BoolVar(&install, "install", false, "have git in the folder of notes merge so")
	return cmd
}

// mergedNotes returns three files of notes as git merges their lines, and where these are in conflict by entry.
func mergedNotes(ctx context.Context, base, ours, theirs string) ([]byte, error) {
	size := 32 // of the marks of conflicts, longer than what looks like them in the files
	for _, name := range []string{base, ours, theirs} {
		text, err := os.ReadFile(name)
		if err != nil {
			return nil, err
		}
		for slices.ContainsFunc([]string{"<", "|", "=", ">"}, func(c string) bool { return bytes.Contains(text, []byte(strings.Repeat(c, size))) }) {
			size *= 2
		}
	}
	text, err := runGit(ctx, "merge-file", "-p", "--diff3", fmt.Sprintf("--marker-size=%d", size), "--", ours, base, theirs)
	var exit *exec.ExitError
	if err != nil && !(errors.As(err, &exit) && exit.ExitCode() > 0 && exit.ExitCode() < 128) { // up to 127 it is the number of conflicts
		return nil, err
	}
	return note.SettleConflicts(text, size), nil
}

// installMerge has the git of the folder of notes merge by entry.
func (a *app) installMerge(ctx context.Context) error {
	conf, err := a.config()
	if err != nil {
		return err
	}
	place, err := conf.Here()
	if err != nil {
		return err
	}
	for _, pair := range [][2]string{{"merge.kioku.name", "notes by entry"}, {"merge.kioku.driver", render.ShellQuote(a.programPath()) + " history merge %O %A %B"}} {
		if _, err := runGit(ctx, "-C", place.Workspace, "config", pair[0], pair[1]); err != nil {
			return fmt.Errorf("have git merge the notes of %s: %w", place.Workspace, err)
		}
	}
	err = note.AddLines(ctx, place.Workspace, ".gitattributes", mergedFiles, func(text []byte) (bool, error) {
		return strings.Contains(string(text), "merge=kioku"), nil
	})
	if err != nil {
		return err
	}
	a.Notice("git merges MEMORY.md, USER.md and memory/ of %s by entry now; commit .gitattributes, and run this in each clone", place.Workspace)
	return nil
}

// runGit returns what a command of git prints.
func runGit(ctx context.Context, args ...string) ([]byte, error) {
	var said strings.Builder
	cmd := exec.CommandContext(ctx, "git", args...)
	cmd.Stderr = &said
	out, err := cmd.Output()
	if errors.Is(err, exec.ErrNotFound) {
		return nil, errors.New("the program git is not installed; it does the merging")
	}
	if err != nil {
		err = fmt.Errorf("git: %w: %s", err, strings.TrimSpace(said.String()))
	}
	return out, err
}
