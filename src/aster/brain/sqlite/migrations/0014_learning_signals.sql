-- What people say of turns, messages and memories: one signal for each thing, the newest. `confidence_before` is what
-- a memory was worth before the signal, so that taking the signal back takes back what it did.

CREATE TABLE learning_signals (
    number            INTEGER PRIMARY KEY AUTOINCREMENT,
    signal_id         TEXT NOT NULL UNIQUE,
    user_id           TEXT NOT NULL,
    thread_id         INTEGER,
    target            TEXT NOT NULL,
    target_id         TEXT NOT NULL,
    task_id           TEXT NOT NULL,
    turn_id           TEXT NOT NULL,
    rating            REAL,
    text              TEXT NOT NULL,
    correction        TEXT NOT NULL,
    confidence_before REAL,
    created_at        INTEGER NOT NULL,
    updated_at        INTEGER NOT NULL,
    UNIQUE (user_id, target, target_id)
);
CREATE INDEX learning_signals_by_user ON learning_signals (user_id, number);
CREATE INDEX learning_signals_by_thread ON learning_signals (thread_id) WHERE thread_id IS NOT NULL;
