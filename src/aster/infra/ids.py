"""Ids: short, prefixed, unguessable, sortable by nothing.

Order is the sequence number's job; an id only names.
"""

from base64 import b32hexencode
from secrets import token_bytes


def new_id(prefix: str) -> str:
    """A fresh id such as `turn-4k1z…`: 16 characters, 80 bits."""
    return f"{prefix}-{b32hexencode(token_bytes(10)).decode().lower()}"
