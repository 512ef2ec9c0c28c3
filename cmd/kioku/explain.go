package main

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	kiokuv1 "kioku/proto/kioku/v1"
)

func (a *app) explainCmd() *cobra.Command {
	var q question
	cmd := &cobra.Command{
		Use: "explain QUERY [PATH:LINE]", Short: "Say where a passage ranked and what kept it out",
		Long: "Say what became of the passage at a line of a file: where it ranked for a question and, if it was not returned, what\n" +
			"kept it out. Without a place, the results are taken apart. The path may be absolute.",
		Example: "  kioku explain \"when is the API v1 switched off?\" memory/2026-01-20.md:16",
		Args:    cobra.RangeArgs(1, 2), ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, args []string) error {
			ctx := cmd.Context()
			if err := q.prepare(a, cmd); err != nil {
				return err
			}
			req := &kiokuv1.ExplainRequest{}
			if len(args) == 2 {
				path, line, _, err := parsePlace(args[1])
				if err != nil {
					return err
				}
				req.Path, req.Line = path, max(line, 1)
			}
			return a.with(ctx, toRead, func(c *client) error {
				if err := a.freshen(ctx, c); err != nil {
					return err
				}
				if req.Path != "" {
					req.Path = c.memoryPath(ctx, req.GetPath())
				}
				req.Search = q.request(cmd, c.agent, args[0])
				return a.explain(ctx, c, req, q.strict)
			})
		},
	}
	q.addFlags(cmd)
	return cmd
}

func (a *app) explain(ctx context.Context, c *client, req *kiokuv1.ExplainRequest, strict bool) error {
	resp, err := c.Explain(ctx, req)
	if err != nil {
		return err
	}
	if a.json {
		err = a.writeProto(resp)
	} else {
		p := a.page()
		p.explanation(req, resp)
		err = a.show(p)
		a.tellDegraded(resp.GetAnswer().GetDegraded())
	}
	if err == nil && strict && degraded(resp.GetAnswer()) {
		return errDegraded
	}
	return err
}

// explanation adds what became of a passage, the terms that were looked for, and the results it competed with.
func (p *page) explanation(req *kiokuv1.ExplainRequest, resp *kiokuv1.ExplainResponse) {
	if req.GetPath() != "" {
		p.linef("%s:%d  %s", bold(req.GetPath()), req.GetLine(), cyan(strings.ReplaceAll(resp.GetOutcome(), "_", " ")))
		p.linef("%s", resp.GetText())
		if hit := resp.GetPassage(); hit != nil {
			p.linef("")
			p.result(int(hit.GetTrace().GetRank()), hit)
		}
		p.linef("")
	}
	p.linef("terms: %s", strings.Join(resp.GetTerms(), " "))
	if hits := resp.GetAnswer().GetResults(); len(hits) == 0 {
		p.linef("no results (%s)", channels(resp.GetAnswer()))
	} else {
		p.linef("%s (%s):", count(len(hits), "result"), channels(resp.GetAnswer()))
		p.linef("")
		p.results(hits)
	}
}
