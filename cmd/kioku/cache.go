package main

import (
	"context"
	"errors"
	"time"

	"github.com/spf13/cobra"

	"kioku/cmd/kioku/internal/connect"
	"kioku/cmd/kioku/internal/render"
	"kioku/embed"
	"kioku/vectors"
)

func (a *app) cacheCmd() *cobra.Command {
	cmd := &cobra.Command{
		Use: "cache", Short: "Show and prune embeddings",
		Long: "Show and prune the embeddings that were paid for. Nothing here asks a provider.",
	}
	group(cmd, a.cacheStatsCmd(), a.cachePruneCmd())
	return cmd
}

// withCache calls f with a memory in this process, which also reads the index beside a daemon.
func (a *app) withCache(ctx context.Context, n connect.Need, f func(*connect.Client) error) error {
	k, err := a.connector()
	if err != nil {
		return err
	}
	k.NoDaemon = true
	return k.With(ctx, n, f)
}

// cachedSpace is one space in the output of kioku cache stats --json, which scripts read.
type cachedSpace struct {
	Provider   string `json:"provider"`
	Model      string `json:"model"`
	Dimensions int    `json:"dimensions"`
	Endpoint   string `json:"endpoint,omitempty"`
	// Live is true for the model that searches use.
	Live bool `json:"live"`
	// Documents and Windows count the vectors of chunks and of their windows, and Unused those of texts that are not indexed.
	Documents int   `json:"documents"`
	Windows   int   `json:"windows"`
	Unused    int   `json:"unused"`
	Bytes     int64 `json:"bytes"`
	// LastUsed is when one of them was last written.
	LastUsed string `json:"lastUsed"`
}

func (a *app) cacheStatsCmd() *cobra.Command {
	return &cobra.Command{
		Use: "stats", Short: "List the embeddings by model", Args: cobra.NoArgs, ValidArgsFunction: cobra.NoFileCompletions,
		Long: "List the embeddings by model: those of chunks and of their windows, and how many are of texts that are not in the notes any more.",
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.withCache(cmd.Context(), connect.ToSearch, func(c *connect.Client) error {
				spaces, active, err := c.Memory.CacheStats(cmd.Context())
				if err != nil {
					return err
				}
				list := []cachedSpace{}
				for _, s := range spaces {
					list = append(list, newCachedSpace(s, active))
				}
				return a.Write(list, func(p *render.Page) { tellSpaces(p, list) })
			})
		},
	}
}

func newCachedSpace(s vectors.CachedSpace, active embed.Space) cachedSpace {
	return cachedSpace{Provider: s.Space.Provider, Model: s.Space.Model, Dimensions: s.Space.Dims, Endpoint: s.Space.Endpoint,
		Live: s.Space == active, Documents: s.Documents, Windows: s.Windows, Unused: s.Unused, Bytes: s.Bytes, LastUsed: s.Used.UTC().Format(time.RFC3339)}
}

// tellSpaces writes a line for each space.
func tellSpaces(p *render.Page, list []cachedSpace) {
	if len(list) == 0 {
		p.Linef("no embeddings")
	}
	for _, s := range list {
		live := ""
		if s.Live {
			live = ", in use"
		}
		p.Linef("%s/%s (%d dimensions)%s: %d of chunks, %d of windows, %d of them unused, %.1f MB", s.Provider, s.Model, s.Dimensions, live,
			s.Documents, s.Windows, s.Unused, float64(s.Bytes)/1e6)
	}
}

func (a *app) cachePruneCmd() *cobra.Command {
	var p vectors.Prune
	var days int
	cmd := &cobra.Command{
		Use: "prune", Short: "Delete embeddings that are not in use", Args: cobra.NoArgs, ValidArgsFunction: cobra.NoFileCompletions,
		Long: "Delete embeddings, never those that searches use. Of several flags, all have to hold.",
		Example: "  kioku cache prune --all-unused\n  kioku cache prune --space openai/text-embedding-3-small\n" +
			"  kioku cache prune --all-unused --older-than 90",
		RunE: func(cmd *cobra.Command, _ []string) error {
			if p == (vectors.Prune{}) && days == 0 {
				return flagError(cmd, errors.New("say what to delete: --all-unused, --space or --older-than"))
			}
			if days > 0 {
				p.Before = time.Now().AddDate(0, 0, -days)
			}
			return a.withCache(cmd.Context(), connect.ToWrite, func(c *connect.Client) error {
				n, err := c.Memory.PruneCache(cmd.Context(), p)
				if err != nil {
					return err
				}
				return a.Write(map[string]int{"deleted": n}, func(p *render.Page) { p.Linef("%d embeddings were deleted", n) })
			})
		},
	}
	cmd.Flags().StringVar(&p.Model, "space", "", "only those of this model, MODEL or PROVIDER/MODEL")
	cmd.Flags().IntVar(&days, "older-than", 0, "only those that were cached so many days ago or earlier")
	cmd.Flags().BoolVar(&p.Unused, "all-unused", false, "only those of texts that are not in the notes any more")
	return cmd
}
