package main

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"kioku/cmd/kioku/internal/connect"
	"kioku/cmd/kioku/internal/host"
	"kioku/cmd/kioku/internal/render"
	"kioku/memory"
	"kioku/server"
)

// timeOf parses the time of a flag: a day, a month, today or yesterday, of which the first moment counts, or the last one if end is
// true; a time of RFC 3339; or a duration before now such as 2h or 7d. ok is false for other texts.
func timeOf(text string, now time.Time, end bool) (_ time.Time, ok bool) {
	if t, err := time.Parse(time.RFC3339, text); err == nil {
		return t, true
	}
	if ago, ok := durationOf(text); ok {
		return now.Add(-ago), true
	}
	first, last, ok := daysOf(text, now)
	if !ok {
		return time.Time{}, false
	}
	day := first
	if end {
		day = last
	}
	t, err := time.ParseInLocation(time.DateOnly, day, now.Location())
	if end {
		t = t.AddDate(0, 0, 1).Add(-time.Second)
	}
	return t, err == nil
}

// durationOf parses a positive duration, also in days.
func durationOf(text string) (time.Duration, bool) {
	var days int
	if n, err := fmt.Sscanf(text, "%dd", &days); n == 1 && err == nil && fmt.Sprintf("%dd", days) == text && days > 0 && days < 40_000 {
		return time.Duration(days) * 24 * time.Hour, true
	}
	d, err := time.ParseDuration(text)
	return d, err == nil && d > 0
}

// pastTime returns the time of a flag of a command that looks back, zero if it is not given.
func (a *app) pastTime(flag, text string, end bool) (time.Time, error) {
	if text == "" {
		return time.Time{}, nil
	}
	conf, err := a.config()
	if err != nil {
		return time.Time{}, err
	}
	t, ok := timeOf(text, host.ClockOf(conf)().In(conf.Location), end)
	if !ok {
		return t, render.Misuse("--%s must be a day like 2026-01-20, a time like 2026-01-20T15:04:05Z, today, yesterday, or how long ago, like 2h or 7d, not %q", flag, text)
	}
	return t, nil
}

// versionOf returns the version that a flag names: by the end of a day, a time, or a revision; the zero value if it is not given.
func (a *app) versionOf(text string) (at memory.Moment, err error) {
	if text == "" {
		return at, nil
	}
	conf, err := a.config()
	if err != nil {
		return at, err
	}
	if t, ok := timeOf(text, host.ClockOf(conf)().In(conf.Location), true); ok {
		return memory.Moment{Time: t}, nil
	}
	return memory.Moment{Revision: text}, nil
}

func (a *app) logCmd() *cobra.Command {
	req := server.HistoryLog{}
	var since, until string
	cmd := ask(a, &cobra.Command{
		Use: "log [PATH]", Short: "List the changes of notes that git or the journal has",
		Long: "List the changes of all notes, of a folder, or of a file, whose renames are followed, the latest first: from the repository of git that the\n" +
			"workspace is in, else from the journal that history.journal keeps.",
		Example: "  kioku history log\n  kioku history log MEMORY.md --since 2026-10-01\n  kioku history log memory --since 7d --json",
		Args:    cobra.MaximumNArgs(1), ValidArgsFunction: a.completePath,
	}, a.to(connect.ToGet), server.NotesThen.Log, func(c *connect.Client, args []string) (_ server.HistoryLog, err error) {
		req.OfAgent, req.Path = c.Of(), pathArgument(c, args)
		if req.Since, err = a.pastTime("since", since, false); err == nil {
			req.Until, err = a.pastTime("until", until, true)
		}
		return req, err
	}, (*render.Page).FileChanges)
	cmd.Flags().StringVar(&since, "since", "", "only changes since this `time`: 2026-10-01, yesterday, 7d")
	cmd.Flags().StringVar(&until, "until", "", "only changes until this `time`")
	cmd.Flags().IntVarP(&req.Limit, "limit", "n", 0, "maximum `number` of changes (default 100)")
	return cmd
}

// pathArgument returns the path in the memory that the first argument names; empty if there is none.
func pathArgument(c *connect.Client, args []string) string {
	if len(args) == 0 {
		return ""
	}
	return c.MemoryPath(args[0])
}

