"""Logins with OAuth: a person allows the engine to call a server for them, and the engine keeps that alive."""
