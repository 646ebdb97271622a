-- How often a turn that was given a lesson failed; `helpful` counts those that went well.
ALTER TABLE lessons ADD COLUMN harmful INTEGER NOT NULL DEFAULT 0;
