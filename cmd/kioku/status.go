package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	kiokuv1 "kioku/proto/kioku/v1"
)

func (a *app) statusCmd() *cobra.Command {
	var deep bool
	cmd := &cobra.Command{
		Use: "status", Short: "Describe the index: counts, lag, skipped files, provider",
		Args: cobra.NoArgs, ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.with(cmd.Context(), toRead, func(c *client) error { return a.status(cmd.Context(), c, deep) })
		},
	}
	cmd.Flags().BoolVar(&deep, "deep", false, "read every file again and compare it with the index")
	return cmd
}

func (a *app) status(ctx context.Context, c *client, deep bool) error {
	checked, err := a.check(ctx, c, deep)
	if err != nil {
		return err
	}
	st, err := c.Status(ctx, &kiokuv1.StatusRequest{Agent: c.agent})
	if err != nil {
		return err
	}
	if a.json {
		return a.writeProto(st)
	}
	p := a.page()
	p.status(st, time.Now())
	if checked != nil {
		p.linef("%-10s every file was read; %s changed", "checked", count(checked.GetFilesDone(), "file"))
	}
	return a.show(p)
}

// check brings the index in step; a deep check reads every file, and its outcome is returned.
func (a *app) check(ctx context.Context, c *client, deep bool) (*kiokuv1.Progress, error) {
	switch {
	case !deep:
		return nil, a.freshen(ctx, c)
	case c.readOnly:
		return nil, errors.New("--deep needs the right to write to the index, which is open read-only")
	}
	done, err := a.follow(c.Sync(ctx, &kiokuv1.SyncRequest{Agent: c.agent, Verify: true, NoRebuild: true}))
	if err == nil {
		a.tellUndone(done.GetDegraded())
	}
	return done, err
}

// status adds what people want to know of an index, a line for each matter.
func (p *page) status(st *kiokuv1.StatusResponse, now time.Time) {
	row := func(name, format string, args ...any) {
		p.linef("%-10s %s", name, fmt.Sprintf(format, args...))
	}
	ix := st.GetIndex()
	row("agent", "%s", st.GetAgent())
	row("workspace", "%s", st.GetWorkspace())
	row("index", "%s, %s, %d pending, generation %d, %s", count(ix.GetFiles(), "file"), count(ix.GetChunks(), "chunk"),
		ix.GetPendingFiles(), ix.GetGeneration(), lastSync(ix, now))
	row("provider", "%s", providerText(st.GetProvider()))
	row("vectors", "%d of %s embedded, %d cached", st.GetEmbeddedChunks(), count(ix.GetChunks(), "chunk"), st.GetCachedEmbeddings())
	row("memory", "%s of vectors; %s of %s for all agents", size(st.GetHeldBytes()), size(st.GetMemoryHeldBytes()),
		size(st.GetMemoryBudgetBytes()))
	row("watch", "%s", strings.TrimSuffix(st.GetWatchMode()+", "+st.GetWatchNote(), ", "))
	row("database", "%s, %s and %s of log", st.GetDatabase(), size(st.GetDatabaseBytes()), size(st.GetWalBytes()))
	if st.GetSyncing() {
		row("working", "a sync is running")
	}
	for _, path := range st.GetUnavailable() {
		row("missing", "%s cannot be read; what the index holds of it is kept", path)
	}
	for _, f := range st.GetSkipped() {
		row("skipped", "%s", strings.TrimPrefix(f.GetPath()+": "+f.GetReason(), ": "))
	}
	for _, d := range st.GetDegraded() {
		row("degraded", "%s: %s", d.GetCode(), d.GetText())
	}
}

func lastSync(ix *kiokuv1.IndexState, now time.Time) string {
	if ix.GetLastSync() == nil {
		return "never in step"
	}
	return "in step " + now.Sub(ix.GetLastSync().AsTime()).Round(time.Second).String() + " ago"
}

func providerText(p *kiokuv1.Provider) string {
	text := strings.Join(strings.Fields(p.GetProvider()+" "+p.GetModel()), " ")
	if p.GetDims() > 0 {
		text += fmt.Sprintf(", %d dimensions", p.GetDims())
	}
	if p.GetHealthy() || p.GetError() == "" {
		return text
	}
	text += ", not answering: " + p.GetError()
	if p.GetRetryAt() != nil {
		text += ", next try at " + p.GetRetryAt().AsTime().Local().Format(time.TimeOnly)
	}
	return text
}

// size is a number of bytes for people.
func size(n int64) string {
	const units = "kMGT"
	if n < 1000 {
		return fmt.Sprintf("%d B", n)
	}
	x, i := float64(n)/1000, 0
	for x >= 999.5 && i < len(units)-1 {
		x, i = x/1000, i+1
	}
	return fmt.Sprintf("%.3g %cB", x, units[i])
}
