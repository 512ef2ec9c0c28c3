package agent

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

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

// callTimeout bounds one call of a tool.
const callTimeout = 10 * time.Second

// Call runs a tool of a memory with the input that a model gave and returns its output as a JSON object. source is recorded
// with the notes that the call stores, one of the constants memory.NoteFrom...; empty records nothing. Call knows common
// other names of parameters (limit and top_k for max_results). It returns a *memory.InputError, worded for the model, for
// an unknown tool or parameter and for an input of the wrong form; otherwise the errors of the memory.
func Call(ctx context.Context, m Memory, source, name string, input json.RawMessage) (json.RawMessage, error) {
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	switch name {
	case ToolSearch:
		return runTool(name, input, searchAliases, func(in searchInput) (searchOutput, error) { return searchTool(ctx, m, in) })
	case ToolGet:
		return runTool(name, input, getAliases, func(in getInput) (getOutput, error) { return getTool(ctx, m, in) })
	case ToolAppend:
		return runTool(name, input, appendAliases, func(in appendInput) (appendOutput, error) {
			a, err := m.Append(ctx, memory.Note{Text: in.Text, Target: in.Target, Category: in.Category, Source: source})
			return appendOutput(a), err
		})
	}
	return nil, &memory.InputError{Field: "name", Problem: unknown("tool", name, []string{ToolSearch, ToolGet, ToolAppend})}
}

func runTool[In, Out any](name string, input json.RawMessage, aliases map[string]string, tool func(In) (Out, error)) (json.RawMessage, error) {
	var in In
	if err := decode(input, aliases, &in); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	out, err := tool(in)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return json.Marshal(out)
}

func searchTool(ctx context.Context, m Memory, in searchInput) (searchOutput, error) {
	answer, err := m.Search(ctx, memory.Query{
		Text: in.Query, MaxResults: int(in.MaxResults), MinScore: in.MinScore,
		Filter: memory.Filter{PathPrefix: in.PathPrefix, Since: in.Since, Until: in.Until},
	})
	if err != nil {
		return searchOutput{}, err
	}
	out := searchOutput{Results: []resultOutput{}, Mode: answer.Mode, PendingFiles: answer.Index.PendingFiles}
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

func getTool(ctx context.Context, m Memory, in getInput) (getOutput, error) {
	e, err := m.Get(ctx, memory.GetRequest{Path: in.Path, From: int(in.From), Lines: int(in.Lines)})
	if err != nil {
		return getOutput{}, err
	}
	return getOutput{
		Path: e.Path, Text: e.Text, From: e.From, Lines: e.Lines, TotalLines: e.TotalLines, NextFrom: e.NextFrom,
	}, nil
}
