-- Where a conversation stands, by the fingerprint of its messages as a client of a door sends them back.

CREATE TABLE door_places (
    user_id     TEXT NOT NULL,
    fingerprint TEXT NOT NULL,
    thread_id   INTEGER NOT NULL,
    turn_id     TEXT NOT NULL,
    messages    INTEGER,
    kind        TEXT NOT NULL,
    created_at  INTEGER NOT NULL,
    PRIMARY KEY (user_id, fingerprint)
) WITHOUT ROWID;
CREATE INDEX door_places_by_thread ON door_places (thread_id);
