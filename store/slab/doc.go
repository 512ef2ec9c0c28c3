// Package slab keeps the words and the vectors of an index in memory, and finds the best chunks for a query.
//
// It is fed with rows of any store: the id of a chunk, its analysed words and its vector. A [Cache] loads a [Slab] in the background and
// follows each commit of its process. A Slab is one generation and never changes, so that searches need no lock. A [Budget] limits the
// memory of several caches.
//
// [Words] find what FTS5 ranks best, without looking at chunks that cannot be among the best. [Vectors] read every row once: that is as
// fast as the memory. Many rows are read quantized to one byte a number first. The error of each quantized row is known, so that rows that
// cannot be among the nearest are left out for certain; the others are compared in full. Both ways return the same rows.
package slab
