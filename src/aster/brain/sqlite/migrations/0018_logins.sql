-- Logins (OAuth) that were begun and not finished yet, by the hash of the word they come back with.

CREATE TABLE logins (
    state_hash  TEXT PRIMARY KEY,
    user_id     TEXT NOT NULL,
    server_name TEXT NOT NULL,
    sealed      BLOB NOT NULL,
    created_at  INTEGER NOT NULL,
    expires_at  INTEGER NOT NULL
) WITHOUT ROWID;

CREATE INDEX logins_of_user ON logins (user_id, server_name, created_at);
