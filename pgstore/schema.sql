-- What a cluster keeps of its agents: the Markdown, the notes that wait for the folder, and the vectors that were paid for. Each node makes its
-- own index of it. Every key begins with the agent, so that a database that is spread over machines can keep an agent together.
-- Generations count the commits of an agent; a row has that of the commit which wrote it.

CREATE SCHEMA kioku;

-- version: one row, that of this schema.
CREATE TABLE kioku.version (version integer NOT NULL);
INSERT INTO kioku.version VALUES (1);

-- agents: who there is, and who has the folder.
CREATE TABLE kioku.agents (
  agent      text        PRIMARY KEY,
  generation bigint      NOT NULL DEFAULT 0,
  epoch      bigint      NOT NULL DEFAULT 0,           -- of the owner: incremented whenever somebody becomes it
  owner      text        NOT NULL DEFAULT '',          -- node that has the folder, '' if none
  lease      timestamptz NOT NULL DEFAULT '-infinity', -- until when nobody else may become the owner
  written    bigint      NOT NULL DEFAULT 0,           -- generation of the last commit of an owner: a folder without it is not that of the agent
  moving     text        NOT NULL DEFAULT '',          -- database to which it is being moved: nobody writes here any more
  waiting    integer     NOT NULL DEFAULT 0            -- notes in outbox, which only a transaction about the agent sees
);

-- files: the files of a folder that are indexed, or decide what is.
CREATE TABLE kioku.files (
  agent      text   NOT NULL REFERENCES kioku.agents ON DELETE CASCADE,
  path       text   NOT NULL, -- relative to the workspace, with '/'
  generation bigint NOT NULL,
  mtime      bigint NOT NULL, -- nanoseconds since 1970
  sha256     bytea  NOT NULL,
  data       bytea,           -- NULL: the file was removed
  PRIMARY KEY (agent, path)
);
CREATE INDEX files_changed ON kioku.files (agent, generation);

-- outbox: notes that were acknowledged and that the owner has not written into the folder yet.
CREATE TABLE kioku.outbox (
  agent      text        NOT NULL REFERENCES kioku.agents ON DELETE CASCADE,
  generation bigint      NOT NULL,
  time       timestamptz NOT NULL,
  note       jsonb       NOT NULL, -- memory.Note, with a key
  PRIMARY KEY (agent, generation)
);

-- vectors: what providers were paid for, as the cache of each node has it (vectors/schema.sql).
CREATE TABLE kioku.vectors (
  agent      text   NOT NULL REFERENCES kioku.agents ON DELETE CASCADE,
  space      text   NOT NULL, -- embed.Space as JSON
  kind       text   NOT NULL,
  sha256     bytea  NOT NULL,
  generation bigint NOT NULL,
  vector     bytea  NOT NULL,
  PRIMARY KEY (agent, space, kind, sha256)
);
CREATE INDEX vectors_changed ON kioku.vectors (agent, generation);

-- nodes: the processes of the cluster.
CREATE TABLE kioku.nodes (
  node    text        PRIMARY KEY,
  address text        NOT NULL, -- at which the others reach it
  secret  text        NOT NULL, -- which the others show it
  version text        NOT NULL,
  open    integer     NOT NULL DEFAULT 0, -- agents whose memory it has open
  slabs   bigint      NOT NULL DEFAULT 0, -- bytes of their vectors in its memory
  started timestamptz NOT NULL DEFAULT now(),
  seen    timestamptz NOT NULL DEFAULT now()
);

-- databases: all of the cluster, which each of them has, so that a node that names fewer, or in another order, is told.
CREATE TABLE kioku.databases (
  shard text    PRIMARY KEY,
  first boolean NOT NULL -- it has nodes and placed
);

-- placed: agents that are not on the shard that their name says. Only the first shard has rows.
CREATE TABLE kioku.placed (
  agent text PRIMARY KEY,
  shard text NOT NULL
);

-- The second wall between agents: a transaction of a node sees only the rows of the agent that it names.
ALTER TABLE kioku.files ENABLE ROW LEVEL SECURITY;
ALTER TABLE kioku.outbox ENABLE ROW LEVEL SECURITY;
ALTER TABLE kioku.vectors ENABLE ROW LEVEL SECURITY;
ALTER TABLE kioku.files FORCE ROW LEVEL SECURITY;
ALTER TABLE kioku.outbox FORCE ROW LEVEL SECURITY;
ALTER TABLE kioku.vectors FORCE ROW LEVEL SECURITY;
CREATE POLICY one_agent ON kioku.files USING (agent = current_setting('kioku.agent', true));
CREATE POLICY one_agent ON kioku.outbox USING (agent = current_setting('kioku.agent', true));
CREATE POLICY one_agent ON kioku.vectors USING (agent = current_setting('kioku.agent', true));
