package agent

import (
	"context"
	"encoding/json"
	"fmt"

	"kioku/memory"
)

// searchInput, getInput and appendInput are what models send.
type searchInput struct {
	Query      string   `json:"query"`
	MaxResults whole    `json:"max_results"`
	MinScore   *float64 `json:"min_score"`
	PathPrefix string   `json:"path_prefix"`
	Since      string   `json:"since"`
	Until      string   `json:"until"`
}

type getInput struct {
	Path  string `json:"path"`
	From  whole  `json:"from"`
	Lines whole  `json:"lines"`
}

type appendInput struct {
	Text     string `json:"text"`
	Target   string `json:"target"`
	Category string `json:"category"`
}

// searchOutput, getOutput and appendOutput are what models read.
type searchOutput struct {
	Results      []resultOutput      `json:"results"`
	Mode         string              `json:"mode"`
	Degraded     []degradationOutput `json:"degraded,omitempty"`
	PendingFiles int                 `json:"pending_files,omitempty"`
}

type resultOutput struct {
	Path      string  `json:"path"`
	StartLine int     `json:"start_line"`
	EndLine   int     `json:"end_line"`
	Score     float64 `json:"score"`
	Snippet   string  `json:"snippet"`
	Heading   string  `json:"heading,omitempty"`
	Date      string  `json:"date,omitempty"`
	Citation  string  `json:"citation"`
}

type degradationOutput struct {
	Code string `json:"code"`
	Text string `json:"text"`
}

type getOutput struct {
	Path       string `json:"path"`
	Text       string `json:"text"`
	From       int    `json:"from"`
	Lines      int    `json:"lines"`
	TotalLines int    `json:"total_lines"`
	NextFrom   int    `json:"next_from"`
}

type appendOutput struct {
	Path         string `json:"path"`
	StartLine    int    `json:"start_line"`
	Deduplicated bool   `json:"deduplicated"`
}

// Call runs a tool with the input that a model gave and returns its output as a JSON object. It knows common other
// names of parameters (limit and top_k for max_results). It returns an *InputError, worded for the model, for an
// unknown tool or parameter and for an input of the wrong form; otherwise the errors of Search, Get and Append.
func (c *Client) Call(ctx context.Context, name string, input json.RawMessage) (json.RawMessage, error) {
	return c.CallWith(ctx, name, input, func(n memory.Note) (memory.Note, error) { return n, nil })
}

// CallWith is Call for a program that has a say in what is stored: the note of memory_append goes through edit first, which
// may change it, name its source for example, or refuse it with an error.
func (c *Client) CallWith(ctx context.Context, name string, input json.RawMessage, edit func(memory.Note) (memory.Note, error)) (json.RawMessage, error) {
	switch name {
	case ToolSearch:
		return run(ctx, name, input, searchAliases, c.searchTool)
	case ToolGet:
		return run(ctx, name, input, getAliases, c.getTool)
	case ToolAppend:
		return run(ctx, name, input, appendAliases, func(ctx context.Context, in appendInput) (appendOutput, error) {
			note, err := edit(memory.Note{Text: in.Text, Target: in.Target, Category: in.Category})
			if err != nil {
				return appendOutput{}, err
			}
			a, err := c.Append(ctx, note)
			return appendOutput(a), err
		})
	}
	return nil, &memory.InputError{Field: "name", Problem: unknown("tool", name, []string{ToolSearch, ToolGet, ToolAppend})}
}

func run[In, Out any](ctx context.Context, name string, input json.RawMessage, aliases map[string]string, tool func(context.Context, In) (Out, error)) (json.RawMessage, error) {
	var in In
	if err := decode(input, aliases, &in); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	out, err := tool(ctx, in)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return json.Marshal(out)
}

func (c *Client) searchTool(ctx context.Context, in searchInput) (searchOutput, error) {
	answer, err := c.Search(ctx, memory.Query{
		Text: in.Query, MaxResults: int(in.MaxResults), MinScore: in.MinScore,
		Filter: memory.Filter{PathPrefix: in.PathPrefix, Since: in.Since, Until: in.Until},
	})
	if err != nil {
		return searchOutput{}, err
	}
	out := searchOutput{Results: []resultOutput{}, Mode: answer.Mode, PendingFiles: answer.State.PendingFiles}
	for _, h := range answer.Hits {
		out.Results = append(out.Results, resultOutput{
			Path: h.Path, StartLine: h.StartLine, EndLine: h.EndLine, Score: h.Score,
			Snippet: h.Snippet, Heading: h.Headings, Date: h.Date, Citation: h.Citation(),
		})
	}
	for _, d := range answer.Degraded {
		out.Degraded = append(out.Degraded, degradationOutput(d))
	}
	return out, nil
}

func (c *Client) getTool(ctx context.Context, in getInput) (getOutput, error) {
	e, err := c.Get(ctx, memory.GetRequest{Path: in.Path, From: int(in.From), Lines: int(in.Lines)})
	if err != nil {
		return getOutput{}, err
	}
	return getOutput{
		Path: e.Path, Text: e.Text, From: e.From, Lines: e.Lines, TotalLines: e.TotalLines, NextFrom: e.NextFrom,
	}, nil
}
