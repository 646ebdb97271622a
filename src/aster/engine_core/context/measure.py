"""What a message weighs: its tokens and its fingerprint, worked out once for as long as the message lives.

Messages never change, so a conversation that grows costs what was added to it. The memory is by identity and holds
nothing alive: an entry goes when its message goes.
"""

import weakref
from hashlib import blake2b
from typing import NamedTuple

from aster.contracts.messages import Message
from aster.contracts.model import encode
from aster.herald import tokens

FINGERPRINT_BYTES = 8


class Measure(NamedTuple):
    """`fingerprint` is that of the message as it is sent, but for its id."""

    tokens: int
    fingerprint: bytes


_known: dict[int, tuple[weakref.ref[Message], Measure]] = {}


def measured(message: Message) -> Measure:
    """The measure of a message."""
    known = _known.get(id(message))
    if known is not None:
        return known[1]
    measure = Measure(tokens.message_tokens(message), fingerprint(message.role.encode(), encode(message.content)))
    key = id(message)
    _known[key] = weakref.ref(message, lambda _: _known.pop(key, None)), measure
    return measure


def fingerprint(*parts: bytes) -> bytes:
    """Short, and the same wherever and whenever it is taken."""
    digest = blake2b(digest_size=FINGERPRINT_BYTES)
    for part in parts:
        digest.update(part)
    return digest.digest()
