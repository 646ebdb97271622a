"""Brains carried and kept."""
