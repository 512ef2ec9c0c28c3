package main

import (
	"errors"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"kioku/cmd/kioku/internal/connect"
	"kioku/cmd/kioku/internal/render"
)

// exportReport is the output of kioku export --json.
type exportReport struct {
	// File is the path of the copy, and Bytes its size.
	File  string `json:"file"`
	Bytes int64  `json:"bytes"`
}

func (a *app) exportCmd() *cobra.Command {
	return &cobra.Command{
		Use: "export FILE", Short: "Copy the embeddings to a file, so that another machine need not pay for them", Args: cobra.ExactArgs(1),
		Long: "Copy the embeddings to a new SQLite file. It has vectors by the hashes of their texts, and no text. kioku import reads it. Notes\n" +
			"are files; kioku chunks shows how one is cut.",
		Example: "  kioku export embeddings.sqlite",
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.withCache(cmd.Context(), connect.ToSearch, func(c *connect.Client) error {
				if err := c.Memory.CopyEmbeddings(cmd.Context(), args[0]); err != nil {
					return err
				}
				info, err := os.Stat(args[0])
				if err != nil {
					return err
				}
				return a.Write(exportReport{args[0], info.Size()}, func(p *render.Page) { p.Linef("%s was written, %s", args[0], render.Size(info.Size())) })
			})
		},
	}
}

// importReport is the output of kioku import --json.
type importReport struct {
	// Read counts the embeddings of the file, and Damaged those that are not whole and were left out. Embedded counts the chunks that have a
	// vector by them now.
	Read     int `json:"read"`
	Damaged  int `json:"damaged"`
	Embedded int `json:"embedded"`
	// Other names the models of embeddings that are not used, because another model is configured.
	Other []string `json:"other"`
}

func (a *app) importCmd() *cobra.Command {
	cmd := &cobra.Command{
		Use: "import FILE", Short: "Read embeddings from a file, so that nothing is paid for twice", Args: cobra.ExactArgs(1),
		Long: "Read the embeddings of a file of kioku export. They are used for notes whose text is the same and whose model is the configured\n" +
			"one. No note is written: kioku restore does that from a backup.",
		Example: "  kioku import embeddings.sqlite\n  kioku import openclaw",
		RunE: func(cmd *cobra.Command, args []string) error {
			if strings.HasSuffix(args[0], ".jsonl") {
				return errors.New("exports as JSON lines are of an earlier version; export again with this one")
			}
			return a.withCache(cmd.Context(), connect.ToWrite, func(c *connect.Client) error {
				done, known, err := c.Memory.ImportEmbeddings(cmd.Context(), args[0])
				if err != nil {
					return err
				}
				r := importReport{Read: done.Read, Damaged: done.Damaged, Embedded: known, Other: []string{}}
				for _, space := range done.Spaces {
					r.Other = append(r.Other, space.Name())
				}
				if len(r.Other) > 0 {
					a.Notice("embeddings of %s are not used, because another model is configured; kioku config set model changes that", strings.Join(r.Other, ", "))
				}
				return a.Write(r, func(p *render.Page) {
					p.Linef("%s were read, %s embedded by them; %d were not whole and left out", render.Count(r.Read, "embedding"),
						render.Count(r.Embedded, "chunk"), r.Damaged)
				})
			})
		},
	}
	cmd.AddCommand(a.importOpenClawCmd())
	return cmd
}