func (a *app) showCmd() *cobra.Command {
	req := server.ShowFile{}
	at := ""
	cmd := ask(a, &cobra.Command{
		Use: "show PATH", Short: "Print a note as it was",
		Long: "Print a note as it was at the end of a day, at a time or in a revision, by the path that it has now or had then. Without --at it is the\n" +
			"note of the last commit.",
		Example: "  kioku history show MEMORY.md --at 2026-10-01\n  kioku history show memory/2026-01-20.md --at HEAD~3",
		Args:    cobra.ExactArgs(1), ValidArgsFunction: a.completePath,
	}, a.to(connect.ToGet), server.NotesThen.Show, func(c *connect.Client, args []string) (_ server.ShowFile, err error) {
		req.OfAgent, req.Path = c.Of(), pathArgument(c, args)
		req.At, err = a.versionOf(at)
		return req, err
	}, func(p *render.Page, file memory.PastFile) {
		a.Notice("%s as of %s", file.Path, render.VersionName(file.Version))
		p.Text(file.Text)
	})
	cmd.Flags().StringVar(&at, "at", "", "`version` to show: 2026-10-01, a time, 7d or a commit")
	pastCeilingFlag(cmd, &req.MaxSensitivity)
	return cmd
}

// pastCeilingFlag adds the flag for the ceiling of old notes.
func pastCeilingFlag(cmd *cobra.Command, at *string) {
	cmd.Flags().StringVar(at, "max-sensitivity", "", "`ceiling` of the lines that are shown: normal, private (default) or secret")
	completeFlag(cmd, "max-sensitivity", "normal", "private", "secret")
}

func (a *app) diffCmd() *cobra.Command {
	req := server.DiffFiles{}
	var from, to string
	with := func(ctx context.Context, f func(*connect.Client) error) error {
		if to == "" {
			return a.fresh(ctx, f)
		}
		return a.with(ctx, connect.ToSearch, f)
	}
	cmd := ask(a, &cobra.Command{
		Use: "diff [PATH]", Short: "Show what two versions of the notes differ in",
		Long: "Show what two versions of all notes, of a folder or of a file differ in. Without --from the version before is that of the last commit;\n" +
			"without --to the other one is the notes as they are now.",
		Example: "  kioku history diff\n  kioku history diff MEMORY.md --from 2026-10-01\n  kioku history diff memory --from 2026-10-01 --to 2026-10-31",
		Args:    cobra.MaximumNArgs(1), ValidArgsFunction: a.completePath,
	}, with, server.NotesThen.Diff, func(c *connect.Client, args []string) (_ server.DiffFiles, err error) {
		req.OfAgent, req.Path = c.Of(), pathArgument(c, args)
		if req.From, err = a.versionOf(from); err == nil && to != "" {
			req.To = new(memory.Moment)
			*req.To, err = a.versionOf(to)
		}
		return req, err
	}, (*render.Page).FileDiffs)
	cmd.Flags().StringVar(&from, "from", "", "`version` before: 2026-10-01, a time, 7d or a commit")
	cmd.Flags().StringVar(&to, "to", "", "`version` after (default: the notes as they are now)")
	pastCeilingFlag(cmd, &req.MaxSensitivity)
	return cmd
}

func (a *app) historyCmd() *cobra.Command {
	purge := ask(a, &cobra.Command{
		Use: "purge [PATH]", Short: "Remove what Kioku keeps of old notes",
		Long: "Remove the versions of all notes, of a folder or of a file from the journal, the changes that kioku undo knows, and the indexes that searches\n" +
			"of the past have left. What the notes say now is recorded again by the next sync. A repository of git is not changed.",
		Example: "  kioku history purge memory/private.md\n  kioku history purge",
		Args:    cobra.MaximumNArgs(1), ValidArgsFunction: a.completePath,
	}, a.to(connect.ToAppend), server.NotesThen.Purge, ofPath, func(p *render.Page, gone memory.Purged) {
		p.Linef("removed %d versions of notes, %d changes that undo knew and %d indexes of the past", gone.Versions, gone.Copies, gone.Indexes)
	})
	return group(&cobra.Command{Use: "history", Short: "What notes said before: log, show, diff; and purge what is kept of it"}, a.logCmd(), a.showCmd(), a.diffCmd(), a.historyMergeCmd(), purge)
}

// searchPast answers a question from the notes as they were.
func (a *app) searchPast(ctx context.Context, c *connect.Client, q *question) error {
	at, err := a.versionOf(q.version)
	if err != nil {
		return err
	}
	var past memory.PastAnswer
	search := func(ctx context.Context, q memory.Query) (_ memory.Answer, err error) {
		past, err = server.NotesThen.Search.Call(ctx, c.Conn, server.SearchThen{SearchNotes: server.SearchNotes{OfAgent: c.Of(), Query: q}, At: at})
		return past.Answer, err
	}
	if a.JSON {
		if _, err := search(ctx, q.Query); err != nil {
			return err
		}
		if err := a.Write(past, nil); err != nil {
			return err
		}
		return render.Strict(q.strict, past.Answer)
	}
	err = a.Search(ctx, search, q.Query, q.strict)
	if past.Version != (memory.FolderVersion{}) {
		a.Notice("as of %s", render.VersionName(past.Version))
	}
	return err
}
