// Package analysis turns text into the terms by which the index finds it. Notes and queries are analysed by the same
// functions, so that their terms agree.
package analysis
