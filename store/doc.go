// Package store implements one agent's index in one SQLite file: the words of its notes, their vectors, and a cache of vectors
// that were paid for. It is the only package with SQL. schema.sql describes the tables.
package store
