// Package projection draws vectors as points of a plane, so that near ones stay near, and finds the clusters among the points.
//
// The steps are those of UMAP (McInnes, Healy, Melville: UMAP, arXiv:1802.03426, 2018): principal components, a graph of
// approximate nearest neighbors, a layout of it by stochastic gradient descent with negative samples. The same input and seed
// give the same picture on every machine with the same floating-point arithmetic, unless a time budget ends the layout earlier.
package projection
