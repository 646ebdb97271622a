"""The terminal program: serve an engine, talk to one, look after its tasks and keys."""
