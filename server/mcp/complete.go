package mcp

import (
	"context"
	"kioku/memory"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// maxCompletions is the maximum number of completions, as the protocol has it.
const maxCompletions = 100

// complete completes the paths of notes in the template of their URIs. Nothing else is completed.
func (s *session) complete(ctx context.Context, req *sdk.CompleteRequest) (*sdk.CompleteResult, error) {
	out := &sdk.CompleteResult{Completion: sdk.CompletionResultDetails{Values: []string{}}}
	if req.Params.Ref.Type != "ref/resource" || req.Params.Argument.Name != "path" {
		return out, nil
	}
	m, _, err := s.open(ctx, nil, nil)
	if err != nil {
		return out, nil // there is no memory to complete from
	}
	all, err := files(ctx, m, memory.FileQuery{})
	if err != nil {
		return out, nil
	}
	for _, f := range all {
		if !strings.HasPrefix(f.Path, req.Params.Argument.Value) {
			continue
		}
		if out.Completion.Total++; len(out.Completion.Values) < maxCompletions {
			out.Completion.Values = append(out.Completion.Values, f.Path)
		}
	}
	out.Completion.HasMore = out.Completion.Total > maxCompletions
	return out, nil
}
