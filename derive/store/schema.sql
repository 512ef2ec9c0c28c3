-- What is derived from the notes of one agent. All of it but the answers of models (llm_cache), which were paid for, is made again. DESIGN.md
-- says how it keeps in step with the index, which each connection attaches as idx.
-- Lines are 1-based and inclusive. Times are microseconds since 1970. Hashes are raw sha256. UIDs and keys are hexadecimal digits.
-- payload_episode, mentions and claims are what files say. Units are made of all claims of their slot and of what people have decided, and
-- found only while one of their episodes is in a file that the index has with the same content.

-- derived: one row about the whole file.
CREATE TABLE derived (
  resolved_by TEXT    NOT NULL, -- fingerprint of what has made the units, '' if none were made
  problem     TEXT    NOT NULL DEFAULT '', -- why the model was not reached, '' if it was when it was last asked
  next_try    INTEGER -- when it is asked again
) STRICT;

-- sources: the files that episodes were cut from.
CREATE TABLE sources (
  id        INTEGER PRIMARY KEY,
  path      TEXT    NOT NULL UNIQUE,
  source    TEXT    NOT NULL,
  sha256    BLOB    NOT NULL,
  mtime     INTEGER NOT NULL, -- nanoseconds, 0 for an indexed file
  unindexed INTEGER NOT NULL, -- 1: a transcript that is not indexed
  cut_by    TEXT    NOT NULL  -- fingerprint of the rules that cut it
) STRICT;

-- payload_episode: settled spans of lines, which are also called episodes. Their text is in the file only.
CREATE TABLE payload_episode (
  id          INTEGER PRIMARY KEY,
  uid         TEXT    NOT NULL, -- the same in every file with this text
  file        INTEGER REFERENCES sources (id) ON DELETE SET NULL, -- NULL: its file is gone, and the text may be in another one
  start_line  INTEGER NOT NULL CHECK (start_line >= 1),
  end_line    INTEGER NOT NULL CHECK (end_line >= start_line),
  text_sha256 BLOB    NOT NULL,
  date        TEXT    NOT NULL, -- YYYY-MM-DD, '' if it has none
  occurred_at INTEGER,          -- NULL if not known
  heading     TEXT    NOT NULL,
  speakers    TEXT    NOT NULL CHECK (json_valid(speakers)), -- JSON
  trust       TEXT    NOT NULL, -- 'note', 'user', 'assistant' or 'tool'
  sensitivity INTEGER NOT NULL CHECK (sensitivity IN (0, 1, 2)), -- normal, private, secret
  salience    REAL    NOT NULL, -- by rule
  reflection  TEXT    NOT NULL DEFAULT '' CHECK (reflection = '' OR json_valid(reflection)), -- what a model thinks of it, as memory.Reflection
  long_term   INTEGER NOT NULL, -- 1: its file is one of what stays true
  ruled       INTEGER NOT NULL DEFAULT 0,  -- version of the rules that have read it, 0 if none have
  read_by     TEXT    NOT NULL DEFAULT '', -- contract and model that have read it, '' if none have
  forgotten   INTEGER NOT NULL DEFAULT 0   -- 1: it says what a person has had forgotten, and no answer about it is cached
) STRICT;
CREATE INDEX payload_episode_uid ON payload_episode (uid);
CREATE INDEX payload_episode_span ON payload_episode (file, start_line, end_line);
CREATE INDEX payload_episode_sensitive ON payload_episode (file, start_line, end_line, sensitivity) WHERE sensitivity > 0;
CREATE INDEX payload_episode_pending ON payload_episode (ruled, file, start_line);
CREATE INDEX payload_episode_time ON payload_episode (occurred_at, salience);
CREATE INDEX payload_episode_read ON payload_episode (read_by, occurred_at);

-- entities: somebody or something that episodes mention. It goes with what mentions it last.
CREATE TABLE entities (
  id          INTEGER PRIMARY KEY,
  uid         TEXT    NOT NULL UNIQUE,
  type        TEXT    NOT NULL,
  name        TEXT    NOT NULL, -- as it was first written
  norm        TEXT    NOT NULL, -- in the form in which names are compared
  qualifier   TEXT    NOT NULL, -- tells two of one name apart
  merged_into INTEGER REFERENCES entities (id) ON DELETE SET NULL -- the entity that stands for it, which is not merged itself
) STRICT;
CREATE INDEX entities_norm ON entities (norm);
CREATE INDEX entities_merged ON entities (merged_into) WHERE merged_into IS NOT NULL;

