package server

import (
	"context"

	"google.golang.org/protobuf/types/known/durationpb"

	kiokuv1 "kioku/proto/kioku/v1"
	"kioku/vectors"
)

// EstimateEmbedding returns what it takes to embed the chunks without a vector.
func (s service) EstimateEmbedding(ctx context.Context, req *kiokuv1.EstimateEmbeddingRequest) (*kiokuv1.EstimateEmbeddingResponse, error) {
	m, err := authorize(ctx, s.opt.Agents, req)
	if err != nil {
		return nil, err
	}
	e, err := m.Estimate(ctx)
	if err != nil {
		return nil, err
	}
	resp := &kiokuv1.EstimateEmbeddingResponse{
		Provider: providerName(e.Space.Provider), Model: e.Space.Model, ChunkCount: int32Of(e.Chunks), WindowCount: int32Of(e.Windows),
		TextCount: int32Of(e.Texts), TokenCount: int64(e.Tokens), RequestCount: int32Of(e.Requests),
	}
	if e.Took > 0 {
		resp.Took = durationpb.New(e.Took)
	}
	return resp, nil
}

// backfill returns nil for a backfill that has nothing to do.
func backfill(s vectors.State) *kiokuv1.Backfill {
	if s == (vectors.State{}) {
		return nil
	}
	b := &kiokuv1.Backfill{Running: s.Running, EmbeddedCount: int32Of(s.Embedded), TotalCount: int32Of(s.Total),
		ChunksPerSecond: s.PerSecond}
	if s.Left > 0 {
		b.Left = durationpb.New(s.Left)
	}
	return b
}
