package main

import (
	"context"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"kioku/cmd/kioku/internal/connect"
	"kioku/cmd/kioku/internal/host"
	"kioku/cmd/kioku/internal/render"
	"kioku/memory"
	"kioku/server"
)

func (a *app) lsCmd() *cobra.Command {
	var f filterFlags
	var all bool
	cmd := &cobra.Command{
		Use: "ls [GLOB]...", Short: "List what is indexed: dates, passages, titles and tags",
		Long: "List the files of the index with their dates, numbers of passages, titles and tags. A glob selects paths, or folders above\n" +
			"them: ** stands for any folders, and a glob without / selects names in any folder.",
		Example: "  kioku ls\n  kioku ls \"projects/**\" --tag work\n  kioku ls --where status=done --since 2026-01",
		Args:    cobra.ArbitraryArgs, ValidArgsFunction: a.completePath,
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.fresh(cmd.Context(), func(c *connect.Client) error { return a.ls(cmd.Context(), c, f, args, all) })
		},
	}
	f.addFlags(cmd)
	cmd.Flags().BoolVarP(&all, "all", "a", false, "also files that are not indexed, with the reason, and what of a file could not be read")
	return cmd
}

func (a *app) ls(ctx context.Context, c *connect.Client, f filterFlags, globs []string, all bool) error {
	today := host.ClockOf(a.conf)()
	filter, err := f.filter(today)
	if err != nil {
		return err
	}
	if len(globs) == 0 {
		globs = []string{""}
	}
	list := server.NoteList{}
	for _, glob := range globs {
		found, err := c.AllFiles(ctx, memory.FileQuery{Glob: c.MemoryPath(glob), Filter: filter, Skipped: all})
		if err != nil {
			return err
		}
		list.Files, list.Index = append(list.Files, found.Files...), found.Index
	}
	if len(globs) > 1 {
		list.Files = distinct(list.Files)
	}
	list.Total = len(list.Files)
	remarks := map[string]string{}
	if all {
		st, err := c.Status(ctx)
		if err != nil {
			return err
		}
		for _, f := range st.Skipped {
			remarks[f.Path] = f.Reason
		}
	}
	if err := a.Write(list, func(p *render.Page) { p.Files(list.Files, remarks) }); err != nil {
		return err
	}
	a.tellFiles(list)
	return nil
}

// distinct returns files in the order of their paths, each once.
func distinct(files []memory.File) []memory.File {
	slices.SortStableFunc(files, func(a, b memory.File) int { return strings.Compare(a.Path, b.Path) })
	return slices.CompactFunc(files, func(a, b memory.File) bool { return a.Path == b.Path })
}

// tellFiles reports how many files there are.
func (a *app) tellFiles(list server.NoteList) {
	n, all := len(list.Files), list.Index.Files
	switch {
	case n == 0 && all == 0:
		a.Notice("nothing is indexed yet")
	case n == 0:
		a.Notice("none of %s is selected", render.Count(all, "file"))
	case !a.JSON:
		a.Notice("%s", render.Count(n, "file"))
	}
}
