"""One thin file per resource: read the request, ask the engine, shape the answer."""
