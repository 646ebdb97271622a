"""Replaying a recorded turn: the same loop, with every outcome taken from the recording and nothing run."""
