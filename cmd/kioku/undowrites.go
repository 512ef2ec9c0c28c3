package main

import (
	"context"

	"github.com/spf13/cobra"

	"kioku/cmd/kioku/internal/connect"
	"kioku/cmd/kioku/internal/render"
	"kioku/memory"
	"kioku/server"
)

// writesFlags select what an agent has written.
type writesFlags struct {
	req          server.UndoWrites
	since, until string
}

// addFlags adds the flags to a command.
func (f *writesFlags) addFlags(cmd *cobra.Command) {
	fl := cmd.Flags()
	fl.StringVar(&f.req.Session, "session", "", "take back the notes of this `conversation`")
	fl.StringVar(&f.since, "since", "", "take back notes and updates since this `time`: 2h, yesterday, 2026-10-01")
	fl.StringVar(&f.until, "until", "", "only those until this `time`")
	fl.StringSliceVar(&f.req.Sources, "from", nil, "only those of these `writers`: agent, tool, flush or user (default: all but user)")
	completeFlag(cmd, "from", memory.NoteFromAgent, memory.NoteFromTool, memory.NoteFromFlush, memory.NoteFromUser)
	fl.BoolVar(&f.req.DryRun, "dry-run", false, "only list what would be taken back")
}

// given reports whether writes are selected, rather than a revision.
func (f *writesFlags) given(cmd *cobra.Command) bool {
	for _, name := range []string{"session", "since", "until", "from", "dry-run"} {
		if cmd.Flags().Changed(name) {
			return true
		}
	}
	return false
}

// undoWrites takes back what an agent has written.
func (a *app) undoWrites(ctx context.Context, f *writesFlags) (err error) {
	if f.req.Session == "" && f.since == "" {
		return render.Misuse("say what to take back: --session NAME, --since 2h, or both")
	}
	if f.req.Since, err = a.pastTime("since", f.since, false); err == nil {
		f.req.Until, err = a.pastTime("until", f.until, true)
	}
	if err != nil {
		return err
	}
	return a.with(ctx, connect.ToAppend, func(c *connect.Client) error {
		f.req.Agent = c.Agent
		done, err := server.NotesThen.Undo.Call(ctx, c.Conn, f.req)
		if err != nil {
			return err
		}
		if err := a.Write(done, func(p *render.Page) { p.Writes(done.Writes, f.req.DryRun) }); err != nil || a.JSON {
			return err
		}
		a.tellUndone(done, f.req.DryRun)
		return nil
	})
}

// tellUndone tells what was left, and how to bring back what was not.
func (a *app) tellUndone(done memory.UndoneWrites, dry bool) {
	edited := 0
	for _, w := range done.Writes {
		if w.Outcome == memory.WriteEdited {
			edited++
		}
	}
	if edited > 0 {
		a.Notice("%d of them were edited since and stay; edit them by hand", edited)
	}
	if dry {
		a.Notice("nothing was changed; omit --dry-run to take back what is marked as undone")
	}
	for _, id := range done.Revisions {
		a.Notice("kioku undo %s brings back what was removed", id)
	}
}
