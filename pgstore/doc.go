// Package pgstore keeps what a cluster must not lose in PostgreSQL: the Markdown of each agent, the notes that wait for its folder, and the
// vectors that were paid for. It indexes and ranks nothing: each node has an index of its own, made from what is here. DESIGN.md says why.
package pgstore
