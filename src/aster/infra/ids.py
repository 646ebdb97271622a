"""Ids: short, prefixed, unguessable, sortable by nothing.

Order is the sequence number's job; an id only names. Randomness is fetched for many ids at once: asking the system
for each would let go of the interpreter's lock four times a turn. A forked process never goes on with its parent's.
"""

import os
from base64 import b32hexencode
from hashlib import sha256
from secrets import token_bytes

_LENGTH = 16
_AT_ONCE = 256
_ready: dict[int, list[str]] = {}


def new_id(prefix: str) -> str:
    """A fresh id such as `turn-4k1z…`: 16 characters, 80 bits."""
    try:
        return f"{prefix}-{_ready[os.getpid()].pop()}"
    except (KeyError, IndexError):
        text = b32hexencode(token_bytes(10 * _AT_ONCE)).decode().lower()
        _ready[os.getpid()] = [text[at : at + _LENGTH] for at in range(_LENGTH, len(text), _LENGTH)]
        return f"{prefix}-{text[:_LENGTH]}"


def derived_id(prefix: str, *parts: str) -> str:
    """The one id that belongs to these parts, of the same form as a fresh one."""
    named = "".join(f"{len(part)}:{part}" for part in parts)
    return f"{prefix}-{b32hexencode(sha256(named.encode()).digest()).decode().lower()[:_LENGTH]}"
