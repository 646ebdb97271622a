-- Teams: who works with whom for a task, and the mail between them.

CREATE TABLE teams (
    number       INTEGER PRIMARY KEY AUTOINCREMENT,
    team_id      TEXT NOT NULL UNIQUE,
    user_id      TEXT NOT NULL,
    name         TEXT NOT NULL,
    board        TEXT NOT NULL,
    lead_task_id TEXT NOT NULL,
    status       TEXT NOT NULL,
    budget_usd   REAL NOT NULL,
    created_at   INTEGER NOT NULL,
    updated_at   INTEGER NOT NULL,
    ended_at     INTEGER
);
CREATE INDEX teams_by_user ON teams (user_id, number);
-- A task leads one team at a time.
CREATE UNIQUE INDEX teams_by_lead ON teams (user_id, lead_task_id) WHERE status = 'active';

CREATE TABLE team_members (
    number       INTEGER PRIMARY KEY AUTOINCREMENT,
    team_id      TEXT NOT NULL,
    user_id      TEXT NOT NULL,
    name         TEXT NOT NULL,
    folded       TEXT NOT NULL,
    role         TEXT NOT NULL,
    agent        TEXT NOT NULL,
    task_id      TEXT NOT NULL,
    status       TEXT NOT NULL,
    stop         TEXT NOT NULL,
    reason       TEXT NOT NULL,
    require_plan INTEGER NOT NULL,
    body         BLOB NOT NULL,
    turns        INTEGER NOT NULL,
    begun        INTEGER NOT NULL,
    turn_id      TEXT NOT NULL,
    call_key     TEXT NOT NULL,
    created_at   INTEGER NOT NULL,
    updated_at   INTEGER NOT NULL
);
-- Names differ by more than their case.
CREATE UNIQUE INDEX team_members_by_name ON team_members (team_id, folded);
CREATE UNIQUE INDEX team_members_by_task ON team_members (user_id, task_id);
CREATE INDEX team_members_at_rest ON team_members (status, team_id);

CREATE TABLE team_mail (
    number     INTEGER PRIMARY KEY AUTOINCREMENT,
    team_id    TEXT NOT NULL,
    recipient  TEXT NOT NULL,
    seq        INTEGER NOT NULL,
    user_id    TEXT NOT NULL,
    message_id TEXT NOT NULL,
    sender     TEXT NOT NULL,
    type       TEXT NOT NULL,
    content    TEXT NOT NULL,
    metadata   BLOB NOT NULL,
    call_key   TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    turn_id    TEXT NOT NULL,
    told_id    TEXT NOT NULL,
    told_at    INTEGER,
    acked_at   INTEGER,
    UNIQUE (team_id, recipient, seq)
);
CREATE INDEX team_mail_unheard ON team_mail (team_id, recipient) WHERE acked_at IS NULL;
CREATE INDEX team_mail_by_sender ON team_mail (team_id, sender, created_at);
CREATE INDEX team_mail_by_number ON team_mail (team_id, number);
