"""Ids: short, prefixed, unguessable, sortable by nothing.

Order is the sequence number's job; an id only names.
"""

import secrets

_ALPHABET = "0123456789abcdefghijkmnpqrstuvwxyz"


def new_id(prefix: str, length: int = 16) -> str:
    """A fresh id such as `turn-4k1z…`: 34^16 possibilities, about 81 bits."""
    number = int.from_bytes(secrets.token_bytes(length), "little")
    digits: list[str] = []
    for _ in range(length):
        number, digit = divmod(number, 34)
        digits.append(_ALPHABET[digit])
    return f"{prefix}-{''.join(digits)}"
