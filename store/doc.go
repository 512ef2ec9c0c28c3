// Package store implements one agent's index in one SQLite file: the words of its notes and their vectors. It can be made again from the notes
// and from the cache of embeddings. schema.sql describes the tables.
package store
