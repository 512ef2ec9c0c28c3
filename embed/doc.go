// Package embed turns text into unit vectors.
//
// A [Client] embeds with one provider. It batches, retries, checks every answer, normalises vectors, caches query vectors and
// stops calling a provider that is down, so that indexing and searching go on without it.
package embed
