// Package postings keeps the words of an index in memory: for each term the documents that contain it and the places in them.
// It finds the best documents for a query as FTS5 does, without looking at documents that cannot be among them.
package postings
