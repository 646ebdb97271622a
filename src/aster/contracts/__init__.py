"""The typed language everyone speaks: blocks, messages, events, errors, turn state, tools, records.

Nothing here depends on anything but msgspec. What is written here is public API: add, never rename.
"""
