"""The brain as one SQLite file."""