-- mentions: which episodes mention which entities.
CREATE TABLE mentions (
  episode    INTEGER NOT NULL REFERENCES payload_episode (id) ON DELETE CASCADE,
  entity     INTEGER NOT NULL REFERENCES entities (id),
  class      TEXT    NOT NULL, -- 'rule' or 'model': who says so
  role       TEXT    NOT NULL, -- 'mentioned', 'subject' or 'author'
  confidence REAL    NOT NULL,
  PRIMARY KEY (episode, entity, class, role)
) STRICT, WITHOUT ROWID;
CREATE INDEX mentions_entity ON mentions (entity, episode);

-- aliases: other names of entities, with the episodes that use them.
CREATE TABLE aliases (
  entity  INTEGER NOT NULL REFERENCES entities (id) ON DELETE CASCADE,
  norm    TEXT    NOT NULL,
  episode INTEGER NOT NULL REFERENCES payload_episode (id) ON DELETE CASCADE,
  class   TEXT    NOT NULL, -- 'rule' or 'model'
  alias   TEXT    NOT NULL, -- as it is written
  written INTEGER NOT NULL, -- 1: a person has written that it is one, 0: it is likely
  PRIMARY KEY (entity, norm, episode, class)
) STRICT, WITHOUT ROWID;
CREATE INDEX aliases_norm ON aliases (norm);
CREATE INDEX aliases_episode ON aliases (episode);

-- edges: how entities are related, a row for each episode that says so.
CREATE TABLE edges (
  src        INTEGER NOT NULL REFERENCES entities (id) ON DELETE CASCADE,
  rel        TEXT    NOT NULL,
  dst        INTEGER NOT NULL REFERENCES entities (id) ON DELETE CASCADE,
  episode    INTEGER NOT NULL REFERENCES payload_episode (id) ON DELETE CASCADE,
  class      TEXT    NOT NULL, -- 'rule' or 'model'
  start_line INTEGER NOT NULL, -- relative to the episode
  end_line   INTEGER NOT NULL,
  quote      TEXT    NOT NULL,
  speaker    TEXT    NOT NULL,
  maker      TEXT    NOT NULL,
  confidence REAL    NOT NULL,
  PRIMARY KEY (src, rel, dst, episode, class)
) STRICT, WITHOUT ROWID;
CREATE INDEX edges_dst ON edges (dst);
CREATE INDEX edges_episode ON edges (episode);

-- claims: what single episodes say. Those of one slot make its units.
CREATE TABLE claims (
  id         INTEGER PRIMARY KEY,
  episode    INTEGER NOT NULL REFERENCES payload_episode (id) ON DELETE CASCADE,
  kind       TEXT    NOT NULL CHECK (kind IN ('fact', 'loop', 'close')),
  class      TEXT    NOT NULL, -- 'rule' or 'model'
  maker      TEXT    NOT NULL, -- 'rule', or the contract and the model
  subject    INTEGER REFERENCES entities (id), -- of a fact, NULL for others
  slot       TEXT    NOT NULL, -- of the predicate, or the key of the loop
  key        TEXT    NOT NULL, -- of the fact, or of the loop
  predicate  TEXT    NOT NULL, -- of a fact, '' for others
  object     TEXT    NOT NULL, -- of a fact, or the text of a loop
  object_entity INTEGER REFERENCES entities (id), -- NULL if the object is none
  valid_from TEXT    NOT NULL, -- YYYY, YYYY-MM or YYYY-MM-DD, '' for no bound
  valid_to   TEXT    NOT NULL, -- the same, excluded
  due        TEXT    NOT NULL, -- YYYY-MM-DD, '' if not known
  start_line INTEGER NOT NULL, -- relative to the episode
  end_line   INTEGER NOT NULL,
  quote      TEXT    NOT NULL,
  speaker    TEXT    NOT NULL,
  confidence REAL    NOT NULL,
  said_at    INTEGER,          -- NULL if not known
  sensitivity INTEGER NOT NULL
) STRICT;
CREATE INDEX claims_episode ON claims (episode, class);
CREATE INDEX claims_slot ON claims (slot, subject);
CREATE INDEX claims_subject ON claims (subject) WHERE subject IS NOT NULL;
CREATE INDEX claims_object ON claims (object_entity) WHERE object_entity IS NOT NULL;
CREATE INDEX claims_key ON claims (key);

