-- Memory. Every record has a receipt (where it came from, how sure, how long valid, how used) under one number, and
-- its content in the table of its kind under the same number. Numbers are never given twice.

CREATE TABLE memory_receipts (
    number        INTEGER PRIMARY KEY AUTOINCREMENT,
    id            TEXT NOT NULL,
    user_id       TEXT NOT NULL,
    kind          TEXT NOT NULL,
    shelf         INTEGER NOT NULL,
    key           BLOB,
    slot          BLOB,
    words         INTEGER NOT NULL,
    task_id       TEXT NOT NULL,
    first_seq     INTEGER NOT NULL,
    last_seq      INTEGER NOT NULL,
    extractor     TEXT NOT NULL,
    confidence    REAL NOT NULL,
    created_at    INTEGER NOT NULL,
    event_at      INTEGER NOT NULL,
    valid_from    INTEGER NOT NULL,
    valid_until   INTEGER,
    superseded_by TEXT,
    uses          INTEGER NOT NULL DEFAULT 0,
    last_used_at  INTEGER,
    UNIQUE (user_id, id)
);
CREATE INDEX memory_by_shelf ON memory_receipts (shelf, number);
CREATE INDEX memory_by_key ON memory_receipts (user_id, key) WHERE key IS NOT NULL AND superseded_by IS NULL;
CREATE INDEX memory_by_slot ON memory_receipts (user_id, slot) WHERE slot IS NOT NULL AND superseded_by IS NULL;
CREATE INDEX memory_by_task ON memory_receipts (user_id, task_id, number) WHERE task_id <> '';
CREATE INDEX memory_by_successor ON memory_receipts (user_id, superseded_by) WHERE superseded_by IS NOT NULL;

CREATE TABLE memory_shelves (
    shelf   INTEGER PRIMARY KEY,
    user_id TEXT NOT NULL,
    store   TEXT NOT NULL,
    items   INTEGER NOT NULL DEFAULT 0,
    words   INTEGER NOT NULL DEFAULT 0,
    UNIQUE (user_id, store)
);

-- A forget whose traces are not yet gone from the file; the next start finishes what a crash left.
CREATE TABLE memory_scrubs (due INTEGER PRIMARY KEY AUTOINCREMENT);

CREATE TABLE memory_sources (
    number    INTEGER NOT NULL,
    user_id   TEXT NOT NULL,
    source_id TEXT NOT NULL,
    PRIMARY KEY (number, source_id)
) WITHOUT ROWID;
CREATE INDEX memory_derived ON memory_sources (user_id, source_id);

CREATE TABLE memory_uses (
    number  INTEGER NOT NULL,
    user_id TEXT NOT NULL,
    task_id TEXT NOT NULL,
    turn_id TEXT NOT NULL,
    times   INTEGER NOT NULL DEFAULT 1,
    used_at INTEGER NOT NULL,
    PRIMARY KEY (number, task_id)
) WITHOUT ROWID;

CREATE TABLE memory_contradictions (
    place   INTEGER PRIMARY KEY AUTOINCREMENT,
    user_id TEXT NOT NULL,
    at      INTEGER NOT NULL,
    old_id  TEXT NOT NULL,
    new_id  TEXT NOT NULL
);
CREATE INDEX contradictions_by_user ON memory_contradictions (user_id, place);

