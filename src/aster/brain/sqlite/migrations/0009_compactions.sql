-- What a conversation was compacted to: from a place of a turn on, these messages stand for all before it.

CREATE TABLE compactions (
    compaction_id TEXT PRIMARY KEY,
    thread_id     INTEGER NOT NULL,
    user_id       TEXT NOT NULL,
    turn_id       TEXT NOT NULL,
    covers        INTEGER NOT NULL,
    ok            INTEGER NOT NULL,
    messages      BLOB NOT NULL,
    created_at    INTEGER NOT NULL
);
CREATE INDEX compactions_by_turn ON compactions (turn_id, created_at);
CREATE INDEX compactions_by_thread ON compactions (thread_id, created_at);
