-- Logins (OAuth) that were begun and not finished yet, by the hash of the word they come back with.

CREATE TABLE logins (
    state_hash TEXT PRIMARY KEY,
    user_id TEXT NOT NULL,
    server_name TEXT NOT NULL,
    sealed BYTEA NOT NULL,
    created_at BIGINT NOT NULL,
    expires_at BIGINT NOT NULL
);
CREATE INDEX logins_of_user ON logins (user_id, server_name, created_at);
ALTER TABLE logins ENABLE ROW LEVEL SECURITY;
ALTER TABLE logins FORCE ROW LEVEL SECURITY;
CREATE POLICY own ON logins USING (current_setting('aster.user', true) IN ('*', '=' || user_id));
