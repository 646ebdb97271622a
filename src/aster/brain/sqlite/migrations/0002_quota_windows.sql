-- What providers said about their limits, so that a restart does not forget that a limit is used up.

CREATE TABLE quota_windows (
    endpoint  TEXT NOT NULL,
    model     TEXT NOT NULL,
    name      TEXT NOT NULL,
    user_id   TEXT NOT NULL,
    capacity  INTEGER NOT NULL,
    remaining INTEGER NOT NULL,
    seen_at   INTEGER NOT NULL,
    resets_at INTEGER NOT NULL,
    PRIMARY KEY (endpoint, model, name)
) WITHOUT ROWID;
