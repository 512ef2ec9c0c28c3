// Package backup writes an agent's memory to one archive and restores it from there.
//
// A backup is a tar.gz with copies of the index (index.sqlite), the embeddings (embeddings.sqlite) and what is derived
// (derived.sqlite), the notes (notes/...), what runs beside the agent: sessions and flushes (agent/...), and, as its last entry, a
// manifest (manifest.json) with the size and SHA-256 of every other entry. An archive that was cut off has no manifest and is refused.
package backup
