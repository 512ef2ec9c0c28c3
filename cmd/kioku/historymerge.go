package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
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
		Long: "Merge notes by entry into OURS: what each side has added is there once, what one has removed is gone, and what both have changed is there as\n" +
			"each has it. git calls it once it is installed: --install, run in each clone, adds the files to .gitattributes and the command to the\n" +
			"settings of the repository.",
		Example: "  cd ~/notes && kioku history merge --install",
		Args:    cobra.MaximumNArgs(3), ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, args []string) error {
			if install && len(args) == 0 {
				return a.installMerge(cmd.Context())
			}
			if install || len(args) != 3 {
				return render.Misuse("name the three files BASE OURS THEIRS, or --install")
			}
			var texts [3][]byte
			for i, name := range args {
				text, err := os.ReadFile(name)
				if err != nil {
					return err
				}
				texts[i] = text
			}
			return os.WriteFile(args[1], note.Merge(texts[0], texts[1], texts[2]), 0o600)
		},
	}
	cmd.Flags().BoolVar(&install, "install", false, "have git in the folder of notes merge so")
	return cmd
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
		out, err := exec.CommandContext(ctx, "git", "-C", place.Workspace, "config", pair[0], pair[1]).CombinedOutput()
		if err != nil {
			return fmt.Errorf("%s is in no repository of git that can be set up: %s", place.Workspace, strings.TrimSpace(string(out)))
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