CREATE TABLE episodes (
    number      INTEGER PRIMARY KEY,
    user_id     TEXT NOT NULL,
    description TEXT NOT NULL,
    speaker     TEXT NOT NULL,
    value       REAL NOT NULL,
    tier        TEXT NOT NULL
);
CREATE INDEX episodes_by_speaker ON episodes (user_id, speaker);
CREATE TABLE knowledge_store (
    number    INTEGER PRIMARY KEY,
    user_id   TEXT NOT NULL,
    subject   TEXT NOT NULL,
    predicate TEXT NOT NULL,
    content   TEXT NOT NULL,
    type      TEXT NOT NULL,
    source    TEXT NOT NULL
);
CREATE TABLE social_graph_nodes (
    number     INTEGER PRIMARY KEY,
    user_id    TEXT NOT NULL,
    name       TEXT NOT NULL,
    type       TEXT NOT NULL,
    attributes BLOB NOT NULL
);
CREATE TABLE social_graph_edges (
    number    INTEGER PRIMARY KEY,
    user_id   TEXT NOT NULL,
    source_id TEXT NOT NULL,
    relation  TEXT NOT NULL,
    target_id TEXT NOT NULL,
    source    TEXT NOT NULL,
    target    TEXT NOT NULL,
    weight    INTEGER NOT NULL
);
CREATE INDEX edges_from ON social_graph_edges (user_id, source_id);
CREATE INDEX edges_to ON social_graph_edges (user_id, target_id);
CREATE TABLE lessons (
    number          INTEGER PRIMARY KEY,
    user_id         TEXT NOT NULL,
    trigger         TEXT NOT NULL,
    mistake         TEXT NOT NULL,
    correct_pattern TEXT NOT NULL,
    code_example    TEXT NOT NULL,
    domains         BLOB NOT NULL,
    verified        INTEGER NOT NULL,
    frequency       INTEGER NOT NULL,
    helpful         INTEGER NOT NULL
);
CREATE TABLE profile (
    number   INTEGER PRIMARY KEY,
    user_id  TEXT NOT NULL,
    category TEXT NOT NULL,
    key      TEXT NOT NULL,
    value    TEXT NOT NULL
);
CREATE TABLE ingestion_chunks (
    number   INTEGER PRIMARY KEY,
    user_id  TEXT NOT NULL,
    document TEXT NOT NULL,
    position INTEGER NOT NULL,
    title    TEXT NOT NULL,
    content  TEXT NOT NULL
);
CREATE INDEX chunks_by_document ON ingestion_chunks (user_id, document);
CREATE TABLE soul (
    number   INTEGER PRIMARY KEY,
    user_id  TEXT NOT NULL,
    identity TEXT NOT NULL,
    "values" BLOB NOT NULL,
    patterns BLOB NOT NULL,
    voice    TEXT,
    version  INTEGER NOT NULL
);
CREATE TABLE working_memory_log (
    number     INTEGER PRIMARY KEY,
    user_id    TEXT NOT NULL,
    type       TEXT NOT NULL,
    text       TEXT NOT NULL,
    expires_at INTEGER
);
CREATE INDEX working_by_expiry ON working_memory_log (expires_at) WHERE expires_at IS NOT NULL;

-- Every word is written with the number of its shelf before it: a search never sees, or counts, another user's words.
CREATE VIRTUAL TABLE memory_words USING fts5 (body, content = '', columnsize = 0, tokenize = 'ascii');
CREATE VIRTUAL TABLE memory_postings USING fts5vocab (memory_words, instance);
CREATE VIRTUAL TABLE memory_terms USING fts5vocab (memory_words, row);

CREATE TABLE memory_models (
    model       INTEGER PRIMARY KEY,
    fingerprint TEXT NOT NULL UNIQUE,
    role        TEXT NOT NULL
);
CREATE TABLE memory_vectors (
    place  INTEGER PRIMARY KEY AUTOINCREMENT,
    model  INTEGER NOT NULL,
    number INTEGER NOT NULL,
    shelf  INTEGER NOT NULL,
    vector BLOB NOT NULL,
    UNIQUE (model, number)
);
CREATE INDEX vectors_by_shelf ON memory_vectors (shelf, model, place);
CREATE TABLE memory_tokens (
    model  INTEGER NOT NULL,
    number INTEGER NOT NULL,
    tokens BLOB NOT NULL,
    PRIMARY KEY (model, number)
);
CREATE TABLE memory_unembedded (number INTEGER PRIMARY KEY);
