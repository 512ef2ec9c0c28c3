package kioku

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"kioku/embed"
	"kioku/memory"
	"kioku/projection"
	"kioku/store"
)

const (
	// mapSeed is the seed of all maps, so that the same index has the same map.
	mapSeed = 14
	// mapBudget is the time after which the layout of a map ends as it is.
	mapBudget = 30 * time.Second
	// mapSample is the number of vectors whose principal components are those of all.
	mapSample = 2000
	// mapNeighbors is the number of neighbors that a new point is placed among.
	mapNeighbors = 8
	// driftParts: once more than 1/driftParts of the points have changed, the layout is made anew, beginning with the one before.
	driftParts = 20
)

// drawing is a map with what is needed to add points to it. It never changes.
type drawing struct {
	state    mapState
	chunks   []store.MapChunk
	files    []memory.MapFile
	places   []projection.Point
	of       []int32 // clusters of the points
	clusters []memory.MapCluster
	basis    string
	// space, components and reduced are those of the vectors, which new points need; nil for a map of terms.
	space      embed.Space
	components *projection.Basis
	reduced    *projection.Matrix
	// drift is the number of points that have changed since the layout was made, and lacking that of the chunks without a vector.
	drift, lacking int
	made           time.Time
	took           time.Duration
}

// fill writes a drawing to a map, in part if the caller knows it or wants fewer points.
func (d *drawing) fill(out *memory.Map, q memory.MapQuery) {
	most := cmp.Or(q.MaxPoints, maxMapPoints)
	out.Version = fmt.Sprintf("%x-%x-%d-%d", d.state.index, d.state.generation, d.made.UnixNano(), most)
	out.Basis, out.Made, out.Took = d.basis, d.made, d.took
	if q.KnownVersion == out.Version {
		return
	}
	out.Files, out.Clusters = d.files, d.clusters
	for _, i := range sampleChunks(d.chunks, most) {
		c := d.chunks[i]
		out.Points = append(out.Points, memory.MapPoint{X: d.places[i].X, Y: d.places[i].Y, File: c.File, StartLine: c.StartLine,
			EndLine: c.EndLine, Heading: c.Heading, Date: c.Date, Cluster: int(d.of[i])})
	}
}

// sampleChunks returns the indexes of at most n chunks, in order: of each file the same part, but at least one if there is room. The
// same chunks are chosen again after a small change, because their keys decide.
func sampleChunks(chunks []store.MapChunk, n int) []int {
	order := make([]int, len(chunks))
	for i := range order {
		order[i] = i
	}
	if len(chunks) <= n {
		return order
	}
	// The chunks of a file by key: the first is worth the most, and the k-th of m is worth the more, the smaller k/m is.
	slices.SortFunc(order, func(a, b int) int {
		return cmp.Or(cmp.Compare(chunks[a].File, chunks[b].File), cmp.Compare(chunks[a].Key, chunks[b].Key))
	})
	rank := make([]float64, len(chunks))
	for from := 0; from < len(order); {
		to := from
		for to < len(order) && chunks[order[to]].File == chunks[order[from]].File {
			to++
		}
		for k := from + 1; k < to; k++ {
			rank[order[k]] = float64(k-from) / float64(to-from)
		}
		from = to
	}
	slices.SortFunc(order, func(a, b int) int {
		return cmp.Or(cmp.Compare(rank[a], rank[b]), cmp.Compare(chunks[a].Key, chunks[b].Key))
	})
	order = order[:n]
	slices.Sort(order)
	return order
}

// draw makes a map of the index as it is now, with as much of the one before as holds; before may be nil.
func (m *Memory) draw(ctx context.Context, before *drawing) (*drawing, error) {
	d := &drawing{basis: memory.MapOfTerms, made: m.opt.Now()}
	var study *termStudy
	err := m.store.ReadMap(ctx, func(r *store.MapReader) error {
		d.state = mapState{m.store.IndexID(), r.Generation()}
		if err := d.readChunks(ctx, r); err != nil {
			return err
		}
		if r.Embedded() > 0 && 2*r.Embedded() >= len(d.chunks) {
			d.basis, d.space = memory.MapOfVectors, r.Space()
		}
		if ok, err := d.follow(ctx, r, before); ok || err != nil {
			return err
		}
		var err error
		if study, err = m.studyTerms(ctx, r, d.chunks); err == nil {
			err = d.reduce(ctx, r, study)
		}
		return err
	})
	if err != nil || d.places != nil {
		return d, err
	}
	if err := m.project(ctx, d, before); err != nil {
		return nil, err
	}
	return d, m.nameClusters(ctx, d, study)
}

// readChunks sets the chunks that have points and their files.
func (d *drawing) readChunks(ctx context.Context, r *store.MapReader) error {
	chunks, files, err := r.Chunks(ctx)
	if err != nil {
		return err
	}
	for _, i := range sampleChunks(chunks, maxMapPoints) {
		d.chunks = append(d.chunks, chunks[i])
	}
	d.files, d.lacking = files, max(0, len(chunks)-r.Embedded())
	return nil
}

// positions returns the indexes of chunks by id.
func (d *drawing) positions() map[int64]int {
	at := make(map[int64]int, len(d.chunks))
	for i, c := range d.chunks {
		at[c.ID] = i
	}
	return at
}

