"""Connectors in the loop: the tools of connected servers, offered, allowed, called and asked for like any other."""
