package store

import (
	"context"
	"fmt"

	"kioku/store/vector"
	"kioku/vectors"
)

// vectorCache caches the vectors of an index; without it, chunks_vec answers.
type vectorCache = generationCache[cachedVectors, vectorChange]

// cachedVectors are the vectors of one generation. All generations have the same table, which is that of the newest one.
type cachedVectors struct {
	table *vector.Table // guarded by commitMu
	slab  *vector.Slab
}

// indexChange describes what one commit does to the vectors and the words. The zero value is no change.
type indexChange struct {
	vectors vectorChange
	words   wordChange
}

// vectorChange describes what one commit does to the vectors.
type vectorChange struct {
	edits []vectorEdit
	// reload reports that all vectors change, so that their cache has to be loaded again.
	reload bool
}

// vectorEdit puts a vector, or deletes it if vector is nil.
type vectorEdit struct {
	id     int64
	vector []float32
}

// recordPut records a new vector. It records nothing if all vectors have to be loaded again.
func (c *vectorChange) recordPut(id int64, v []float32) {
	if !c.reload {
		c.edits = append(c.edits, vectorEdit{id, v})
	}
}

// recordDelete records the deletion of a vector.
func (c *vectorChange) recordDelete(id int64) { c.recordPut(id, nil) }

// newVectorCache returns an empty cache that counts against the budget.
func newVectorCache(budget *vector.Budget, cache *vectors.Cache) *vectorCache {
	return newGenerationCache(budget, cachedPart[cachedVectors, vectorChange]{
		footprint: func(_ context.Context, _ queryer, m meta) (int64, error) {
			if m.space.IsZero() || m.embedded == 0 {
				return 0, nil
			}
			return vector.Footprint(m.embedded, m.space.Dims), nil
		},
		load: func(ctx context.Context, q queryer, m meta) (cachedVectors, error) {
			return loadVectors(ctx, q, m, cache)
		},
		bytes: func(v cachedVectors) int64 { return v.table.Bytes() },
		apply: applyVectors,
	})
}

// applyVectors returns the vectors after a change. It returns false if they have to be loaded again.
func applyVectors(v cachedVectors, change vectorChange) (cachedVectors, bool) {
	if change.reload {
		return v, false
	}
	for _, e := range change.edits {
		if e.vector == nil {
			v.table.Delete(e.id)
		} else if v.table.Put(e.id, e.vector) != nil { // the store checked it; chunks_vec answers for a vector that is refused
			return v, false
		}
	}
	if len(change.edits) > 0 {
		v.slab = v.table.Slab()
	}
	return v, true
}

// cachedSlab returns the vectors of the index that m describes, nil if they are not cached.
func (x *index) cachedSlab(m meta) *vector.Slab {
	v, ok := x.vectors.find(m.generation)
	if !ok || v.slab.Dims() != m.space.Dims || v.slab.Len() != m.embedded {
		return nil
	}
	return v.slab
}

// loadVectorCache loads the vectors if a query needs them and they are not cached. It returns an error of damage,
// and logs any other; then chunks_vec answers.
func (x *index) loadVectorCache(ctx context.Context) error {
	if !x.vectors.beginLoad() {
		return nil
	}
	err := x.vectors.fill(ctx, x)
	if IsDamage(err) {
		return err
	}
	if err != nil && ctx.Err() == nil {
		x.log.Warn("hold vectors in memory; they are searched on disk", "err", err)
	}
	return nil
}

// loadVectors reads the vectors of a snapshot.
func loadVectors(ctx context.Context, q queryer, m meta, cache *vectors.Cache) (cachedVectors, error) {
	table := vector.NewTable(m.space.Dims, m.embedded)
	if err := forEachEmbedded(ctx, q, m, cache, everyID, table.Put); err != nil {
		return cachedVectors{}, fmt.Errorf("read vectors: %w", err)
	}
	return cachedVectors{table, table.Slab()}, nil
}
