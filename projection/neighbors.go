package projection

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
)

const (
	// exactRows is the number of rows up to which all pairs are compared.
	exactRows = 1500
	// treeCount and leafSize are those of the forest.
	treeCount = 6
	leafSize  = 40
	// descents is the maximum number of rounds of neighbors of neighbors.
	descents = 3
)

// Neighbors are the nearest neighbors of each row of a matrix.
type Neighbors struct {
	// K is the number of neighbors of a row.
	K int
	// IDs are the neighbors of row i at [i*K, (i+1)*K), the nearest first.
	IDs []int32
	// Distances are their Euclidean distances, not negative.
	Distances []float32
}

// search is one search for neighbors. Distances are squares until it ends.
type search struct {
	*Neighbors
	m *Matrix
}

// NearestNeighbors returns the k nearest other rows of each row, all others if there are fewer. Beyond 1,500 rows they are
// approximate: a forest of random projections (Dasgupta, Freund: Random projection trees, STOC 2008) and then neighbors of neighbors
// (Dong, Charikar, Li: Efficient k-nearest neighbor graph construction, WWW 2011).
func NearestNeighbors(ctx context.Context, m *Matrix, k int, seed uint64, progress func(float64)) (*Neighbors, error) {
	n := m.Rows()
	k = max(0, min(k, n-1))
	s := &search{&Neighbors{K: k, IDs: make([]int32, n*k), Distances: make([]float32, n*k)}, m}
	for i := range s.IDs {
		s.IDs[i], s.Distances[i] = -1, math.MaxFloat32
	}
	var err error
	if n <= exactRows {
		err = s.compareAll(ctx)
	} else {
		err = s.approximate(ctx, rand.New(rand.NewPCG(seed, 2)), progress)
	}
	for i, d := range s.Distances {
		s.Distances[i] = float32(math.Sqrt(float64(d)))
	}
	return s.Neighbors, err
}

// compareAll compares all pairs.
func (s *search) compareAll(ctx context.Context) error {
	for i := range s.m.Rows() {
		if i%256 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		for j := range i {
			s.comparePair(int32(i), int32(j))
		}
	}
	return nil
}

// comparePair offers two rows to each other.
func (s *search) comparePair(i, j int32) bool {
	d := distance(s.m.Row(int(i)), s.m.Row(int(j)))
	a, b := s.offer(i, j, d), s.offer(j, i, d)
	return a || b
}

// offer makes j a neighbor of i if it is nearer than the last one. It reports whether it did.
func (s *search) offer(i, j int32, d float32) bool {
	ids, distances := s.IDs[int(i)*s.K:int(i+1)*s.K], s.Distances[int(i)*s.K:int(i+1)*s.K]
	last := s.K - 1
	if last < 0 || d >= distances[last] || slices.Contains(ids, j) {
		return false
	}
	for last > 0 && distances[last-1] > d {
		ids[last], distances[last] = ids[last-1], distances[last-1]
		last--
	}
	ids[last], distances[last] = j, d
	return true
}

// approximate compares the rows of each leaf of a forest, and then neighbors of neighbors.
func (s *search) approximate(ctx context.Context, random *rand.Rand, progress func(float64)) error {
	rows := make([]int32, s.m.Rows())
	for tree := range treeCount {
		for i := range rows {
			rows[i] = int32(i)
		}
		if err := s.splitRows(ctx, rows, random); err != nil {
			return err
		}
		progress(float64(tree+1) / (treeCount + descents))
	}
	for round := range descents {
		changed, err := s.descend(ctx)
		if err != nil {
			return err
		}
		progress(float64(treeCount+round+1) / (treeCount + descents))
		if changed < len(s.IDs)/200 {
			break
		}
	}
	s.fillGaps(random)
	return nil
}

// splitRows splits rows by random hyperplanes until few are left, and compares these.
func (s *search) splitRows(ctx context.Context, rows []int32, random *rand.Rand) error {
	for len(rows) > leafSize {
		if err := ctx.Err(); err != nil {
			return err
		}
		cut := s.splitOnce(rows, random)
		if err := s.splitRows(ctx, rows[:cut], random); err != nil {
			return err
		}
		rows = rows[cut:]
	}
	for i, a := range rows {
		for _, b := range rows[:i] {
			s.comparePair(a, b)
		}
	}
	return nil
}

