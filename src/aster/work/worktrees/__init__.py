"""Worktrees: the directories of their own in which items of the work graph are done."""
