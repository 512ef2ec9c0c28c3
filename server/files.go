package server

import (
	"context"

	"google.golang.org/protobuf/proto"

	"kioku/memory"
	kiokuv1 "kioku/proto/kioku/v1"
)

// ListFiles lists files of the index.
func (s service) ListFiles(ctx context.Context, req *kiokuv1.ListFilesRequest) (*kiokuv1.ListFilesResponse, error) {
	m, err := authorize(ctx, s.opt.Agents, req, checkCount("page_size", req.GetPageSize()))
	if err != nil {
		return nil, err
	}
	list, err := m.Files(ctx, memory.FileQuery{
		Glob: req.GetGlob(), Limit: int(req.GetPageSize()), After: req.GetPageToken(), Skipped: req.GetIncludeSkipped(),
		Filter: memory.Filter{
			Sources: req.GetSources(), Since: req.GetSince(), Until: req.GetUntil(), Where: convertAll(req.GetFilter(), condition),
		},
	})
	if err != nil {
		return nil, err
	}
	state, err := m.IndexStats(ctx)
	if err != nil {
		return nil, err
	}
	resp := &kiokuv1.ListFilesResponse{NextPageToken: list.Next, TotalCount: int32Of(list.Total), Index: indexState(state)}
	resp.Files = fit(convertAll(list.Files, file), maxAnswer)
	if n := len(resp.Files); n > 0 && n < len(list.Files) {
		resp.NextPageToken = resp.Files[n-1].Path
	}
	return resp, nil
}

// ListLinks returns the links of a file.
func (s service) ListLinks(ctx context.Context, req *kiokuv1.ListLinksRequest) (*kiokuv1.ListLinksResponse, error) {
	m, err := authorize(ctx, s.opt.Agents, req)
	if err != nil {
		return nil, err
	}
	found, err := m.Links(ctx, req.GetPath())
	if err != nil {
		return nil, err
	}
	return &kiokuv1.ListLinksResponse{Links: links(found, maxAnswer)}, nil
}

// ListChunks returns the chunks of a file.
func (s service) ListChunks(ctx context.Context, req *kiokuv1.ListChunksRequest) (*kiokuv1.ListChunksResponse, error) {
	m, err := authorize(ctx, s.opt.Agents, req)
	if err != nil {
		return nil, err
	}
	found, err := m.Chunks(ctx, req.GetPath())
	if err != nil {
		return nil, err
	}
	resp := &kiokuv1.ListChunksResponse{Path: found.Path, Skipped: clip(found.Skipped, 500)}
	resp.Chunks = fit(convertAll(found.Chunks, chunk), maxAnswer)
	resp.Truncated = len(resp.Chunks) < len(found.Chunks)
	return resp, nil
}

// fit returns the first messages of a list that together have at most a number of bytes.
func fit[T proto.Message](list []T, bytes int) []T {
	for i, m := range list {
		if bytes -= proto.Size(m) + 8; bytes < 0 { // 8 for the tag and the length
			return list[:i]
		}
	}
	return list
}

func condition(c *kiokuv1.Condition) memory.Condition {
	return memory.Condition{Field: c.GetField(), Op: c.GetOp(), Values: c.GetValues()}
}

func file(f memory.File) *kiokuv1.File {
	return &kiokuv1.File{
		Path: f.Path, Source: f.Source, Title: f.Title, Date: f.Date, Tags: f.Tags, Aliases: f.Aliases, ChunkCount: int32Of(f.Chunks),
		SizeBytes: f.Size, ModificationTime: kiokuv1.TimeOf(f.ModTime), Skipped: clip(f.Skipped, 500),
	}
}

// links returns the links of a file, as many as fit into a number of bytes.
func links(l memory.Links, bytes int) *kiokuv1.Links {
	out := &kiokuv1.Links{Path: l.Path}
	out.Outgoing = fit(convertAll(l.Out, link), bytes/2)
	out.Incoming = fit(convertAll(l.In, link), bytes/2)
	out.Truncated = len(out.Outgoing) < len(l.Out) || len(out.Incoming) < len(l.In)
	return out
}

func link(l memory.Link) *kiokuv1.Link {
	return &kiokuv1.Link{FromPath: l.From, Line: int32Of(l.Line), Text: l.Text, Target: l.Target, ToPath: l.To, Kind: l.Kind}
}

func chunk(c memory.Chunk) *kiokuv1.Chunk {
	return &kiokuv1.Chunk{
		StartLine: int32Of(c.StartLine), EndLine: int32Of(c.EndLine), Heading: clip(c.Heading, 500), Date: c.Date, Language: c.Language,
		TokenCount: int32Of(c.Tokens), Embedded: c.Embedded,
	}
}
