package store

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"

	"kioku/memory"
	"kioku/store/slab"
)

// maxAllowed is the number of filters of which the chunks are cached.
const maxAllowed = 3

// allowedCache caches which chunks filters allow, because finding them takes longer than a search among them. All filters are of
// one generation.
type allowedCache struct {
	mu         sync.Mutex // guards the following fields
	generation int64
	recent     []allowedChunks // latest first
}

// allowedChunks are the chunks that a filter allows.
type allowedChunks struct {
	filter string
	ids    *slab.IDs
}

// find returns the chunks that a filter allows in a generation. It returns false if they are not cached.
func (c *allowedCache) find(generation int64, filter string) (*slab.IDs, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	i := slices.IndexFunc(c.recent, func(a allowedChunks) bool { return a.filter == filter })
	if c.generation != generation || i < 0 {
		return nil, false
	}
	found := c.recent[i]
	c.recent = slices.Insert(slices.Delete(c.recent, i, i+1), 0, found)
	return found.ids, true
}

// put caches the chunks that a filter allows, unless a newer generation is cached.
func (c *allowedCache) put(generation int64, filter string, ids *slab.IDs) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if generation < c.generation {
		return
	}
	if generation > c.generation {
		c.generation, c.recent = generation, nil
	}
	c.recent = slices.DeleteFunc(c.recent, func(a allowedChunks) bool { return a.filter == filter })
	c.recent = slices.Insert(c.recent, 0, allowedChunks{filter, ids})
	c.recent = c.recent[:min(maxAllowed, len(c.recent))]
}

// allowedIDs returns the ids of the chunks that a filter allows, nil if it allows all.
func (v *view) allowedIDs(ctx context.Context, f memory.Filter) (*slab.IDs, error) {
	if !Restricts(f) {
		return nil, nil
	}
	args := FilterArgs(f)
	filter := fmt.Sprintf("%q", args)
	if ids, ok := v.allowed.find(v.meta.generation, filter); ok {
		return ids, nil
	}
	list, err := v.readAllowedIDs(ctx, args)
	if err != nil {
		return nil, err
	}
	ids := slab.NewIDs(list)
	v.allowed.put(v.meta.generation, filter, ids)
	return ids, nil
}

// readAllowedIDs is allowedIDs without the cache, in any order. The query returns the ids as one text, because a row for each
// would take longer than finding them.
func (v *view) readAllowedIDs(ctx context.Context, args []any) ([]int64, error) {
	var list sql.NullString
	err := v.wordsTx.QueryRowContext(ctx, "SELECT group_concat(id) FROM ("+selectAllowed+")", args...).Scan(&list)
	if err != nil || list.String == "" {
		return nil, err
	}
	ids := make([]int64, 0, strings.Count(list.String, ",")+1)
	for part := range strings.SplitSeq(list.String, ",") {
		id, err := strconv.ParseInt(part, 10, 64)
		if err != nil {
			return nil, err
		}
		ids = append(ids, id)
	}
	return ids, nil
}
