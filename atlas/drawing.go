package atlas

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"kioku/memory"
)

// Phases of a map, in order.
const (
	phaseReading   = "reading"
	phaseNeighbors = "neighbors"
	phaseLayout    = "layout"
	phaseNaming    = "naming"
)

const (
	// layoutBudget is the time after which a layout ends as it is.
	layoutBudget = 30 * time.Second
	// basisSample is the number of vectors whose principal components are those of all.
	basisSample = 2000
)

// drawing is a map as it was made.
type drawing struct {
	state    State
	chunks   []Chunk // with their places and clusters
	files    []memory.MapFile
	clusters []memory.MapCluster
	basis    string
	made     time.Time
	took     time.Duration
}

// fill writes a drawing to a map, in part if the caller knows it or wants fewer points.
func (d *drawing) fill(out *memory.Map, q memory.MapQuery) {
	most := cmp.Or(q.MaxPoints, MaxPoints)
	out.Version = fmt.Sprintf("%x-%x-%d-%d", d.state.Index, d.state.Generation, d.made.UnixNano(), most)
	out.Basis, out.Made, out.Took = d.basis, d.made, d.took
	if q.KnownVersion == out.Version {
		return
	}
	out.Files, out.Clusters = d.files, d.clusters
	for _, c := range sampleChunks(d.chunks, most) {
		out.Points = append(out.Points, c.MapPoint)
	}
}

// sampleChunks returns at most n chunks, in order: of each file the same part, but at least one if there is room. The same chunks
// are chosen again after a small change, because their keys decide.
func sampleChunks(chunks []Chunk, n int) []Chunk {
	if len(chunks) <= n {
		return chunks
	}
	// The chunks of a file by key: the first is worth the most, and the k-th of m is worth the more, the smaller k/m is.
	byKey := slices.Clone(chunks)
	slices.SortFunc(byKey, func(a, b Chunk) int { return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Key, b.Key)) })
	size := map[int]int{}
	for _, c := range chunks {
		size[c.File]++
	}
	rank, seen := make(map[int64]float64, len(chunks)), map[int]int{}
	for _, c := range byKey {
		rank[c.ID] = float64(seen[c.File]) / float64(size[c.File])
		seen[c.File]++
	}
	slices.SortFunc(byKey, func(a, b Chunk) int {
		return cmp.Or(cmp.Compare(rank[a.ID], rank[b.ID]), cmp.Compare(a.Key, b.Key))
	})
	chosen := byKey[:n]
	slices.SortFunc(chosen, func(a, b Chunk) int {
		return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.StartLine, b.StartLine), cmp.Compare(a.ID, b.ID))
	})
	return chosen
}

// draw makes a map of the index as it is now; the points that are in the map before, which may be nil, stay about where they are.
func (a *Atlas) draw(ctx context.Context, before *drawing) (*drawing, error) {
	d := &drawing{basis: memory.MapOfVectors, made: a.opt.Now()}
	var texts vocabulary
	var vectors *matrix
	err := a.opt.Read(ctx, func(rows Rows) error {
		all, files, err := rows.Chunks(ctx)
		if err != nil {
			return err
		}
		d.files, d.chunks = files, slices.Clone(sampleChunks(all, MaxPoints))
		if texts, err = readVocabulary(ctx, rows, d.chunks, a.report); err != nil {
			return err
		}
		vectors, err = readVectors(ctx, rows, d.chunks)
		return err
	})
	if err != nil {
		return nil, err
	}
	if vectors == nil {
		d.basis, vectors = memory.MapOfTerms, texts.vectors()
	}
	points, err := layOut(ctx, vectors, d.placesIn(before), layoutBudget, a.report)
	if err != nil {
		return nil, err
	}
	a.report(phaseNaming, 0)
	clusters, of := findClusters(points)
	for c, terms := range texts.names(of, len(clusters)) {
		clusters[c].Terms = terms
	}
	for i, p := range points {
		d.chunks[i].X, d.chunks[i].Y, d.chunks[i].Cluster = p.X, p.Y, int(of[i])
	}
	d.clusters = clusters
	return d, ctx.Err()
}

// placesIn returns the places of the chunks in the map before, nil for a chunk that it does not have.
func (d *drawing) placesIn(before *drawing) []*point {
	places := make([]*point, len(d.chunks))
	if before == nil {
		return places
	}
	known := make(map[uint64]*point, len(before.chunks))
	for _, c := range before.chunks {
		known[c.Key] = &point{c.X, c.Y}
	}
	for i, c := range d.chunks {
		places[i] = known[c.Key]
	}
	return places
}

// readVectors returns the vectors of chunks along their principal components, nil if fewer than half of the chunks have one. A chunk
// without a vector gets that of its neighbor in the file.
func readVectors(ctx context.Context, rows Rows, chunks []Chunk) (*matrix, error) {
	chosen := sampleChunks(chunks, basisSample)
	sample := &matrix{}
	err := rows.Vectors(ctx, indexesByID(chosen), func(_ int, v []float32) { sample.appendRow(v) })
	if err != nil || sample.rows() == 0 || 2*sample.rows() < len(chosen) {
		return nil, err
	}
	basis := newBasis(sample)
	out, found := newMatrix(len(chunks), basis.components.rows()), make([]bool, len(chunks))
	err = rows.Vectors(ctx, indexesByID(chunks), func(i int, v []float32) {
		basis.reduce(v, out.row(i))
		found[i] = true
	})
	take := func(i, from int) {
		if !found[i] && found[from] && chunks[i].File == chunks[from].File {
			copy(out.row(i), out.row(from))
			found[i] = true
		}
	}
	for i := 1; i < len(chunks); i++ {
		take(i, i-1)
	}
	for i := len(chunks) - 2; i >= 0; i-- {
		take(i, i+1)
	}
	return out, err
}

// indexesByID returns the indexes of chunks by their ids.
func indexesByID(chunks []Chunk) map[int64]int {
	at := make(map[int64]int, len(chunks))
	for i, c := range chunks {
		at[c.ID] = i
	}
	return at
}
