// Package search ranks the chunks of a store for a query.
//
// Each step of the pipeline is a pure function in a file of its own: analysis, query terms, text score, merge,
// threshold, decay, MMR, snippet. [Searcher.Search] walks through them in this order.
package search
