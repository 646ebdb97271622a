"""Workflows in turns: the call that runs one, and the agents it begins."""
