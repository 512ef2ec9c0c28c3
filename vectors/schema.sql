-- The vectors of one agent that were paid for, by the texts that they are of. DESIGN.md says how they get into the index.

-- cache: one row about the file.
CREATE TABLE cache (
  id   INTEGER NOT NULL, -- random; an index knows by it which cache it was filled from
  live INTEGER NOT NULL  -- rows that could not be evicted when that was last looked at
) STRICT;

-- spaces: where vectors are from. Those of two spaces cannot be compared.
CREATE TABLE spaces (
  id       INTEGER PRIMARY KEY,
  provider TEXT    NOT NULL,
  model    TEXT    NOT NULL,
  dims     INTEGER NOT NULL,
  endpoint TEXT    NOT NULL, -- fingerprint of the base URL, '' for the provider's default
  UNIQUE (provider, model, dims, endpoint)
) STRICT;

-- embedding_cache: the vectors.
CREATE TABLE embedding_cache (
  id       INTEGER PRIMARY KEY,
  space    INTEGER NOT NULL REFERENCES spaces (id),
  kind     TEXT    NOT NULL, -- 'document' or 'window'
  sha256   BLOB    NOT NULL, -- of the text
  vector   BLOB    NOT NULL, -- of a document float32, little-endian; of a window a float32 and a byte a number; empty if the provider refuses it
  checksum INTEGER NOT NULL, -- CRC-32 (Castagnoli) of vector
  used     INTEGER NOT NULL  -- when the row was written, seconds since 1970
) STRICT;
CREATE UNIQUE INDEX embedding_cache_key ON embedding_cache (space, kind, sha256);
