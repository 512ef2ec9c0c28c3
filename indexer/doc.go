// Package indexer keeps a store in step with a folder of Markdown: it scans, watches, cuts changed files into
// chunks, has new texts embedded and hands whole files to the store. It never writes to the folder.
package indexer
