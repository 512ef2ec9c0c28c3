// Package store keeps what is derived from the notes of one agent in a SQLite file of its own beside the index. DESIGN.md says how the two
// keep in step, and schema.sql describes the tables.
package store
