-- The index of one agent's memory. Everything in it but the vectors can be made anew from the Markdown.
-- Lines are 1-based and inclusive; times are nanoseconds since 1970; hashes are raw sha256.
-- chunks_vec, the vec0 table of unit vectors (rowid = chunks.id), is made when the dimension of the vectors is known.

-- meta: one row about the index as a whole. Totals are kept in step with every change, so that no query counts.
CREATE TABLE IF NOT EXISTS meta (
  id              INTEGER PRIMARY KEY CHECK (id = 1),
  workspace       TEXT    NOT NULL DEFAULT '', -- folder that the rows come from
  chunking        TEXT    NOT NULL DEFAULT '', -- fingerprint of the chunker that made the chunks
  space_provider  TEXT    NOT NULL DEFAULT '', -- embedding space of chunks_vec, empty where there is none
  space_model     TEXT    NOT NULL DEFAULT '',
  space_dims      INTEGER NOT NULL DEFAULT 0,
  space_endpoint  TEXT    NOT NULL DEFAULT '',
  generation      INTEGER NOT NULL DEFAULT 0,  -- bumped by every committed change
  files           INTEGER NOT NULL DEFAULT 0,  -- files that are indexed (not skipped)
  chunks          INTEGER NOT NULL DEFAULT 0,
  embedded        INTEGER NOT NULL DEFAULT 0,  -- chunks that have a row in chunks_vec
  terms           INTEGER NOT NULL DEFAULT 0,  -- analysed terms of all chunks
  last_sync       INTEGER NOT NULL DEFAULT 0   -- end of the last complete sync
) STRICT;
INSERT OR IGNORE INTO meta (id) VALUES (1);

-- files: every file that the scan has seen, also those that are skipped.
CREATE TABLE IF NOT EXISTS files (
  id         INTEGER PRIMARY KEY,
  path       TEXT    NOT NULL UNIQUE,     -- relative to the workspace, with '/'; absolute outside of it
  source     TEXT    NOT NULL,            -- 'memory', 'extra' or 'sessions'
  sha256     BLOB    NOT NULL,            -- of the bytes that were indexed
  mtime      INTEGER NOT NULL,
  size       INTEGER NOT NULL,
  date       TEXT    NOT NULL DEFAULT '', -- YYYY-MM-DD from the front matter or the name
  evergreen  INTEGER NOT NULL DEFAULT 0,  -- 1: does not decay
  error      TEXT    NOT NULL DEFAULT '', -- why the file is skipped, empty where it is indexed
  chunks     INTEGER NOT NULL DEFAULT 0,
  embedded   INTEGER NOT NULL DEFAULT 0   -- chunks that have a row in chunks_vec
) STRICT;
-- The backlog: files with chunks that have no vector yet.
CREATE INDEX IF NOT EXISTS files_backlog ON files (mtime) WHERE embedded < chunks;

-- chunks: runs of lines of about 400 tokens.
CREATE TABLE IF NOT EXISTS chunks (
  id         INTEGER PRIMARY KEY,
  file       INTEGER NOT NULL REFERENCES files (id),
  start_line INTEGER NOT NULL,
  end_line   INTEGER NOT NULL,
  headings   TEXT    NOT NULL, -- '# Projects > ## Acme'
  date       TEXT    NOT NULL, -- of the entry where the file tells one for each, else of its heading or of the file
  sha256     BLOB    NOT NULL, -- of text
  fence      TEXT    NOT NULL, -- mark of the code fence that it begins in
  closed     INTEGER NOT NULL, -- 1: it ends where a section does
  terms      INTEGER NOT NULL, -- analysed terms, as they are in chunks_fts
  checksum   INTEGER,          -- CRC-32 (Castagnoli) of its vector in chunks_vec, NULL where it has none
  text       TEXT    NOT NULL
) STRICT;
CREATE INDEX IF NOT EXISTS chunks_file ON chunks (file);
CREATE INDEX IF NOT EXISTS chunks_sha256 ON chunks (sha256);
-- Holds all that a search within days reads of a chunk.
CREATE INDEX IF NOT EXISTS chunks_date ON chunks (date, file);

-- chunks_fts: the analysed terms of each chunk, its headings and its date, separated by spaces. Analysis happens in Go;
-- this tokenizer only splits at spaces, for every other ASCII sign is a token character and so is all that is not ASCII.
-- The words of a deleted note, without their order, stay in the file until FTS5 merges them away; its secure-delete does
-- nothing for a table without content.
CREATE VIRTUAL TABLE IF NOT EXISTS chunks_fts USING fts5 (
  terms, content = '', contentless_delete = 1, detail = full,
  tokenize = "ascii tokenchars '!""#$%&''()*+,-./:;<=>?@[\]^_`{|}~'"
);
-- A merge that is asked for begins with two segments of a level, not with four.
INSERT INTO chunks_fts (chunks_fts, rank) SELECT 'usermerge', 2
  WHERE NOT EXISTS (SELECT 1 FROM chunks_fts_config WHERE k = 'usermerge');
-- FTS5 itself merges 16 segments of a level, not 4: a long sync writes each word half as often, and what is left is
-- merged after it.
INSERT INTO chunks_fts (chunks_fts, rank) SELECT 'automerge', 16
  WHERE NOT EXISTS (SELECT 1 FROM chunks_fts_config WHERE k = 'automerge');
-- The words of a commit are one segment: they are gathered in memory up to 4 MB, not 1.
INSERT INTO chunks_fts (chunks_fts, rank) SELECT 'hashsize', 4194304
  WHERE NOT EXISTS (SELECT 1 FROM chunks_fts_config WHERE k = 'hashsize');

-- chunks_vocab: how many chunks hold a term.
CREATE VIRTUAL TABLE IF NOT EXISTS chunks_vocab USING fts5vocab (chunks_fts, 'row');

-- embedding_cache: vectors that were paid for and are not in chunks_vec, by the text they belong to. A vector moves here
-- when its last chunk goes, and back when the text comes again; none is in both. It survives every rebuild.
CREATE TABLE IF NOT EXISTS embedding_cache (
  id       INTEGER PRIMARY KEY,
  provider TEXT    NOT NULL,
  model    TEXT    NOT NULL,
  dims     INTEGER NOT NULL,
  endpoint TEXT    NOT NULL, -- fingerprint of the base URL, '' for the provider's own
  input    TEXT    NOT NULL, -- 'document'
  sha256   BLOB    NOT NULL, -- of the text
  vector   BLOB    NOT NULL, -- float32, little-endian
  checksum INTEGER NOT NULL, -- CRC-32 (Castagnoli) of vector
  used     INTEGER NOT NULL  -- when it was written, seconds since 1970
) STRICT;
CREATE UNIQUE INDEX IF NOT EXISTS embedding_cache_key ON embedding_cache (sha256, provider, model, dims, endpoint, input);
CREATE INDEX IF NOT EXISTS embedding_cache_used ON embedding_cache (used);
