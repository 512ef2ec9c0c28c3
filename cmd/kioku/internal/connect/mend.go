package connect

import (
	"context"
	"errors"

	"kioku/cmd/kioku/internal/render"
	"kioku/indexer"
	"kioku/memory"
)

// Search searches. If that meets damage in an index that this process only reads, and no other process has the index, it
// has the index made again and searches once more.
func (c *Client) Search(ctx context.Context, q memory.Query) (memory.Answer, error) {
	answer, err := c.Client.Search(ctx, q)
	if c.Memory == nil || !c.ReadOnly || c.from.ReadOnly || !c.Memory.Damaged() {
		return answer, err
	}
	if mended, mendErr := c.mend(ctx); !mended || mendErr != nil {
		return answer, errors.Join(err, mendErr)
	}
	return c.Client.Search(ctx, q)
}

// mend takes a damaged index over and checks it, which has it made again. It returns false if another process has the index:
// that one mends it.
func (c *Client) mend(ctx context.Context) (bool, error) {
	if err := c.Improve(ctx); err != nil || c.ReadOnly || c.Memory == nil {
		return c.Memory == nil, err
	}
	c.from.Out.Notice("the index is damaged and is made again")
	if _, err := c.SyncIndex(ctx, indexer.SyncOptions{Verify: true, NoRebuild: true}); err != nil {
		if errors.Is(err, memory.ErrClosed) || ctx.Err() != nil {
			return false, err
		}
		c.from.Out.Notice("the index could not be made again: %s", render.Message(err))
	}
	return true, nil
}
