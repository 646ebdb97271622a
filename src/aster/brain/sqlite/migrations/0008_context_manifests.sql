-- What each model call was shown is on the thread; this finds it there without reading the rest.

CREATE INDEX context_manifests ON thread_events (thread_id, seq) WHERE type = 'context_manifest';
