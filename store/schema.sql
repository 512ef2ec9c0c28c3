-- The index of one agent's memory. Everything except the vectors can be rebuilt from the Markdown.
-- Lines are 1-based and inclusive. Times are nanoseconds since 1970. Hashes are raw sha256.
-- chunks_vec, the vec0 table of unit vectors (rowid = chunks.id), is created when the dimension of the vectors is known.

-- meta: one row about the whole index. Every change updates the totals, so that no query has to count.
CREATE TABLE meta (
  id              INTEGER PRIMARY KEY CHECK (id = 1),
  index_id        INTEGER NOT NULL,            -- random; each page of the file ends with it too
  workspace       TEXT    NOT NULL DEFAULT '', -- folder that the index was made from
  chunking        TEXT    NOT NULL DEFAULT '', -- fingerprint of the chunker that made the chunks
  space_provider  TEXT    NOT NULL DEFAULT '', -- embedding space of chunks_vec, '' if there is none
  space_model     TEXT    NOT NULL DEFAULT '',
  space_dims      INTEGER NOT NULL DEFAULT 0,
  space_endpoint  TEXT    NOT NULL DEFAULT '',
  space_recipe    TEXT    NOT NULL DEFAULT '', -- how its vectors are made (embed.Recipe as JSON), '' if not known
  building        TEXT    NOT NULL DEFAULT '', -- space whose vectors are being cached to become those of chunks_vec (JSON), '' if none
  generation      INTEGER NOT NULL DEFAULT 0,  -- incremented by every committed change
  files           INTEGER NOT NULL DEFAULT 0,  -- indexed files, without skipped ones
  chunks          INTEGER NOT NULL DEFAULT 0,
  embedded        INTEGER NOT NULL DEFAULT 0,  -- chunks with a row in chunks_vec
  windowed        INTEGER NOT NULL DEFAULT 0,  -- chunks with a row in windows
  terms           INTEGER NOT NULL DEFAULT 0,  -- number of analysed terms of all chunks
  out_files       INTEGER NOT NULL DEFAULT 0,  -- of files, chunks and embedded, those that are out of scope
  out_chunks      INTEGER NOT NULL DEFAULT 0,
  out_embedded    INTEGER NOT NULL DEFAULT 0,
  last_sync       INTEGER NOT NULL DEFAULT 0,  -- end of the last complete sync, 0 if there was none
  probes          TEXT    NOT NULL DEFAULT '', -- identifies the probes that search.Calibrate asked last, '' if it never did
  probed_chunks   INTEGER NOT NULL DEFAULT 0,  -- chunks at that time
  probe_line      REAL    NOT NULL DEFAULT 0,  -- keyword score that most probes stay below
  probe_vectors   REAL    NOT NULL DEFAULT 0,  -- score with vectors that most probes stay below
  probe_space     TEXT    NOT NULL DEFAULT ''  -- name of the space of these vectors, '' if they were asked by words only
) STRICT;

-- files: every file that the scan has found, including skipped ones.
CREATE TABLE files (
  id         INTEGER PRIMARY KEY,
  path       TEXT    NOT NULL UNIQUE,     -- relative to the workspace, with '/'; absolute if outside
  source     TEXT    NOT NULL,            -- 'memory', 'extra' or 'sessions'
  sha256     BLOB    NOT NULL,            -- of the indexed bytes
  mtime      INTEGER NOT NULL,
  size       INTEGER NOT NULL,
  date       TEXT    NOT NULL DEFAULT '', -- YYYY-MM-DD from the front matter or the name, '' if there is none
  evergreen  INTEGER NOT NULL DEFAULT 0,  -- 1: scores do not decay
  title      TEXT    NOT NULL DEFAULT '', -- from the front matter, a heading or the name, '' if there is none
  names      TEXT    NOT NULL DEFAULT '', -- what the file is called, a name a line; each of its chunks is found by them
  folders    TEXT    NOT NULL DEFAULT '', -- the words of its folders, a folder a line
  aliases    TEXT    NOT NULL DEFAULT '[]', -- JSON
  tags       TEXT    NOT NULL DEFAULT '[]', -- JSON, from the front matter and the text
  error      TEXT    NOT NULL DEFAULT '', -- why the file is skipped, '' if it is indexed
  chunks     INTEGER NOT NULL DEFAULT 0,
  embedded   INTEGER NOT NULL DEFAULT 0,  -- chunks with a row in chunks_vec
  out_of_scope INTEGER NOT NULL DEFAULT 0 -- 1: the settings do not include it now, and no search finds it
) STRICT;
CREATE INDEX files_out ON files (chunks, embedded) WHERE out_of_scope = 1;
-- The backlog: files with chunks without a vector.
CREATE INDEX files_backlog ON files (mtime) WHERE embedded < chunks;

-- fields: the values that files can be filtered by: those of the front matter, and the title, date, tags and aliases. For
-- tags, the value 'a/b' belongs to 'a' too.
CREATE TABLE fields (
  name    TEXT    NOT NULL, -- in lower case
  value   TEXT    NOT NULL, -- in lower case; '' if the field is empty
  file    INTEGER NOT NULL REFERENCES files (id),
  number  REAL,             -- the value as a number, NULL if it is none
  day     TEXT,             -- YYYY-MM-DD with which the value begins, NULL if it begins with none
  PRIMARY KEY (name, value, file)
) STRICT, WITHOUT ROWID;
CREATE INDEX fields_file ON fields (file);

