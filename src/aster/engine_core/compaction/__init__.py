"""Compaction: a conversation too long for its model is shown shorter from some point on, and loses nothing."""
