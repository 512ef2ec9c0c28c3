package main

import (
	"context"
	"slices"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"kioku"
	"kioku/cmd/kioku/config"
	"kioku/cmd/kioku/internal/connect"
	"kioku/cmd/kioku/internal/render"
	"kioku/indexer"
	"kioku/server"
)

// indexReport is the output of kioku index --json, which scripts read.
type indexReport struct {
	// Files and Chunks count what the index contains now, Skipped the files that it leaves out, or parts of them.
	Files  int `json:"files"`
	Chunks int `json:"chunks"`
	// Embedded counts the texts that a provider embedded in this run.
	Embedded   int   `json:"embedded"`
	Skipped    int   `json:"skipped"`
	Generation int64 `json:"generation"`
	// Took is the time of the run.
	Took time.Duration `json:"took"`
}

func (a *app) indexCmd() *cobra.Command {
	var f indexFlags
	cmd := &cobra.Command{
		Use: "index", Short: "Sync the index with the folder",
		Long: "Sync the index with the folder, and remove what the settings no longer include. Other commands only leave that out of their\n" +
			"answers.",
		Args: cobra.NoArgs, ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if f.estimate {
				return a.with(cmd.Context(), connect.ToWrite, func(c *connect.Client) error { return a.estimate(cmd.Context(), c) })
			}
			return a.with(cmd.Context(), connect.ToTakeOver, func(c *connect.Client) error { return a.index(cmd.Context(), c, f) })
		},
	}
	cmd.Flags().BoolVar(&f.force, "force", false, "rebuild the whole index; known embeddings are kept")
	cmd.Flags().BoolVar(&f.all, "all", false, "index all Markdown of the folder from now on: "+config.FolderFile+" says so")
	cmd.Flags().BoolVar(&f.estimate, "estimate", false, "only tell what it takes to embed what has no vector: texts, tokens, time")
	cmd.Flags().BoolVar(&f.strict, "strict", false, "exit with 3 if texts could not be embedded, or folders or files not read")
	return cmd
}

// indexFlags are the flags of kioku index.
type indexFlags struct{ force, all, strict, estimate bool }

func (a *app) index(ctx context.Context, c *connect.Client, f indexFlags) error {
	start := time.Now()
	report, err := a.syncAll(ctx, c, f)
	if ctx.Err() != nil && isCanceled(err) {
		a.Notice("what was indexed and embedded so far is kept; kioku index goes on from there")
	}
	if err != nil {
		return err
	}
	st, err := c.Status(ctx)
	if err != nil {
		return err
	}
	r := indexReport{
		Files: st.Index.Files, Chunks: st.Index.Chunks, Embedded: report.Embedded,
		Skipped: report.Skipped, Generation: st.Index.Generation, Took: time.Since(start).Round(time.Millisecond),
	}
	if err := a.Write(r, r.tell); err != nil {
		return err
	}
	a.TellDegraded(report.Degraded)
	lost := unread(st)
	for _, path := range lost {
		a.Notice("%s cannot be read; its entries stay in the index", path)
	}
	if len(st.Skipped) > 0 || len(lost) > 0 {
		a.Notice("not everything is indexed; kioku status lists what was skipped or not read, and why")
	}
	if f.strict && (len(report.Degraded) > 0 || len(lost) > 0) {
		return render.ErrDegraded
	}
	return nil
}

// syncAll syncs or rebuilds the index.
func (a *app) syncAll(ctx context.Context, c *connect.Client, f indexFlags) (server.SyncDone, error) {
	if f.all {
		if err := a.includeAll(ctx, c); err != nil {
			return server.SyncDone{}, err
		}
	}
	if f.force {
		return c.RebuildIndex(ctx)
	}
	return c.SyncIndex(ctx, indexer.SyncOptions{})
}

// includeAll writes into the file of the workspace that all of its Markdown is indexed.
func (a *app) includeAll(ctx context.Context, c *connect.Client) error {
	if a.conf.Client.Target != "" {
		return render.Misuse("--all writes %s in the workspace, which is on another machine; run it there", config.FolderFile)
	}
	if err := kioku.IncludeAll(ctx, c.Workspace); err != nil {
		return err
	}
	if slices.Contains(indexer.RecordedInclude(c.Workspace), indexer.WholeFolder[0]) {
		return nil
	}
	src := a.sources() // the file includes less
	src.Folder = c.Workspace
	_, err := config.Edit(src, "include", indexer.WholeFolder[0])
	return err
}

// unread returns the folders and files that the system did not allow to read, without the files that are skipped by rule.
func unread(st server.IndexStatus) []string {
	lost := slices.Clone(st.Sync.Unavailable)
	for _, f := range st.Skipped {
		if slices.Contains([]string{syscall.EACCES.Error(), syscall.EPERM.Error(), syscall.EIO.Error()}, f.Reason) {
			lost = append(lost, f.Path)
		}
	}
	return lost
}

// tell adds the report as a line.
func (r indexReport) tell(p *render.Page) {
	p.Linef("%s, %s, %d embedded now, %d skipped, %s", render.Count(r.Files, "file"), render.Count(r.Chunks, "passage"),
		r.Embedded, r.Skipped, r.Took)
}
