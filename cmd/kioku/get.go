package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"kioku/cmd/kioku/internal/connect"
	"kioku/cmd/kioku/internal/render"
	"kioku/memory"
)

func (a *app) getCmd() *cobra.Command {
	return &cobra.Command{
		Use: "get PATH[:FROM[:COUNT]]...", Short: "Print lines of memory files",
		Long: "Print lines of memory files. A citation in any form (path#L3-L9, path:3-9, [[note]]), an absolute path, a glob and, as in a\n" +
			"link, the name of a note are understood too; of several files, each has its name above it.",
		Example: "  kioku get MEMORY.md\n  kioku get memory/2026-01-20.md:7:12\n  kioku get \"memory/2026-01-20.md#L7-L18\"\n  kioku get \"memory/2026-01-*.md\" MEMORY.md",
		Args:    cobra.MinimumNArgs(1), ValidArgsFunction: a.completePath,
		RunE: func(cmd *cobra.Command, args []string) error {
			var places []memory.GetRequest
			need := connect.ToGet
			for _, arg := range args {
				if hasGlob(arg) || len(args) > 1 {
					need = connect.ToSearch
				}
				places = append(places, memory.GetRequest{Path: arg})
			}
			err := a.with(cmd.Context(), need, func(c *connect.Client) error { return a.get(cmd.Context(), c, places, need) })
			if need == connect.ToGet && render.NotFound(err) { // it may be a name, which the index knows
				need = connect.ToSearch
				err = a.with(cmd.Context(), need, func(c *connect.Client) error { return a.get(cmd.Context(), c, places, need) })
			}
			return err
		},
	}
}

// get prints the lines of places. Their paths may be globs or names of notes if the need is ToSearch. It goes on after a file
// that cannot be read.
func (a *app) get(ctx context.Context, c *connect.Client, places []memory.GetRequest, need connect.Need) error {
	if need == connect.ToGet {
		return a.getOne(ctx, c, memory.GetRequest{Path: c.MemoryPath(places[0].Path)})
	}
	if err := c.Freshen(ctx); err != nil { // globs and names select from the index
		return err
	}
	var reqs []memory.GetRequest
	var errs []error
	for _, place := range places {
		place.Path = c.MemoryPath(place.Path)
		found, err := a.expand(ctx, c, place)
		if len(places) == 1 && len(found) == 1 && found[0] == place { // no file of a glob
			return a.getOne(ctx, c, place)
		}
		reqs, errs = append(reqs, found...), append(errs, err)
	}
	if len(reqs) > 0 {
		errs = append(errs, a.Excerpts(ctx, reqs, c.Get))
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return errors.Join(errs...)
}

// getOne prints the lines of one place.
func (a *app) getOne(ctx context.Context, c *connect.Client, place memory.GetRequest) error {
	e, err := c.Get(ctx, place)
	if err != nil {
		return err
	}
	return a.Excerpt(place, e)
}

// hasGlob reports whether a path may be a glob.
func hasGlob(path string) bool { return strings.ContainsAny(path, "*?[{") }

// expand returns a request for each file that the path of a place selects. A file with this very path, and what is cited, goes before
// a glob.
func (a *app) expand(ctx context.Context, c *connect.Client, place memory.GetRequest) ([]memory.GetRequest, error) {
	_, missing := c.Get(ctx, place)
	switch {
	case missing == nil || !render.NotFound(missing) && !hasGlob(place.Path):
		return []memory.GetRequest{place}, nil
	case !hasGlob(place.Path):
		return nil, fmt.Errorf("%s: %w", place.Path, missing)
	}
	selects, err := lastReading(place.Path)
	if err != nil {
		return nil, err
	}
	list, err := c.AllFiles(ctx, memory.FileQuery{Glob: selects.Path})
	if err != nil {
		return nil, err
	}
	var reqs []memory.GetRequest
	for _, f := range list.Files {
		reqs = append(reqs, memory.GetRequest{Path: f.Path, From: selects.From, Lines: selects.Lines})
	}
	if len(reqs) == 0 {
		err = fmt.Errorf("%s selects no file; kioku ls lists what there is", place.Path)
	}
	return reqs, err
}

// lastReading returns what a citation means if no file has it for its name.
func lastReading(citation string) (memory.GetRequest, error) {
	all, err := memory.Readings(citation)
	return all[len(all)-1], err
}
