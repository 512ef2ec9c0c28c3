package projection

import (
	"cmp"
	"math"
	"slices"
)

const (
	// maxClusters is the maximum number of clusters, and clusterPoints the mean number of points of one below which there are fewer.
	maxClusters   = 60
	clusterPoints = 12
	// leastPoints is the minimum size of a cluster, and 1/leastParts of all points.
	leastPoints, leastParts = 4, 500
	// splitPoints and 1/splitParts of all points are the sizes above which a cluster is cut into regions, in meanSteps steps.
	splitPoints, splitParts, meanSteps = 600, 10, 20
	// bigParts: clusters of 1/bigParts of the points or more are as many as wanted, whatever the number of small islands.
	bigParts = 100
	// firstShare is the percentage of the clusters that the first look may find; the others are regions of large ones.
	firstShare = 70
	// bandwidth is the part of Silverman's bandwidth, which is for one cluster, that finds several.
	bandwidth = 0.3
	// flatDensity is the part of the highest density below which a place belongs to no cluster.
	flatDensity = 0.002
)

// Cluster is a crowd of points.
type Cluster struct {
	// Center is the place where its points are densest, or their mean if it is a region of a large cluster.
	Center Point
	// Size is the number of its points.
	Size int
}

// Clusters finds the crowds among points in the unit square, the largest first, and for each point the index of its cluster, -1 if
// it is in none. A cluster is a peak of the density of the points with all from which the density rises to it; a peak that hardly
// rises above the saddle to a higher one belongs to that (ToMATo: Chazal, Guibas, Oudot, Skraba: Persistence-based clustering in
// Riemannian manifolds, J. ACM 60, 2013). The threshold is the lowest that leaves a number of clusters that one can look at. A very large one is cut into regions.
func Clusters(points []Point) ([]Cluster, []int32) {
	of := make([]int32, len(points))
	for i := range of {
		of[i] = -1
	}
	if len(points) == 0 {
		return nil, of
	}
	most := max(1, min(maxClusters, len(points)/clusterPoints))
	found := findPeaks(points, of, max(1, most*firstShare/100), max(leastPoints, len(points)/leastParts))
	for c := range found { // regions are not cut again
		if found[c].Size >= splitPoints && found[c].Size*splitParts > len(points) && len(found) < most {
			found = split(points, of, found, c, most-len(found)+1)
		}
	}
	return bySize(found, of), of
}

// findPeaks finds at most so many clusters of at least so many points, and writes the cluster of each point to of.
func findPeaks(points []Point, of []int32, most, least int) []Cluster {
	g := densityOf(points)
	var found []Cluster
	for ratio := 0.9; ratio > 0.05; ratio -= 0.05 {
		found = g.assign(points, g.hills(ratio), of, least)
		big := 0
		for _, c := range found {
			if c.Size*bigParts >= len(points) {
				big++
			}
		}
		if big <= most {
			break
		}
	}
	for i, c := range of {
		if c >= int32(most) {
			of[i] = -1
		}
	}
	return found[:min(most, len(found))]
}

// split cuts a large cluster into regions of about the same size, of which the first takes its place and the others are appended. Notes of
// one kind, such as documentation, are one continent, and one wants to know what is where on it.
func split(points []Point, of []int32, found []Cluster, c, most int) []Cluster {
	var own []Point
	var at []int
	for i, k := range of {
		if k == int32(c) {
			own, at = append(own, points[i]), append(at, i)
		}
	}
	k := min(most, 1+len(own)*splitParts/len(points), 1+2*len(own)/splitPoints)
	parts, regions := make([]int32, len(own)), seedRegions(own, k)
	for range meanSteps {
		regions = moveToMeans(own, parts, regions)
	}
	for i, k := range parts {
		if k > 0 {
			of[at[i]] = int32(len(found)) + k - 1
		}
	}
	found[c] = regions[0]
	return append(found, regions[1:]...)
}