-- dirty_slots: the slots whose claims or decisions have changed since their units were made, and entities that may have lost their
-- last mention.
CREATE TABLE dirty_slots (
  kind    TEXT    NOT NULL CHECK (kind IN ('fact', 'loop', 'entity')),
  subject INTEGER NOT NULL, -- the entity, 0 for a loop
  name    TEXT    NOT NULL, -- the slot of the predicate, the key of the loop, '' for an entity
  reason  TEXT    NOT NULL, -- 'claims', 'decision' or 'rules'
  PRIMARY KEY (kind, subject, name)
) STRICT, WITHOUT ROWID;
CREATE TRIGGER claims_inserted AFTER INSERT ON claims BEGIN
  INSERT OR IGNORE INTO dirty_slots (kind, subject, name, reason)
    VALUES (iif(NEW.kind = 'fact', 'fact', 'loop'), coalesce(NEW.subject, 0), NEW.slot, 'claims');
END;
CREATE TRIGGER claims_deleted AFTER DELETE ON claims BEGIN
  INSERT OR IGNORE INTO dirty_slots (kind, subject, name, reason)
    VALUES (iif(OLD.kind = 'fact', 'fact', 'loop'), coalesce(OLD.subject, 0), OLD.slot, 'claims');
  INSERT OR IGNORE INTO dirty_slots (kind, subject, name, reason)
    SELECT 'entity', OLD.object_entity, '', 'claims' WHERE OLD.object_entity IS NOT NULL;
END;
CREATE TRIGGER mentions_deleted AFTER DELETE ON mentions BEGIN
  INSERT OR IGNORE INTO dirty_slots (kind, subject, name, reason) VALUES ('entity', OLD.entity, '', 'claims');
END;
CREATE TRIGGER edges_deleted AFTER DELETE ON edges BEGIN
  INSERT OR IGNORE INTO dirty_slots (kind, subject, name, reason)
    VALUES ('entity', OLD.src, '', 'claims'), ('entity', OLD.dst, '', 'claims');
END;

-- units: facts, loops and summaries. What differs by kind is in payload_fact, payload_loop and payload_summary.
CREATE TABLE units (
  id          INTEGER PRIMARY KEY,
  uid         TEXT    NOT NULL UNIQUE,
  kind        TEXT    NOT NULL CHECK (kind IN ('fact', 'loop', 'summary')),
  state       TEXT    NOT NULL CHECK (state IN ('validated', 'superseded', 'conflict', 'archived', 'orphaned')),
  occurred_at INTEGER,          -- time of the newest evidence, NULL if not known
  recorded_at INTEGER NOT NULL, -- when it was first derived
  changed_at  INTEGER NOT NULL, -- when it last changed
  source      TEXT    NOT NULL, -- 'rule', 'model' or 'person'
  trust       TEXT    NOT NULL, -- 'note', 'user', 'assistant' or 'tool'
  confidence  REAL    NOT NULL,
  salience    REAL    NOT NULL,
  sensitivity INTEGER NOT NULL CHECK (sensitivity IN (0, 1, 2)),
  pin         INTEGER NOT NULL, -- 1: pinned by a person
  version     INTEGER NOT NULL, -- the newest in unit_versions
  payload_sha256 BLOB NOT NULL  -- of the payload of that version
) STRICT;
CREATE INDEX units_kind ON units (kind, state);

