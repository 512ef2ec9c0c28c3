// Package vector holds the vectors of an index in memory and finds the nearest ones.
//
// A [Table] is edited by one writer; a [Slab] is what it held at one moment and never changes, so that searches need no
// lock. Both share the blocks of rows that did not change between them. A [Budget] bounds what several tables hold
// together.
//
// A search reads every row once: that is as fast as the memory. Large slabs are read as codes of one byte a number
// first. Each code's distance from what it stands for is known, so that rows which cannot be among the nearest are left
// out for certain; the others are compared in full. Both ways give the same answer.
package vector
