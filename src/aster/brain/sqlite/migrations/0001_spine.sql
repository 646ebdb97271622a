-- Threads, their events, and what is derived from them in the same commit.

CREATE TABLE threads (
    thread_id      INTEGER PRIMARY KEY,
    user_id        TEXT NOT NULL,
    task_id        TEXT NOT NULL,
    title          TEXT NOT NULL DEFAULT '',
    status         TEXT NOT NULL DEFAULT 'idle',
    active_turn_id TEXT,
    tip_turn_id    TEXT,
    from_task_id   TEXT,
    from_seq       INTEGER,
    created_at     INTEGER NOT NULL,
    updated_at     INTEGER NOT NULL,
    UNIQUE (user_id, task_id)
);
CREATE INDEX threads_by_time ON threads (user_id, updated_at, task_id);

CREATE TABLE thread_events (
    thread_id INTEGER NOT NULL,
    seq       INTEGER NOT NULL,
    user_id   TEXT NOT NULL,
    turn_id   TEXT,
    type      TEXT NOT NULL,
    grade     TEXT NOT NULL,
    ts        INTEGER NOT NULL,
    data      BLOB NOT NULL,
    PRIMARY KEY (thread_id, seq)
) WITHOUT ROWID;

CREATE TABLE turns (
    turn_id            TEXT PRIMARY KEY,
    thread_id          INTEGER NOT NULL,
    user_id            TEXT NOT NULL,
    status             TEXT NOT NULL,
    segment            INTEGER NOT NULL DEFAULT 0,
    first_seq          INTEGER NOT NULL,
    last_seq           INTEGER,
    started_at         INTEGER NOT NULL,
    ended_at           INTEGER,
    stop_reason        TEXT,
    error              TEXT,
    model_calls        INTEGER NOT NULL DEFAULT 0,
    input_tokens       INTEGER NOT NULL DEFAULT 0,
    output_tokens      INTEGER NOT NULL DEFAULT 0,
    cache_read_tokens  INTEGER NOT NULL DEFAULT 0,
    cache_write_tokens INTEGER NOT NULL DEFAULT 0,
    cost_usd           REAL NOT NULL DEFAULT 0,
    folded_at          INTEGER
);
CREATE INDEX turns_by_thread ON turns (thread_id, first_seq);
CREATE INDEX turns_running ON turns (started_at) WHERE status = 'running';
CREATE INDEX turns_suspended ON turns (started_at) WHERE status = 'suspended';
CREATE INDEX turns_unfolded ON turns (ended_at) WHERE folded_at IS NULL AND ended_at IS NOT NULL;

CREATE TABLE conversations (
    turn_id          TEXT PRIMARY KEY,
    thread_id        INTEGER NOT NULL,
    user_id          TEXT NOT NULL,
    messages         BLOB NOT NULL,
    message_count    INTEGER NOT NULL,
    follows_turn_id  TEXT,
    follows_messages INTEGER,
    created_at       INTEGER NOT NULL
);
CREATE INDEX conversations_by_thread ON conversations (thread_id, created_at);

CREATE TABLE hitl_requests (
    request_id   TEXT PRIMARY KEY,
    thread_id    INTEGER NOT NULL,
    user_id      TEXT NOT NULL,
    turn_id      TEXT NOT NULL,
    kind         TEXT NOT NULL,
    question     TEXT NOT NULL,
    tool         TEXT,
    tool_call_id TEXT,
    input        BLOB,
    options      BLOB,
    reason       TEXT,
    status       TEXT NOT NULL DEFAULT 'pending',
    answer       TEXT,
    created_at   INTEGER NOT NULL,
    resolved_at  INTEGER
);
CREATE INDEX hitl_pending ON hitl_requests (user_id, created_at) WHERE status = 'pending';
CREATE INDEX hitl_by_thread ON hitl_requests (thread_id);
CREATE INDEX hitl_by_turn ON hitl_requests (turn_id) WHERE status = 'pending';

CREATE TABLE inbox (
    message_id TEXT PRIMARY KEY,
    thread_id  INTEGER NOT NULL,
    user_id    TEXT NOT NULL,
    turn_id    TEXT NOT NULL,
    mode       TEXT NOT NULL,
    body       BLOB NOT NULL,
    created_at INTEGER NOT NULL
);
CREATE INDEX inbox_by_thread ON inbox (thread_id, created_at);

CREATE TABLE channel_state_snapshots (
    turn_id       TEXT PRIMARY KEY,
    thread_id     INTEGER NOT NULL,
    user_id       TEXT NOT NULL,
    task_id       TEXT NOT NULL,
    seq           INTEGER NOT NULL,
    snapshot_json BLOB NOT NULL,
    expires_at    INTEGER NOT NULL
);
CREATE INDEX snapshots_by_expiry ON channel_state_snapshots (expires_at);
CREATE INDEX snapshots_by_thread ON channel_state_snapshots (thread_id);

CREATE TABLE trajectories (
    turn_id    TEXT PRIMARY KEY,
    thread_id  INTEGER NOT NULL,
    user_id    TEXT NOT NULL,
    status     TEXT NOT NULL,
    record     BLOB NOT NULL,
    created_at INTEGER NOT NULL
);
CREATE INDEX trajectories_by_thread ON trajectories (thread_id);

CREATE TABLE observability_events (
    event_id   TEXT PRIMARY KEY,
    user_id    TEXT NOT NULL,
    kind       TEXT NOT NULL,
    level      TEXT NOT NULL,
    message    TEXT NOT NULL,
    task_id    TEXT,
    turn_id    TEXT,
    request_id TEXT,
    data       BLOB,
    created_at INTEGER NOT NULL
);
CREATE INDEX observability_by_time ON observability_events (created_at);

CREATE TABLE api_keys (
    key_id     TEXT PRIMARY KEY,
    user_id    TEXT NOT NULL,
    name       TEXT NOT NULL,
    key_hash   TEXT NOT NULL UNIQUE,
    created_at INTEGER NOT NULL,
    retired_at INTEGER,
    revoked_at INTEGER
);
CREATE INDEX api_keys_by_name ON api_keys (name);
