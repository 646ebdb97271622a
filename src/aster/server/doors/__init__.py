"""Doors for clients that speak other dialects: thin adapters over the same turns, threads and tasks."""
