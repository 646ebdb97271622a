"""Doors, with clients of every kind."""
