package atlas

import (
	"cmp"
	"math"
	"slices"

	"kioku/memory"
)

const (
	// maxClusters is the maximum number of clusters, and clusterPoints the mean number of points of one below which there are fewer.
	maxClusters, clusterPoints = 60, 12
	// leastPoints is the minimum size of a cluster, and 1/leastParts of all points.
	leastPoints, leastParts = 4, 500
	// gridSide is the number of cells of a row of the grid in which points are counted.
	gridSide = 192
	// bandwidth is the part of Silverman's bandwidth, which is for one cluster, that finds several.
	bandwidth = 0.3
	// leastBlur and mostBlur are the bounds of the standard deviation, in cells, with which the density is smoothed, and blurStep how much
	// more it is each time that there are too many clusters.
	leastBlur, mostBlur, blurStep = 1.5, 48.0, 1.15
	// flatDensity is the part of the highest density below which a place belongs to no cluster.
	flatDensity = 0.002
)

// findClusters finds the crowds among points in the unit square, the largest first, and for each point the index of its cluster, -1
// if it is in none. A cluster is a peak of the density of the points with all places from which the density rises to it (mean shift:
// Comaniciu, Meer, PAMI 24, 2002, on a grid). The density is smoothed just so much that there are few enough to look at.
func findClusters(points []point) ([]memory.MapCluster, []int32) {
	most := max(1, min(maxClusters, len(points)/clusterPoints))
	least := max(leastPoints, len(points)/leastParts)
	cells := make([]float64, gridSide*gridSide)
	for _, p := range points {
		cells[cellOf(p)]++
	}
	var clusters []memory.MapCluster
	var of []int32
	for width := max(leastBlur, silverman(points)*bandwidth*gridSide); width < mostBlur; width *= blurStep {
		if clusters, of = clustersOf(points, peaksOf(blur(cells, width)), least); len(clusters) <= most {
			break
		}
	}
	for i, c := range of {
		if int(c) >= most {
			of[i] = -1
		}
	}
	return clusters[:min(most, len(clusters))], of
}

// silverman returns the bandwidth for points of one cluster (Silverman: Density estimation, 1986, section 4.3).
func silverman(points []point) float64 {
	mean, square := meanOf(points), 0.0
	for _, p := range points {
		dx, dy := float64(p.X-mean.X), float64(p.Y-mean.Y)
		square += dx*dx + dy*dy
	}
	n := float64(max(len(points), 1))
	return math.Sqrt(square/(2*n)) * math.Pow(n, -1.0/6)
}

// cellOf returns the cell of a point.
func cellOf(p point) int {
	x, y := min(gridSide-1, int(p.X*gridSide)), min(gridSide-1, int(p.Y*gridSide))
	return y*gridSide + x
}

// blur returns the cells smoothed with a Gaussian, first along the rows and then along the columns.
func blur(cells []float64, width float64) []float64 {
	radius := int(3*width) + 1
	kernel := make([]float64, 2*radius+1)
	for i := range kernel {
		d := float64(i-radius) / width
		kernel[i] = math.Exp(-d * d / 2)
	}
	for _, step := range []int{1, gridSide} {
		out := make([]float64, len(cells))
		for i, n := range cells {
			if n == 0 {
				continue
			}
			at := i / step % gridSide
			for k := max(-radius, -at); k <= min(radius, gridSide-1-at); k++ {
				out[i+k*step] += n * kernel[k+radius]
			}
		}
		cells = out
	}
	return cells
}

// peaksOf returns for each cell the peak to which the density rises from it, -1 for flat ones.
func peaksOf(density []float64) []int32 {
	flat := slices.Max(density) * flatDensity
	up := make([]int32, len(density)) // the densest of the nine cells around
	for i := range up {
		up[i] = int32(i)
		x, y := i%gridSide, i/gridSide
		for dy := max(-1, -y); dy <= min(1, gridSide-1-y); dy++ {
			for dx := max(-1, -x); dx <= min(1, gridSide-1-x); dx++ {
				if at := int32(i + dy*gridSide + dx); density[at] > density[up[i]] {
					up[i] = at
				}
			}
		}
	}
	peaks := make([]int32, len(density))
	for i := range peaks {
		at := int32(i)
		for up[at] != at {
			at = up[at]
		}
		if peaks[i] = at; density[i] <= flat {
			peaks[i] = -1
		}
	}
	return peaks
}

// clustersOf returns the peaks with at least so many points as clusters, the largest first, and the cluster of each point.
func clustersOf(points []point, peaks []int32, least int) ([]memory.MapCluster, []int32) {
	sizes := map[int32]int{}
	for _, p := range points {
		if peak := peaks[cellOf(p)]; peak >= 0 {
			sizes[peak]++
		}
	}
	var large []int32
	for peak, size := range sizes {
		if size >= least {
			large = append(large, peak)
		}
	}
	slices.SortFunc(large, func(a, b int32) int { return cmp.Or(cmp.Compare(sizes[b], sizes[a]), cmp.Compare(a, b)) })
	clusters, of := make([]memory.MapCluster, len(large)), make([]int32, len(points))
	for i, peak := range large {
		x, y := int(peak)%gridSide, int(peak)/gridSide
		clusters[i] = memory.MapCluster{X: (float32(x) + 0.5) / gridSide, Y: (float32(y) + 0.5) / gridSide, Size: sizes[peak]}
	}
	for i, p := range points {
		of[i] = int32(slices.Index(large, peaks[cellOf(p)]))
	}
	return clusters, of
}