// seedRegions returns k regions whose centers are far apart: the first is the first point, and each other one the point that is farthest from
// those before (Gonzalez: Clustering to minimize the maximum intercluster distance, 1985).
func seedRegions(points []Point, k int) []Cluster {
	regions := []Cluster{{Center: points[0]}}
	for len(regions) < k {
		var farthest Point
		most := -1.0
		for _, p := range points {
			c := regions[nearestCenter(regions, p)].Center
			if d := math.Hypot(float64(c.X-p.X), float64(c.Y-p.Y)); d > most {
				farthest, most = p, d
			}
		}
		regions = append(regions, Cluster{Center: farthest})
	}
	return regions
}

// moveToMeans gives each point to the nearest region, and returns the regions with the means of their points as centers: a step of k-means
// (Lloyd 1982). A region without points stays.
func moveToMeans(points []Point, of []int32, regions []Cluster) []Cluster {
	sums := make([]center, len(regions))
	for i, p := range points {
		of[i] = nearestCenter(regions, p)
		sums[of[i]].add(p)
	}
	next := slices.Clone(regions)
	for c, sum := range sums {
		if next[c].Size = int(sum.n); sum.n > 0 {
			mean := sum.mean()
			next[c].Center = Point{float32(mean[0]), float32(mean[1])}
		}
	}
	return next
}

// nearestCenter returns the cluster whose center is nearest to a place.
func nearestCenter(clusters []Cluster, p Point) (best int32) {
	least := math.Inf(1)
	for c, cluster := range clusters {
		if d := math.Hypot(float64(cluster.Center.X-p.X), float64(cluster.Center.Y-p.Y)); d < least {
			best, least = int32(c), d
		}
	}
	return best
}

// bySize sorts clusters, the largest first, and numbers those of the points alike.
func bySize(found []Cluster, of []int32) []Cluster {
	order := make([]int, len(found))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(found[b].Size, found[a].Size) })
	sorted, now := make([]Cluster, len(found)), make([]int32, len(found))
	for to, from := range order {
		sorted[to], now[from] = found[from], int32(to)
	}
	for i, c := range of {
		if c >= 0 {
			of[i] = now[c]
		}
	}
	return sorted
}

// grid is the density of points over the unit square.
type grid struct {
	side  int
	cells []float64
	// order is the cells that are not flat, the densest first.
	order []int32
}

// densityOf estimates the density by Gaussian kernels, whose width follows from the number of points and their deviation (Silverman:
// Density estimation, 1986, section 4.3).
func densityOf(points []Point) *grid {
	width := bandwidth * deviation(points) * math.Pow(float64(len(points)), -1.0/6)
	width = max(0.008, min(0.1, width))
	g := &grid{side: int(min(256, max(32, 2.5/width)))}
	g.cells = make([]float64, g.side*g.side)
	for _, p := range points {
		g.cells[g.cellOf(p)]++
	}
	g.blur(width * float64(g.side))
	highest := slices.Max(g.cells)
	for i, d := range g.cells {
		if d > highest*flatDensity {
			g.order = append(g.order, int32(i))
		}
	}
	slices.SortFunc(g.order, func(a, b int32) int {
		return cmp.Or(cmp.Compare(g.cells[b], g.cells[a]), cmp.Compare(a, b))
	})
	return g
}

// deviation returns the deviation of points from their mean along an axis.
func deviation(points []Point) float64 {
	var c center
	for _, p := range points {
		c.add(p)
	}
	mean, square := c.mean(), 0.0
	for _, p := range points {
		dx, dy := float64(p.X)-mean[0], float64(p.Y)-mean[1]
		square += dx*dx + dy*dy
	}
	return math.Sqrt(square / float64(2*len(points)))
}

// cellOf returns the cell of a point.
func (g *grid) cellOf(p Point) int {
	x := min(g.side-1, int(inUnit(p.X)*float32(g.side)))
	y := min(g.side-1, int(inUnit(p.Y)*float32(g.side)))
	return y*g.side + x
}

