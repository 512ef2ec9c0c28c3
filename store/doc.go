// Package store keeps one agent's index in one SQLite file: its words, its vectors and the embeddings that were paid for. It is
// the only package with SQL. schema.sql describes the tables.
package store
