// Package backup writes an agent's memory to one archive and restores it from there.
//
// A backup is a tar.gz with copies of the embeddings (embeddings.sqlite) and what is derived (derived.sqlite), the notes (notes/...),
// what runs beside the agent: sessions and flushes (agent/...), and, as its last entry, a manifest (manifest.json) that says what it is
// of. An archive that was cut off has no manifest and is refused; the checksum of gzip tells damage.
package backup
