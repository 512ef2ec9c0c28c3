package connect

import (
	"context"
	"errors"

	"google.golang.org/grpc"

	"kioku/cmd/kioku/internal/render"
	"kioku/memory"
	kiokuv1 "kioku/proto/kioku/v1"
)

// MemorySearch searches. If that meets damage in an index that this process only reads, and no other process has the index, it
// has the index made again and searches once more.
func (c *Client) MemorySearch(ctx context.Context, req *kiokuv1.MemorySearchRequest, opts ...grpc.CallOption) (*kiokuv1.MemorySearchResponse, error) {
	resp, err := c.MemoryServiceClient.MemorySearch(ctx, req, opts...)
	if c.Memory == nil || !c.ReadOnly || c.from.ReadOnly || !c.Memory.Damaged() {
		return resp, err
	}
	if mended, mendErr := c.mend(ctx); !mended || mendErr != nil {
		return resp, errors.Join(err, mendErr)
	}
	return c.MemoryServiceClient.MemorySearch(ctx, req, opts...)
}

// mend takes a damaged index over and checks it, which has it made again. It returns false if another process has the index:
// that one mends it.
func (c *Client) mend(ctx context.Context) (bool, error) {
	if err := c.Improve(ctx); err != nil || c.ReadOnly || c.Memory == nil {
		return c.Memory == nil, err
	}
	c.from.Out.Notice("the index is damaged and is made again")
	if _, err := c.SyncIndex(ctx, &kiokuv1.SyncRequest{Verify: true, NoRebuild: true}); err != nil {
		if errors.Is(err, memory.ErrClosed) || ctx.Err() != nil {
			return false, err
		}
		c.from.Out.Notice("the index could not be made again: %s", render.Message(err))
	}
	return true, nil
}