CREATE TABLE payload_fact (
  unit          INTEGER PRIMARY KEY REFERENCES units (id) ON DELETE CASCADE,
  key           TEXT    NOT NULL, -- hash of subject, predicate and normalised object
  subject       INTEGER NOT NULL REFERENCES entities (id),
  predicate     TEXT    NOT NULL,
  slot          TEXT    NOT NULL, -- the predicate under which opposed ones meet
  object        TEXT    NOT NULL,
  object_entity INTEGER REFERENCES entities (id),
  valid_from    TEXT    NOT NULL, -- YYYY, YYYY-MM or YYYY-MM-DD, '' for no bound: when it holds in the world
  valid_to      TEXT    NOT NULL, -- the same, excluded
  effective_at  INTEGER,          -- valid_from, else the time of the first evidence; NULL if neither is known
  superseded_by TEXT    NOT NULL, -- uid of the fact that has taken its place, '' if none has
  opposes       TEXT    NOT NULL  -- JSON: uids of the facts that it is in conflict with
) STRICT;
CREATE INDEX payload_fact_slot ON payload_fact (subject, slot);
CREATE INDEX payload_fact_object ON payload_fact (object_entity) WHERE object_entity IS NOT NULL;
CREATE INDEX payload_fact_key ON payload_fact (key);

CREATE TABLE payload_loop (
  unit       INTEGER PRIMARY KEY REFERENCES units (id) ON DELETE CASCADE,
  key        TEXT    NOT NULL, -- hash of the normalised text
  status     TEXT    NOT NULL CHECK (status IN ('open', 'closed', 'expired')),
  text       TEXT    NOT NULL,
  due        TEXT    NOT NULL, -- YYYY-MM-DD, '' if not known
  opened_at  INTEGER,          -- NULL if not known
  expires_at INTEGER,          -- NULL if it does not expire
  closed_at  INTEGER           -- NULL unless it is closed
) STRICT;
CREATE INDEX payload_loop_key ON payload_loop (key);
CREATE INDEX payload_loop_expires ON payload_loop (expires_at) WHERE status = 'open';

CREATE TABLE payload_summary (
  unit         INTEGER PRIMARY KEY REFERENCES units (id) ON DELETE CASCADE,
  scope        TEXT    NOT NULL, -- 'weekly', 'rolling', 'person', 'topic' or 'relationship'
  key          TEXT    NOT NULL, -- which one of its scope
  first_day    TEXT    NOT NULL, -- YYYY-MM-DD, '' if it is about no days
  last_day     TEXT    NOT NULL,
  text         TEXT    NOT NULL,
  events       TEXT    NOT NULL, -- JSON
  relationship TEXT    NOT NULL,
  input_sha256 TEXT    NOT NULL, -- hexadecimal: of what it was made from
  stale        INTEGER NOT NULL, -- 1: one of its episodes has changed or is gone
  UNIQUE (scope, key)
) STRICT;

-- unit_entities: the entities that a unit is about or names.
CREATE TABLE unit_entities (
  unit   INTEGER NOT NULL REFERENCES units (id) ON DELETE CASCADE,
  entity INTEGER NOT NULL REFERENCES entities (id) ON DELETE CASCADE,
  role   TEXT    NOT NULL, -- 'subject', 'object' or 'mentioned'
  PRIMARY KEY (unit, entity, role)
) STRICT, WITHOUT ROWID;
CREATE INDEX unit_entities_entity ON unit_entities (entity);

-- evidence: where units are from.
CREATE TABLE evidence (
  unit       INTEGER NOT NULL REFERENCES units (id) ON DELETE CASCADE,
  ordinal    INTEGER NOT NULL, -- from 0, best first
  episode    INTEGER NOT NULL REFERENCES payload_episode (id) ON DELETE CASCADE,
  start_line INTEGER NOT NULL, -- relative to the episode, so that it may move
  end_line   INTEGER NOT NULL,
  quote      TEXT    NOT NULL,
  speaker    TEXT    NOT NULL,
  maker      TEXT    NOT NULL,
  confidence REAL    NOT NULL,
  said_at    INTEGER,          -- NULL if not known
  PRIMARY KEY (unit, ordinal)
) STRICT, WITHOUT ROWID;
CREATE INDEX evidence_episode ON evidence (episode);
CREATE TRIGGER evidence_deleted AFTER DELETE ON evidence BEGIN
  UPDATE payload_summary SET stale = 1 WHERE unit = OLD.unit AND stale = 0;
