-- The index of one agent's memory. All of it is made again from the Markdown and from the cache of embeddings, which is a file of its own
-- (vectors/schema.sql). What is derived from the files is in another one (derive/store/schema.sql).
-- Lines are 1-based and inclusive. Times are nanoseconds since 1970.
-- Hashes are raw sha256.
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
  generation      INTEGER NOT NULL DEFAULT 0,  -- incremented by every committed change
  files           INTEGER NOT NULL DEFAULT 0,  -- indexed files, without skipped ones
  chunks          INTEGER NOT NULL DEFAULT 0,
  embedded        INTEGER NOT NULL DEFAULT 0,  -- chunks with a row in chunks_vec
  holes           INTEGER NOT NULL DEFAULT 0,  -- rows of chunks_vec that were deleted since it was made
  cache           INTEGER NOT NULL DEFAULT 0,  -- id of the cache of embeddings that chunks_vec agrees with
  terms           INTEGER NOT NULL DEFAULT 0,  -- number of analysed terms of all chunks
  last_sync       INTEGER NOT NULL DEFAULT 0   -- end of the last complete sync, 0 if there was none
) STRICT;

-- files: every file that the scan has found, including skipped ones.
CREATE TABLE files (
  id         INTEGER PRIMARY KEY,
  path       TEXT    NOT NULL UNIQUE,     -- relative to the workspace, with '/'; absolute if outside
  source     TEXT    NOT NULL,            -- 'memory', 'extra' or 'sessions'
  sha256     BLOB    NOT NULL,            -- of the indexed bytes
  mtime      INTEGER NOT NULL,
  stamp      INTEGER NOT NULL,            -- another one after any change of the file, 0 if it is not known
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
  embedded   INTEGER NOT NULL DEFAULT 0   -- chunks with a row in chunks_vec
) STRICT;
-- The backlog: files with chunks without a vector.
CREATE INDEX files_backlog ON files (mtime) WHERE embedded < chunks;
-- The backlog of another model: all files.
CREATE INDEX files_mtime ON files (mtime);

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

-- origins: whose words the lines of files are that are not only the owner's.
CREATE TABLE origins (
  file       INTEGER NOT NULL REFERENCES files (id),
  start_line INTEGER NOT NULL,
  end_line   INTEGER NOT NULL,
  origin     TEXT    NOT NULL -- memory.Origin as JSON
) STRICT;
CREATE INDEX origins_file ON origins (file, start_line);

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
  embedded   INTEGER NOT NULL, -- 1: it has a row in chunks_vec and in windows
  text       TEXT    NOT NULL
) STRICT;
CREATE INDEX chunks_file ON chunks (file);
CREATE INDEX chunks_sha256 ON chunks (sha256);
-- Contains every column that a search by date reads.
CREATE INDEX chunks_date ON chunks (date, file);
-- A search asks which languages there are.
CREATE INDEX chunks_language ON chunks (language) WHERE language > '';

-- words: the analysed terms of each chunk, and how often each occurs in it. Words in memory are made of these rows only.
-- They are not in chunks, where a page would have room for one chunk only.
CREATE TABLE words (
  chunk INTEGER PRIMARY KEY REFERENCES chunks (id),
  terms BLOB NOT NULL -- analysis.ChunkWords
) STRICT;

-- windows: the vectors of the windows of embedded chunks, copied from the cache of embeddings.
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
