"""Storage: one `Brain` protocol, the thread log on top of it, and its implementations."""
