package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"kioku/cmd/kioku/internal/connect"
	"kioku/cmd/kioku/internal/render"
	"kioku/store"
)

// exportReport is the output of kioku export --json with a file.
type exportReport struct {
	// Chunks and Vectors count what was written; cached vectors count too.
	Chunks  int `json:"chunks"`
	Vectors int `json:"vectors"`
}

func (a *app) exportCmd() *cobra.Command {
	var vectorsOnly bool
	cmd := &cobra.Command{
		Use: "export [FILE]", Short: "Write all chunks and embeddings as JSON lines", Args: cobra.MaximumNArgs(1),
		Long: "Write the chunks of the index with their embeddings, and then the cached embeddings, to a new file, else to the standard output.\n" +
			"The first line is a header; docs/schema/export.json describes the lines. kioku import reads the embeddings.",
		Example: "  kioku export notes.jsonl\n  kioku export | jq -r 'select(.path) | .path + \": \" + .text'\n  kioku export --vectors-only vectors.jsonl",
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.withCache(cmd.Context(), connect.ToSearch, func(c *connect.Client) error {
				if err := c.Freshen(cmd.Context()); err != nil {
					return err
				}
				if len(args) == 0 || args[0] == "-" {
					_, err := c.Memory.Export(cmd.Context(), &render.Escaper{To: a.Stdout}, vectorsOnly)
					return err
				}
				done, err := exportTo(cmd.Context(), c, args[0], vectorsOnly)
				if err != nil {
					return err
				}
				return a.Write(exportReport{done.Chunks, done.Vectors}, func(p *render.Page) {
					p.Linef("%s and %s were written", render.Count(done.Chunks, "chunk"), render.Count(done.Vectors, "embedding"))
				})
			})
		},
	}
	cmd.Flags().BoolVar(&vectorsOnly, "vectors-only", false, "write the embeddings with the hashes of their texts, and no text")
	return cmd
}

// exportTo writes an export to a new file.
func exportTo(ctx context.Context, c *connect.Client, path string, vectorsOnly bool) (done store.Exported, err error) {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return done, fmt.Errorf("export: %w", err)
	}
	done, err = c.Memory.Export(ctx, &render.Escaper{To: f}, vectorsOnly)
	if err = errors.Join(err, f.Close()); err != nil {
		err = errors.Join(err, os.Remove(path))
	}
	return done, err
}

// importReport is the output of kioku import --json.
type importReport struct {
	// Read counts the embeddings of the file, Damaged those that are not whole and were left out, and Usable those of texts that are in
	// the notes now.
	Read    int `json:"read"`
	Damaged int `json:"damaged"`
	Usable  int `json:"usable"`
	// Chunks counts the texts of the file, which are not imported, and Missing those that should be in it and are not.
	Chunks  int `json:"chunks"`
	Missing int `json:"missing"`
	// Other names the models of embeddings that are not used, because another model is configured.
	Other []string `json:"other"`
}

func (a *app) importCmd() *cobra.Command {
	cmd := &cobra.Command{
		Use: "import FILE", Short: "Read embeddings from a file, so that nothing is paid for twice", Args: cobra.ExactArgs(1),
		Long: "Read the embeddings of kioku export into the cache. They are used for notes whose text is the same and whose model is the\n" +
			"configured one. No note is written: kioku restore does that from a backup.",
		Example: "  kioku import vectors.jsonl\n  kioku import openclaw",
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.withCache(cmd.Context(), connect.ToWrite, func(c *connect.Client) error {
				done, err := c.Memory.ImportVectors(cmd.Context(), args[0])
				if err != nil {
					return err
				}
				return a.tellImport(done)
			})
		},
	}
	cmd.AddCommand(a.importOpenClawCmd())
	return cmd
}

// tellImport reports an import. It returns an error if the end of the file is missing.
func (a *app) tellImport(done store.Imported) error {
	r := importReport{Read: done.Read, Damaged: done.Damaged, Usable: done.Usable, Chunks: done.Chunks, Missing: done.Missing, Other: []string{}}
	for _, space := range done.Spaces {
		r.Other = append(r.Other, space.Name())
	}
	if done.Chunks > 0 {
		a.Notice("the texts of %s were not imported; notes come from their files, or from kioku restore", render.Count(done.Chunks, "chunk"))
	}
	if len(r.Other) > 0 {
		a.Notice("embeddings of %s are not used, because another model is configured; kioku config set model changes that", strings.Join(r.Other, ", "))
	}
	err := a.Write(r, func(p *render.Page) {
		p.Linef("%s were read, %d of them are of texts in the notes; %d were not whole and left out",
			render.Count(done.Read, "embedding"), done.Usable, done.Damaged)
	})
	if err == nil && done.Missing > 0 {
		err = fmt.Errorf("the end of the file is missing: it has %d of %s; what it has was read", done.Chunks, render.Count(done.Chunks+done.Missing, "chunk"))
	}
	return err
}
