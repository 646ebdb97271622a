-- Who runs a thread's turn, how often it has changed hands, and whether it was asked to stop from elsewhere.

ALTER TABLE threads ADD COLUMN owner TEXT;
ALTER TABLE threads ADD COLUMN epoch BIGINT NOT NULL DEFAULT 0;
ALTER TABLE threads ADD COLUMN asked_to_stop TEXT;
ALTER TABLE turns ADD COLUMN crashes BIGINT NOT NULL DEFAULT 0;
