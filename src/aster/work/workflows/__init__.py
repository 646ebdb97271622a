"""Workflows: an operator's steps, carried out by agents, with a journal that is gone on with after anything."""
