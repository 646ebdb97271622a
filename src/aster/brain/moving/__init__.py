"""Brains as a whole: carried from one database to another, kept in a file, and brought back."""