// reduce sets the vectors of the chunks along their principal components.
func (d *drawing) reduce(ctx context.Context, r *store.MapReader, study *termStudy) error {
	if d.basis == memory.MapOfTerms {
		d.reduced = study.reduce()
		return ctx.Err()
	}
	at := d.positions()
	sample := projection.NewMatrix(0, d.space.Dims)
	chosen := make(map[int64]int, mapSample)
	for _, i := range sampleChunks(d.chunks, mapSample) {
		chosen[d.chunks[i].ID] = i
	}
	err := r.Vectors(ctx, chosen, func(_ int, v []float32) bool {
		sample.Append(v)
		return true
	})
	if err != nil {
		return err
	}
	d.components = projection.NewBasis(sample, mapSeed)
	d.reduced = projection.NewMatrix(len(d.chunks), d.components.Components())
	found := make([]bool, len(d.chunks))
	err = r.Vectors(ctx, at, func(i int, v []float32) bool {
		d.components.Reduce(v, d.reduced.Row(i))
		found[i] = true
		return true
	})
	d.guessMissing(found)
	return err
}

// guessMissing gives a chunk without a vector that of the chunk before it in the file, or of the next one that has one.
func (d *drawing) guessMissing(found []bool) {
	for i := 1; i < len(found); i++ {
		if !found[i] && found[i-1] && d.chunks[i].File == d.chunks[i-1].File {
			copy(d.reduced.Row(i), d.reduced.Row(i-1))
			found[i] = true
		}
	}
	for i := len(found) - 2; i >= 0; i-- {
		if !found[i] && found[i+1] && d.chunks[i].File == d.chunks[i+1].File {
			copy(d.reduced.Row(i), d.reduced.Row(i+1))
			found[i] = true
		}
	}
}

// startOf returns the places that the points have in the map before, nil if none is there.
func (d *drawing) startOf(before *drawing) *projection.Start {
	if before == nil {
		return nil
	}
	at := before.byKey()
	s := &projection.Start{Points: make([]projection.Point, len(d.chunks)), Known: make([]bool, len(d.chunks))}
	for i, c := range d.chunks {
		if j, ok := at[c.Key]; ok {
			s.Points[i], s.Known[i] = before.places[j], true
		}
	}
	return s
}

// byKey returns the indexes of the points by their key.
func (d *drawing) byKey() map[uint64]int {
	at := make(map[uint64]int, len(d.chunks))
	for i, c := range d.chunks {
		at[c.Key] = i
	}
	return at
}

// project lays out the points and finds their clusters.
func (m *Memory) project(ctx context.Context, d, before *drawing) error {
	drawn, err := m.mapper.project(ctx, d.reduced, projection.Options{
		Seed: mapSeed, Budget: mapBudget, Start: d.startOf(before), Progress: m.mapper.report,
	})
	if err != nil {
		return err
	}
	d.places = drawn.Points
	var found []projection.Cluster
	found, d.of = projection.Clusters(d.places)
	for _, c := range found {
		d.clusters = append(d.clusters, memory.MapCluster{X: c.Center.X, Y: c.Center.Y, Size: c.Size})
	}
	if d.basis == memory.MapOfTerms {
		d.reduced = nil // the terms of new points have other numbers
	}
	return nil
}

// follow takes over the layout of the map before if few points have changed since it was made, and places new points among their
// neighbors. It reports whether it did. A map of terms is always laid out anew, because a new text changes what its terms are worth.
func (d *drawing) follow(ctx context.Context, r *store.MapReader, before *drawing) (bool, error) {
	if before == nil || len(before.chunks) == 0 || before.basis != d.basis || before.space != d.space || before.components == nil {
		return false, nil
	}
	at, kept := before.byKey(), 0
	fresh := map[int64]int{}
	for i, c := range d.chunks {
		if _, ok := at[c.Key]; ok {
			kept++
		} else {
			fresh[c.ID] = i
		}
	}
	d.drift = before.drift + len(fresh) + len(before.chunks) - kept + max(0, before.lacking-d.lacking)
	if d.drift*driftParts > len(before.chunks) {
		d.drift = 0
		return false, nil
	}
	d.components, d.reduced = before.components, projection.NewMatrix(len(d.chunks), before.components.Components())
	found := make([]bool, len(d.chunks))
	err := r.Vectors(ctx, fresh, func(i int, v []float32) bool {
		d.components.Reduce(v, d.reduced.Row(i))
		found[i] = true
		return true
	})
	if err != nil {
		return false, err
	}
	for i, c := range d.chunks {
		if j, ok := at[c.Key]; ok {
			copy(d.reduced.Row(i), before.reduced.Row(j))
			found[i] = true
		}
	}
	d.guessMissing(found)
	d.place(before, at)
	return true, ctx.Err()
}

// place sets the places and clusters: known points keep theirs, and new ones get those of their nearest known neighbors.
func (d *drawing) place(before *drawing, at map[uint64]int) {
	d.clusters = slices.Clone(before.clusters)
	for i := range d.clusters {
		d.clusters[i].Size = 0
	}
	d.places, d.of = make([]projection.Point, len(d.chunks)), make([]int32, len(d.chunks))
	for i, c := range d.chunks {
		if j, ok := at[c.Key]; ok {
			d.places[i], d.of[i] = before.places[j], before.of[j]
		} else {
			near := projection.Nearest(before.reduced, d.reduced.Row(i), mapNeighbors)
			d.places[i], d.of[i] = near.Mean(before.places), near.Majority(before.of)
		}
		if d.of[i] >= 0 {
			d.clusters[d.of[i]].Size++
		}
	}
}