END;

-- unit_versions: what units said before, and when it was derived.
CREATE TABLE unit_versions (
  unit        INTEGER NOT NULL REFERENCES units (id) ON DELETE CASCADE,
  version     INTEGER NOT NULL, -- from 1
  reason      TEXT    NOT NULL, -- 'claims', 'decision', 'expired' ...
  payload     TEXT    NOT NULL CHECK (json_valid(payload)), -- canonical JSON of the unit
  model       TEXT    NOT NULL, -- '' for a rule
  contract    TEXT    NOT NULL,
  recorded_at INTEGER NOT NULL,
  PRIMARY KEY (unit, version)
) STRICT, WITHOUT ROWID;
CREATE INDEX unit_versions_time ON unit_versions (recorded_at);

-- units_fts: the analysed terms of each unit (rowid = units.id), as in chunks_fts.
CREATE VIRTUAL TABLE units_fts USING fts5 (
  terms, content = '', contentless_delete = 1, detail = full,
  tokenize = "ascii tokenchars '!""#$%&''()*+,-./:;<=>?@[\]^_`{|}~'"
);

-- decisions: a mirror of derived/decisions.md, which is the truth.
CREATE TABLE decisions (
  ordinal INTEGER PRIMARY KEY, -- from 0, in the order of the file
  line    INTEGER NOT NULL,
  day     TEXT    NOT NULL,
  verb    TEXT    NOT NULL,
  kind    TEXT    NOT NULL,
  target  TEXT    NOT NULL, -- uid of a unit or entity, or the key of what is forgotten
  other   TEXT    NOT NULL, -- uid of the entity that target is merged into, else ''
  change  TEXT    NOT NULL,
  note    TEXT    NOT NULL
) STRICT;

-- parked: what a model was asked and failed for good, for a person.
CREATE TABLE parked (
  id           INTEGER PRIMARY KEY,
  kind         TEXT    NOT NULL,
  key          TEXT    NOT NULL, -- tells jobs of a kind apart
  input        TEXT    NOT NULL CHECK (json_valid(input)), -- JSON
  error_class  TEXT    NOT NULL,
  last_error   TEXT    NOT NULL,
  parked_at    INTEGER NOT NULL,
  UNIQUE (kind, key)
) STRICT;

-- llm_cache: answers of models that were paid for.
CREATE TABLE llm_cache (
  id           INTEGER PRIMARY KEY,
  contract     TEXT    NOT NULL,
  model        TEXT    NOT NULL,
  input_sha256 BLOB    NOT NULL, -- of the exact input
  response     TEXT    NOT NULL,
  sha256       BLOB    NOT NULL, -- of the response
  size         INTEGER NOT NULL, -- of the response in bytes
  episodes     TEXT    NOT NULL CHECK (json_valid(episodes)), -- JSON: uids of the episodes that it is about
  tokens_in    INTEGER NOT NULL,
  tokens_out   INTEGER NOT NULL,
  used         INTEGER NOT NULL  -- when it was last used
) STRICT;
CREATE UNIQUE INDEX llm_cache_key ON llm_cache (input_sha256, contract, model);
CREATE INDEX llm_cache_used ON llm_cache (used, size);

-- llm_usage: tokens that models have used, and those that are reserved for calls under way.
CREATE TABLE llm_usage (
  id         INTEGER PRIMARY KEY,
  day        TEXT    NOT NULL, -- YYYY-MM-DD, local
  hour       TEXT    NOT NULL, -- YYYY-MM-DDTHH, local
  model      TEXT    NOT NULL,
  purpose    TEXT    NOT NULL,
  calls      INTEGER NOT NULL,
  tokens_in  INTEGER NOT NULL,
  tokens_out INTEGER NOT NULL,
  reserved   INTEGER NOT NULL
) STRICT;
CREATE UNIQUE INDEX llm_usage_key ON llm_usage (day, hour, model, purpose);

-- dropped: how many items of answers were rejected, by reason.
CREATE TABLE dropped (
  reason TEXT    PRIMARY KEY,
  items  INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
