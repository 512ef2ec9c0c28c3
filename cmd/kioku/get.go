package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"kioku/cmd/kioku/internal/connect"
	"kioku/cmd/kioku/internal/render"
	kiokuv1 "kioku/proto/kioku/v1"
)

func (a *app) getCmd() *cobra.Command {
	return &cobra.Command{
		Use: "get PATH[:FROM[:COUNT]]...", Short: "Print lines of memory files",
		Long: "Print lines of memory files. A citation of a search result, path#L3-L9, an absolute path and a glob are understood too; of\n" +
			"several files, each has its name above it.",
		Example: "  kioku get MEMORY.md\n  kioku get memory/2026-01-20.md:7:12\n  kioku get \"memory/2026-01-20.md#L7-L18\"\n  kioku get \"memory/2026-01-*.md\" MEMORY.md",
		Args:    cobra.MinimumNArgs(1), ValidArgsFunction: a.completePath,
		RunE: func(cmd *cobra.Command, args []string) error {
			var places []*kiokuv1.MemoryGetRequest
			need := connect.ToGet
			for _, arg := range args {
				path, from, lines, err := parsePlace(arg)
				if err != nil {
					return err
				}
				if hasGlob(path) || len(args) > 1 {
					need = connect.ToSearch
				}
				places = append(places, &kiokuv1.MemoryGetRequest{Path: path, FromLine: from, LineCount: lines})
			}
			return a.with(cmd.Context(), need, func(c *connect.Client) error { return a.get(cmd.Context(), c, places) })
		},
	}
}

// get prints the lines of places, whose paths may be globs. It goes on after a file that cannot be read.
func (a *app) get(ctx context.Context, c *connect.Client, places []*kiokuv1.MemoryGetRequest) error {
	if len(places) == 1 && !hasGlob(places[0].GetPath()) {
		places[0].Agent, places[0].Path = c.Agent, c.MemoryPath(places[0].GetPath())
		return a.Get(ctx, c, places[0])
	}
	if err := c.Freshen(ctx); err != nil { // globs select from the index
		return err
	}
	var reqs []*kiokuv1.MemoryGetRequest
	var errs []error
	for _, place := range places {
		found, err := a.expand(ctx, c, place)
		reqs, errs = append(reqs, found...), append(errs, err)
	}
	errs = append(errs, a.GetAll(ctx, c, reqs))
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return errors.Join(errs...)
}

// hasGlob reports whether a path may be a glob.
func hasGlob(path string) bool { return strings.ContainsAny(path, "*?[{") }

// expand returns a request for each file that the path of a place selects. A file with this very name goes before a glob.
func (a *app) expand(ctx context.Context, c *connect.Client, place *kiokuv1.MemoryGetRequest) ([]*kiokuv1.MemoryGetRequest, error) {
	place.Agent, place.Path = c.Agent, c.MemoryPath(place.GetPath())
	if !hasGlob(place.GetPath()) {
		return []*kiokuv1.MemoryGetRequest{place}, nil
	}
	if _, err := c.MemoryGet(ctx, place); !render.NotFound(err) {
		return []*kiokuv1.MemoryGetRequest{place}, nil
	}
	list, err := c.AllFiles(ctx, &kiokuv1.ListFilesRequest{Agent: c.Agent, Glob: place.GetPath()})
	if err != nil {
		return nil, err
	}
	var reqs []*kiokuv1.MemoryGetRequest
	for _, f := range list.GetFiles() {
		reqs = append(reqs, &kiokuv1.MemoryGetRequest{Agent: c.Agent, Path: f.GetPath(), FromLine: place.GetFromLine(), LineCount: place.GetLineCount()})
	}
	if len(reqs) == 0 {
		err = fmt.Errorf("%s selects no file; kioku ls lists what there is", place.GetPath())
	}
	return reqs, err
}
