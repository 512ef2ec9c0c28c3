package main

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"

	"kioku/cmd/kioku/internal/render"
)

// manCmd writes the manual pages. make install runs it.
func (a *app) manCmd() *cobra.Command {
	return &cobra.Command{
		Use: "man FOLDER", Short: "Write a manual page for each command into a folder", Args: cobra.ExactArgs(1),
		Long: "Write a manual page for each command into a folder. The date of the pages is that of the variable SOURCE_DATE_EPOCH, if it is set.",
		RunE: func(cmd *cobra.Command, args []string) error {
			date, err := a.buildDate()
			if err != nil {
				return err
			}
			if err := os.MkdirAll(args[0], 0o755); err != nil {
				return err
			}
			root := cmd.Root()
			disableTag(root)
			header := &doc.GenManHeader{Section: "1", Source: "kioku", Manual: "Kioku", Date: &date}
			if err := doc.GenManTree(root, header, args[0]); err != nil {
				return fmt.Errorf("write manual pages: %w", err)
			}
			return nil
		},
	}
}

// disableTag leaves out the line that says which program wrote a page, and when.
func disableTag(cmd *cobra.Command) {
	cmd.DisableAutoGenTag = true
	for _, c := range cmd.Commands() {
		disableTag(c)
	}
}

// buildDate returns the time that SOURCE_DATE_EPOCH names, else today.
func (a *app) buildDate() (time.Time, error) {
	for _, e := range a.Env {
		epoch, ok := strings.CutPrefix(e, "SOURCE_DATE_EPOCH=")
		if !ok || epoch == "" {
			continue
		}
		seconds, err := strconv.ParseInt(epoch, 10, 64)
		if err != nil {
			return time.Time{}, render.Misuse("SOURCE_DATE_EPOCH must be a number of seconds since 1970, not %q", epoch)
		}
		return time.Unix(seconds, 0).UTC(), nil
	}
	return time.Now().UTC(), nil
}