// splitOnce sorts rows by the side of the hyperplane between two random ones, and returns where the second side begins. If
// all are on one side, it cuts them in half.
func (s *search) splitOnce(rows []int32, random *rand.Rand) int {
	a, b := s.m.Row(int(rows[random.IntN(len(rows))])), s.m.Row(int(rows[random.IntN(len(rows))]))
	normal, middle := make([]float32, s.m.Cols), float32(0)
	for i := range normal {
		normal[i] = a[i] - b[i]
		middle += normal[i] * (a[i] + b[i]) / 2
	}
	cut := 0
	for i, row := range rows {
		if dot(s.m.Row(int(row)), normal) < middle {
			rows[i], rows[cut] = rows[cut], row
			cut++
		}
	}
	if small := len(rows) / 20; cut < small || len(rows)-cut < small || cut == 0 || cut == len(rows) {
		random.Shuffle(len(rows), func(i, j int) { rows[i], rows[j] = rows[j], rows[i] })
		return len(rows) / 2
	}
	return cut
}

// descend offers to each row the neighbors of its neighbors, in both directions. It returns how many neighbors are new.
func (s *search) descend(ctx context.Context) (changed int, err error) {
	n := s.m.Rows()
	around := s.bothWays()
	for i := range n {
		if i%512 == 0 && ctx.Err() != nil {
			return changed, ctx.Err()
		}
		for _, j := range around[i] {
			for _, c := range s.IDs[int(j)*s.K : int(j+1)*s.K] {
				if c >= 0 && c != int32(i) && s.comparePair(int32(i), c) {
					changed++
				}
			}
		}
	}
	return changed, nil
}

// bothWays returns for each row its neighbors and the rows whose neighbor it is, at most 2*K.
func (s *search) bothWays() [][]int32 {
	around := make([][]int32, s.m.Rows())
	for i := range around {
		around[i] = make([]int32, 0, 2*s.K)
	}
	for at, j := range s.IDs {
		if i := int32(at / s.K); j >= 0 {
			around[i] = append(around[i], j)
			if len(around[j]) < 2*s.K {
				around[j] = append(around[j], i)
			}
		}
	}
	return around
}

// fillGaps gives rows with too few neighbors random ones.
func (s *search) fillGaps(random *rand.Rand) {
	for at := range s.IDs {
		for s.IDs[at] < 0 {
			i := int32(at / s.K)
			if j := int32(random.IntN(s.m.Rows())); j != i {
				s.offer(i, j, distance(s.m.Row(int(i)), s.m.Row(int(j))))
			}
		}
	}
}

// Near are the rows nearest to a vector.
type Near struct {
	ids       []int32
	distances []float32
}

// Nearest returns the k rows nearest to a vector.
func Nearest(m *Matrix, vector []float32, k int) Near {
	k = min(k, m.Rows())
	s := &search{&Neighbors{K: k, IDs: make([]int32, k), Distances: make([]float32, k)}, m}
	for i := range s.IDs {
		s.IDs[i], s.Distances[i] = -1, math.MaxFloat32
	}
	for j := range m.Rows() {
		s.offer(0, int32(j), distance(m.Row(j), vector))
	}
	return Near{s.IDs, s.Distances}
}

// Mean returns the mean of the places of the rows, weighted by nearness, or the middle if there are none.
func (n Near) Mean(places []Point) Point {
	var x, y, sum float32
	for at, j := range n.ids {
		w := 1 / (1e-3 + float32(math.Sqrt(float64(n.distances[at]))))
		x, y, sum = x+w*places[j].X, y+w*places[j].Y, sum+w
	}
	if sum == 0 {
		return Point{0.5, 0.5}
	}
	return Point{x / sum, y / sum}
}

// Majority returns what most of the rows have in of; of two that are as frequent, the one of the nearer row; -1 without rows.
func (n Near) Majority(of []int32) int32 {
	counts, best := map[int32]int{}, int32(-1)
	for _, j := range n.ids {
		counts[of[j]]++
	}
	most := 0
	for _, j := range n.ids {
		if counts[of[j]] > most {
			best, most = of[j], counts[of[j]]
		}
	}
	return best
}
