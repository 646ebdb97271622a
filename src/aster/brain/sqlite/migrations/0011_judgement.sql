-- The newest plan of each thread, and what its agent did not know or took for granted; both follow from the events.

CREATE TABLE plans (
    thread_id  INTEGER PRIMARY KEY,
    user_id    TEXT NOT NULL,
    turn_id    TEXT NOT NULL,
    seq        INTEGER NOT NULL,
    body       BLOB NOT NULL,
    updated_at INTEGER NOT NULL
);

CREATE TABLE uncertainties (
    thread_id  INTEGER NOT NULL,
    item_id    TEXT NOT NULL,
    user_id    TEXT NOT NULL,
    turn_id    TEXT NOT NULL,
    seq        INTEGER NOT NULL,
    item       TEXT NOT NULL,
    text       TEXT NOT NULL,
    words      TEXT NOT NULL,
    impact     INTEGER NOT NULL,
    confidence REAL,
    resolution TEXT,
    source     TEXT NOT NULL,
    resolved   INTEGER NOT NULL,
    note       TEXT,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    PRIMARY KEY (thread_id, item_id)
);
CREATE INDEX uncertainties_open ON uncertainties (user_id, words) WHERE resolved = 0 AND item = 'unknown';
