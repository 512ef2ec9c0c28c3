package main

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	kiokuv1 "kioku/proto/kioku/v1"
)

func (a *app) getCmd() *cobra.Command {
	return &cobra.Command{
		Use: "get PATH[:FROM[:COUNT]]", Short: "Print lines of a memory file",
		Long:    "Print lines of a memory file. A citation of a search result, path#L3-L9, and an absolute path are understood too.",
		Example: "  kioku get MEMORY.md\n  kioku get memory/2026-01-20.md:7:12\n  kioku get \"memory/2026-01-20.md#L7-L18\"",
		Args:    cobra.ExactArgs(1), ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, args []string) error {
			path, from, lines, err := parsePlace(args[0])
			if err != nil {
				return err
			}
			return a.with(cmd.Context(), toRead, func(c *client) error {
				return a.get(cmd.Context(), c, &kiokuv1.MemoryGetRequest{Agent: c.agent, Path: c.memoryPath(cmd.Context(), path), From: from, Lines: lines})
			})
		},
	}
}

func (a *app) get(ctx context.Context, c *client, req *kiokuv1.MemoryGetRequest) error {
	resp, err := c.MemoryGet(ctx, req)
	if err != nil {
		return err
	}
	if a.json {
		err = a.writeProto(resp)
	} else {
		p := a.page()
		if text := strings.TrimSuffix(resp.GetText(), "\n"); resp.GetLines() > 0 {
			p.linef("%s", text)
		}
		err = a.show(p)
	}
	a.tellRest(req, resp)
	return err
}

// tellRest says where to go on, if lines are left.
func (a *app) tellRest(req *kiokuv1.MemoryGetRequest, resp *kiokuv1.MemoryGetResponse) {
	switch {
	case resp.GetLines() == 0 && resp.GetTotalLines() > 0:
		a.notice("%s has %s", resp.GetPath(), count(resp.GetTotalLines(), "line"))
	case resp.GetNextFrom() > 0 && (resp.GetTruncated() || req.GetLines() == 0):
		a.notice("lines %d to %d of %d; go on with kioku get %s:%d", resp.GetFrom(), resp.GetFrom()+resp.GetLines()-1,
			resp.GetTotalLines(), resp.GetPath(), resp.GetNextFrom())
	case resp.GetTruncated():
		a.notice("line %d of %s is too long, and cut; the file itself has all of it", resp.GetFrom()+resp.GetLines()-1, resp.GetPath())
	}
}
