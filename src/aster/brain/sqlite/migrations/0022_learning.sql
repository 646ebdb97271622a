-- Learning: what happened and may be learned from, what was learned as changesets that can be taken back, and trials.

CREATE TABLE learning_journal (
    number        INTEGER PRIMARY KEY AUTOINCREMENT,
    entry_id      TEXT NOT NULL UNIQUE,
    user_id       TEXT NOT NULL,
    thread_id     INTEGER,
    kind          TEXT NOT NULL,
    task_id       TEXT NOT NULL,
    turn_id       TEXT NOT NULL,
    signal_id     TEXT NOT NULL,
    created_at    INTEGER NOT NULL,
    state         TEXT NOT NULL DEFAULT 'waiting',
    attempts      INTEGER NOT NULL DEFAULT 0,
    due_at        INTEGER NOT NULL DEFAULT 0,
    claimed_by    TEXT,
    claimed_until INTEGER NOT NULL DEFAULT 0,
    changeset_id  TEXT NOT NULL DEFAULT '',
    problem       TEXT NOT NULL DEFAULT '',
    done_at       INTEGER
);
CREATE INDEX learning_waiting ON learning_journal (user_id, number) WHERE state = 'waiting';
CREATE INDEX learning_done ON learning_journal (done_at) WHERE state = 'done';
CREATE INDEX learning_aside ON learning_journal (user_id, number) WHERE state = 'set_aside';
CREATE INDEX learning_by_thread ON learning_journal (thread_id) WHERE thread_id IS NOT NULL;
CREATE INDEX learning_by_signal ON learning_journal (user_id, signal_id) WHERE signal_id <> '';

CREATE TABLE changesets (
    number       INTEGER PRIMARY KEY AUTOINCREMENT,
    changeset_id TEXT NOT NULL UNIQUE,
    user_id      TEXT NOT NULL,
    kind         TEXT NOT NULL,
    status       TEXT NOT NULL,
    title        TEXT NOT NULL,
    night        TEXT NOT NULL,
    model        TEXT NOT NULL,
    cost_usd     REAL NOT NULL,
    entries      INTEGER NOT NULL,
    note         TEXT NOT NULL,
    created_at   INTEGER NOT NULL,
    decided_at   INTEGER,
    decided_by   TEXT NOT NULL
);
CREATE INDEX changesets_by_user ON changesets (user_id, number);

CREATE TABLE changeset_items (
    changeset_id TEXT NOT NULL,
    place        INTEGER NOT NULL,
    user_id      TEXT NOT NULL,
    record_id    TEXT NOT NULL,
    task_id      TEXT NOT NULL,
    status       TEXT NOT NULL,
    body         BLOB NOT NULL,
    PRIMARY KEY (changeset_id, place)
) WITHOUT ROWID;
CREATE INDEX changeset_items_by_record ON changeset_items (user_id, record_id) WHERE record_id <> '';
CREATE INDEX changeset_items_by_task ON changeset_items (user_id, task_id);

-- How records were before an item was applied and after: one that was not there before has only the latter.
CREATE TABLE changeset_images (
    changeset_id TEXT NOT NULL,
    place        INTEGER NOT NULL,
    record_id    TEXT NOT NULL,
    user_id      TEXT NOT NULL,
    before       BLOB,
    after        BLOB,
    PRIMARY KEY (changeset_id, place, record_id)
) WITHOUT ROWID;
CREATE INDEX changeset_images_by_record ON changeset_images (user_id, record_id);

CREATE TABLE trials (
    number        INTEGER PRIMARY KEY AUTOINCREMENT,
    trial_id      TEXT NOT NULL UNIQUE,
    user_id       TEXT NOT NULL,
    kind          TEXT NOT NULL,
    status        TEXT NOT NULL,
    changeset_id  TEXT NOT NULL,
    place         INTEGER NOT NULL,
    record_id     TEXT NOT NULL,
    task_id       TEXT NOT NULL,
    body          BLOB NOT NULL,
    created_at    INTEGER NOT NULL,
    decided_at    INTEGER
);
CREATE INDEX trials_by_user ON trials (user_id, number);
CREATE INDEX trials_by_record ON trials (user_id, record_id) WHERE record_id <> '';
CREATE INDEX trials_open ON trials (number) WHERE status IN ('waiting', 'running', 'undecided');

CREATE TABLE trial_runs (
    trial_id TEXT NOT NULL,
    turn_id  TEXT NOT NULL,
    arm      TEXT NOT NULL,
    user_id  TEXT NOT NULL,
    task_id  TEXT NOT NULL,
    body     BLOB NOT NULL,
    at       INTEGER NOT NULL,
    PRIMARY KEY (trial_id, turn_id, arm)
) WITHOUT ROWID;
CREATE INDEX trial_runs_by_task ON trial_runs (user_id, task_id);

CREATE TABLE learning_states (
    user_id    TEXT NOT NULL,
    name       TEXT NOT NULL,
    value      TEXT NOT NULL,
    updated_at INTEGER NOT NULL,
    PRIMARY KEY (user_id, name)
) WITHOUT ROWID;
