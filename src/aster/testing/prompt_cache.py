"""A provider's prompt cache, as Anthropic documents it: prefixes up to a mark are stored, and served byte for byte.

A prompt is its tools, then its instructions, then its messages, block by block. A prefix is found when every block in
it is the same as in an earlier request of that model, up to a mark of this request or a few blocks before one. Tokens
are a quarter of the bytes.
"""

import hashlib
from collections.abc import Iterator
from typing import Any, NamedTuple

from msgspec import json

from aster.testing.script import Usage

LOOK_BACK = 20
"""How many blocks before a mark a stored prefix is looked for."""
_BYTES_PER_TOKEN = 4


class _Block(NamedTuple):
    data: bytes
    marked: bool


class PromptCache:
    """The prefixes that were stored so far, by their hash."""

    def __init__(self) -> None:
        self._stored: set[bytes] = set()

    def count(self, body: dict[str, Any]) -> Usage:
        """The tokens of a request by where they come from; what it marks is stored from now on."""
        blocks = list(_blocks(body))
        prefixes, sizes = _chained(str(body.get("model")), blocks)
        marks = [at for at, block in enumerate(blocks) if block.marked]
        found = max((self._found(prefixes, mark) for mark in marks), default=-1)
        self._stored.update(prefixes[mark] for mark in marks)
        total = sizes[-1] if sizes else 0
        read = sizes[found] if found >= 0 else 0
        written = max(sizes[marks[-1]] - read, 0) if marks else 0
        return Usage(input=total - read - written, cache_read=read, cache_write=written)

    def _found(self, prefixes: list[bytes], mark: int) -> int:
        nearest = range(mark, max(mark - LOOK_BACK, -1), -1)
        return next((at for at in nearest if prefixes[at] in self._stored), -1)


def _blocks(body: dict[str, Any]) -> Iterator[_Block]:
    yield from (_block("tool", tool) for tool in _parts(body.get("tools")))
    yield from (_block("system", part) for part in _parts(body.get("system")))
    for message in _parts(body.get("messages")):
        yield from (_block(message["role"], part) for part in _parts(message["content"]))


def _parts(content: Any) -> list[dict[str, Any]]:
    return [{"type": "text", "text": content}] if isinstance(content, str) else content or []


def _block(place: str, part: dict[str, Any]) -> _Block:
    plain = {name: value for name, value in part.items() if name != "cache_control"}
    return _Block(place.encode() + json.encode(plain), "cache_control" in part)


def _chained(model: str, blocks: list[_Block]) -> tuple[list[bytes], list[int]]:
    """The hash of the prompt up to each block, and its tokens."""
    digest, size = hashlib.sha256(model.encode()), 0
    prefixes: list[bytes] = []
    sizes: list[int] = []
    for block in blocks:
        digest.update(len(block.data).to_bytes(8))
        digest.update(block.data)
        size += len(block.data)
        prefixes.append(digest.copy().digest())
        sizes.append(size // _BYTES_PER_TOKEN)
    return prefixes, sizes
