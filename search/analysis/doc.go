// Package analysis turns text into the terms by which the index finds it. Notes and queries are analysed by the same
// functions, so that their terms agree. It also tells the languages of texts, whose words are stemmed each in its own.
package analysis
