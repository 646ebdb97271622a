"""Schedules: when something is due, that it is written down before it is done, and that it is done."""
