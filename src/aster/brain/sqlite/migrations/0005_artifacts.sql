-- What tools produced that is too large for the thread, and what files held before a tool changed them.

CREATE TABLE artifacts (
    artifact_id  TEXT PRIMARY KEY,
    thread_id    INTEGER NOT NULL,
    user_id      TEXT NOT NULL,
    turn_id      TEXT NOT NULL,
    tool_call_id TEXT NOT NULL,
    name         TEXT NOT NULL,
    media_type   TEXT NOT NULL,
    size         INTEGER NOT NULL,
    sha256       TEXT NOT NULL,
    data         BLOB NOT NULL,
    created_at   INTEGER NOT NULL
);
CREATE INDEX artifacts_by_thread ON artifacts (thread_id, created_at);

CREATE TABLE file_versions (
    call_key      TEXT PRIMARY KEY,
    thread_id     INTEGER NOT NULL,
    user_id       TEXT NOT NULL,
    turn_id       TEXT NOT NULL DEFAULT '',
    tool_call_id  TEXT NOT NULL DEFAULT '',
    path          TEXT NOT NULL DEFAULT '',
    existed       INTEGER NOT NULL DEFAULT 0,
    mode          INTEGER,
    data          BLOB,
    sha256_after  TEXT,
    created_at    INTEGER NOT NULL DEFAULT 0,
    undone_at     INTEGER
);
CREATE INDEX file_versions_by_thread ON file_versions (thread_id, created_at);
