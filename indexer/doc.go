// Package indexer keeps a store in step with a folder of Markdown, by two loops that DESIGN.md describes. An Indexer scans and
// watches the folder, splits changed files into chunks and writes them to the store. A Backfill has the chunks embedded that
// have no vector yet. The package never writes to the folder.
package indexer