// pointAt returns the middle of a cell.
func (g *grid) pointAt(cell int32) Point {
	return Point{(float32(int(cell)%g.side) + 0.5) / float32(g.side), (float32(int(cell)/g.side) + 0.5) / float32(g.side)}
}

// blur smooths the cells with a Gaussian, first along the rows and then along the columns.
func (g *grid) blur(width float64) {
	radius := int(3*width) + 1
	kernel := make([]float64, 2*radius+1)
	for i := range kernel {
		d := float64(i-radius) / width
		kernel[i] = math.Exp(-d * d / 2)
	}
	for _, step := range []int{1, g.side} {
		out := make([]float64, len(g.cells))
		for i, n := range g.cells {
			if n == 0 {
				continue
			}
			at := i / step % g.side
			for k := max(-radius, -at); k <= min(radius, g.side-1-at); k++ {
				out[i+k*step] += n * kernel[k+radius]
			}
		}
		g.cells = out
	}
}

// hills returns for each cell the peak that it belongs to, -1 for flat ones. Two peaks are one if the density at the saddle between
// them is at least ratio of that of the lower one.
func (g *grid) hills(ratio float64) []int32 {
	up := make([]int32, len(g.cells)) // a forest whose roots are peaks
	for i := range up {
		up[i] = -1
	}
	root := func(i int32) int32 {
		for up[i] != i {
			up[i] = up[up[i]]
			i = up[i]
		}
		return i
	}
	for _, cell := range g.order {
		up[cell] = cell
		for _, other := range g.around(cell) {
			if other < 0 || up[other] < 0 {
				continue
			}
			high, low := root(other), root(cell)
			if high == low {
				continue
			}
			if g.cells[high] < g.cells[low] {
				high, low = low, high
			}
			if low == cell || g.cells[cell] >= ratio*g.cells[low] {
				up[low] = high
			}
		}
	}
	for _, cell := range g.order {
		up[cell] = root(cell)
	}
	return up
}

// around returns the eight cells around a cell, -1 beyond the border, the densest first.
func (g *grid) around(cell int32) [8]int32 {
	x, y := int(cell)%g.side, int(cell)/g.side
	var out [8]int32
	n := 0
	for dy := -1; dy <= 1; dy++ {
		for dx := -1; dx <= 1; dx++ {
			if dx == 0 && dy == 0 {
				continue
			}
			out[n] = -1
			if x+dx >= 0 && x+dx < g.side && y+dy >= 0 && y+dy < g.side {
				out[n] = cell + int32(dy*g.side+dx)
			}
			n++
		}
	}
	slices.SortFunc(out[:], func(a, b int32) int { return cmp.Or(cmp.Compare(g.density(b), g.density(a)), cmp.Compare(a, b)) })
	return out
}

// density returns the density of a cell, 0 beyond the border.
func (g *grid) density(cell int32) float64 {
	if cell < 0 {
		return 0
	}
	return g.cells[cell]
}

// assign writes the cluster of each point to of, and returns the clusters that have enough points.
func (g *grid) assign(points []Point, peakOf []int32, of []int32, least int) []Cluster {
	sizes := map[int32]int{}
	for _, p := range points {
		if peak := peakOf[g.cellOf(p)]; peak >= 0 {
			sizes[peak]++
		}
	}
	var peaks []int32
	for peak, size := range sizes {
		if size >= least {
			peaks = append(peaks, peak)
		}
	}
	slices.SortFunc(peaks, func(a, b int32) int { return cmp.Or(cmp.Compare(sizes[b], sizes[a]), cmp.Compare(a, b)) })
	clusters, index := make([]Cluster, len(peaks)), map[int32]int32{}
	for i, peak := range peaks {
		clusters[i], index[peak] = Cluster{Center: g.pointAt(peak), Size: sizes[peak]}, int32(i)
	}
	for i, p := range points {
		of[i] = -1
		if c, ok := index[peakOf[g.cellOf(p)]]; ok {
			of[i] = c
		}
	}
	return clusters
}
