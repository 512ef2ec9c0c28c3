// Package vector caches the vectors of an index in memory and finds the nearest ones.
//
// One writer edits a [Table]. A [Slab] is a snapshot of it that never changes, so that searches need no lock. Both share the
// blocks of rows that are equal. A [Budget] limits the memory of several tables.
//
// A search reads every row once: that is as fast as the memory. In a large slab it reads rows quantized to one byte a
// number first. The error of each quantized row is known, so that rows that cannot be among the nearest are left out for
// certain; the others are compared in full. Both ways return the same rows.
package vector