-- aka: what a link may call a file: the last part of its path, of its title and of its aliases.
CREATE TABLE aka (
  name TEXT    NOT NULL, -- in lower case, without .md
  file INTEGER NOT NULL REFERENCES files (id),
  PRIMARY KEY (name, file)
) STRICT, WITHOUT ROWID;
CREATE INDEX aka_file ON aka (file);

-- links: the links of files to other files, which need not exist.
CREATE TABLE links (
  file   INTEGER NOT NULL REFERENCES files (id),
  line   INTEGER NOT NULL,
  text   TEXT    NOT NULL, -- the text that is shown
  target TEXT    NOT NULL, -- a path relative to the workspace, or a name
  kind   TEXT    NOT NULL, -- 'wiki', 'embed' or 'path'
  name   TEXT    NOT NULL  -- the last part of the target, to be looked up in aka
) STRICT;
CREATE INDEX links_file ON links (file);
CREATE INDEX links_name ON links (name);

-- chunks: runs of lines of about 400 tokens.
CREATE TABLE chunks (
  id         INTEGER PRIMARY KEY,
  file       INTEGER NOT NULL REFERENCES files (id),
  start_line INTEGER NOT NULL,
  end_line   INTEGER NOT NULL,
  headings   TEXT    NOT NULL, -- '# Projects > ## Acme'
  date       TEXT    NOT NULL, -- of its entry, else of its heading, else of the file; '' if there is none
  language   TEXT    NOT NULL, -- 'de', 'fr' ...: the words are stemmed in this language; '' if as in English
  sha256     BLOB    NOT NULL, -- of what is embedded: the names of the file and text
  fence      TEXT    NOT NULL, -- marker of the code fence in which the chunk begins, '' if in none
  closed     INTEGER NOT NULL, -- 1: the chunk ends at the end of a section
  terms      INTEGER NOT NULL, -- number of analysed terms in chunks_fts
  layout     BLOB,             -- in which lines of text the terms are (analysis.Layout), NULL if this is not known
  checksum   INTEGER,          -- CRC-32 (Castagnoli) of its vector in chunks_vec and its windows, NULL if it has no vector
  text       TEXT    NOT NULL
) STRICT;
CREATE INDEX chunks_file ON chunks (file);
CREATE INDEX chunks_sha256 ON chunks (sha256);
-- Contains every column that a search by date reads.
CREATE INDEX chunks_date ON chunks (date, file);
-- A search asks which languages there are.
CREATE INDEX chunks_language ON chunks (language) WHERE language > '';

-- windows: the vectors of a few lines each of the chunks with a row in chunks_vec, in the same space. A chunk whose vector comes
-- from elsewhere (an index of an older schema, an import) has no row until its windows are embedded.
CREATE TABLE windows (
  chunk INTEGER PRIMARY KEY REFERENCES chunks (id),
  codes BLOB NOT NULL -- embed.EncodeWindows
) STRICT;

-- chunks_fts: the analysed terms of each chunk, its headings, its date and the names and folders of its file, separated by spaces. Text is analysed in Go. This
-- tokenizer only splits at spaces: every other ASCII character is a token character, and so is every character beyond ASCII.
-- The words of a deleted note, without their order, stay in the file until FTS5 merges their segment. The secure-delete
-- option of FTS5 has no effect on a table without content.
CREATE VIRTUAL TABLE chunks_fts USING fts5 (
  terms, content = '', contentless_delete = 1, detail = full,
  tokenize = "ascii tokenchars '!""#$%&''()*+,-./:;<=>?@[\]^_`{|}~'"
);
-- A merge command merges a level with two segments or more, not four.
INSERT INTO chunks_fts (chunks_fts, rank) VALUES ('usermerge', 2);
-- FTS5 merges by itself at 16 segments of a level, not 4: a long sync writes each word half as often, and the segments that
-- remain are merged after it.
INSERT INTO chunks_fts (chunks_fts, rank) VALUES ('automerge', 16);
-- The words of a commit are one segment: FTS5 buffers up to 4 MB in memory, not 1.
INSERT INTO chunks_fts (chunks_fts, rank) VALUES ('hashsize', 4194304);

-- chunks_vocab: the number of chunks that contain a term.
CREATE VIRTUAL TABLE chunks_vocab USING fts5vocab (chunks_fts, 'row');

-- embedding_cache: vectors that were paid for and are not in chunks_vec, by the hash of their text. A vector moves here when
-- its last chunk is deleted, and back when the text is indexed again; no vector is in both. The cache survives every rebuild.
-- The vectors of another space than that of chunks_vec are collected here until they are whole and change places with those.
CREATE TABLE embedding_cache (
  id       INTEGER PRIMARY KEY,
  provider TEXT    NOT NULL,
  model    TEXT    NOT NULL,
  dims     INTEGER NOT NULL,
  endpoint TEXT    NOT NULL, -- fingerprint of the base URL, '' for the provider's default
  input    TEXT    NOT NULL, -- 'document'
  sha256   BLOB    NOT NULL, -- of the text
  vector   BLOB    NOT NULL, -- float32, little-endian
  windows  BLOB,             -- embed.EncodeWindows, NULL if they are not known
  checksum INTEGER NOT NULL, -- CRC-32 (Castagnoli) of vector and windows
  used     INTEGER NOT NULL  -- time when the row was written, seconds since 1970
) STRICT;
CREATE UNIQUE INDEX embedding_cache_key ON embedding_cache (sha256, provider, model, dims, endpoint, input);
CREATE INDEX embedding_cache_used ON embedding_cache (used);
-- The backlog of windows.
CREATE INDEX embedding_cache_windowless ON embedding_cache (sha256) WHERE windows IS NULL;
