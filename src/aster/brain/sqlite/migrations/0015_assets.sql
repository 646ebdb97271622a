-- MCP servers: those that users brought themselves, who is connected to which, and what each server offers whom.

CREATE TABLE server_registry (
    user_id     TEXT NOT NULL,
    server_name TEXT NOT NULL,
    config      BLOB NOT NULL,
    created_at  INTEGER NOT NULL,
    PRIMARY KEY (user_id, server_name)
) WITHOUT ROWID;

CREATE TABLE connections (
    ref_id      TEXT PRIMARY KEY,
    user_id     TEXT NOT NULL,
    server_name TEXT NOT NULL,
    status      TEXT NOT NULL,
    scopes      BLOB NOT NULL,
    credentials BLOB,
    reason      TEXT,
    expires_at  INTEGER,
    created_at  INTEGER NOT NULL,
    updated_at  INTEGER NOT NULL,
    UNIQUE (user_id, server_name)
);

CREATE TABLE action_registry (
    user_id     TEXT NOT NULL,
    server_name TEXT NOT NULL,
    actions     BLOB NOT NULL,
    updated_at  INTEGER NOT NULL,
    PRIMARY KEY (user_id, server_name)
) WITHOUT ROWID;

ALTER TABLE grants ADD COLUMN pin TEXT;
