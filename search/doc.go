// Package search ranks the chunks of a store for a query.
//
// [Searcher.Search] takes a query through these steps, each in a file of its own: analyse the text and embed it, find
// candidates by keywords, vectors and dates, score each of them on every channel, cut them into passages, merge the channels,
// let old notes fade, apply the threshold, and choose diverse hits.
package search
