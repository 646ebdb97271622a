"""Who is calling: a key in, a user out, and nothing but the key decides it.

Only hashes are compared, in constant time. The table of named keys is read at most once a second, so that a key
created or revoked by another process counts at once and a busy engine does not notice. When nobody ever made a
key the door is open to this machine alone; revoking the last key does not open it.
"""

import asyncio
from collections.abc import Mapping
from hashlib import sha256
from hmac import compare_digest
from time import monotonic
from typing import Final, NamedTuple

import msgspec

from aster.brain.changes import Change
from aster.brain.records import KeyRow
from aster.contracts.errors import EngineError, ErrorCode
from aster.engine_core.engine import Engine
from aster.infra.clock import now_ms
from aster.infra.settings import Settings
from aster.server.origin import host_name, is_loopback

OPERATOR: Final = "default"
ENGINE_KEY: Final = "engine"
CACHE_SECONDS: Final = 1.0


class Caller(NamedTuple):
    """Who a request comes from; `key` is the name of the key used, None at an open door."""

    user_id: str
    key: str | None

    @property
    def operator(self) -> bool:
        return self.user_id == OPERATOR


class Overlap(NamedTuple):
    """How long a replaced key goes on: it works until `least`, is told to change until `most` (milliseconds)."""

    least: int
    most: int

    @classmethod
    def of(cls, settings: Settings) -> "Overlap":
        return cls(
            settings.bap_key_rotation_min_overlap_seconds * 1000,
            settings.bap_key_rotation_max_overlap_seconds * 1000,
        )


def hash_key(key: str | bytes) -> str:
    return sha256(key if isinstance(key, bytes) else key.encode()).hexdigest()


def engine_hash(settings: Settings) -> str | None:
    """The hash of the key in the settings, if there is one."""
    clear = settings.engine_api_key.get_secret_value() if settings.engine_api_key else ""
    hashed = hash_key(clear) if clear else None
    if hashed and settings.engine_key_hash and hashed != settings.engine_key_hash:
        raise EngineError(
            ErrorCode.CONFIGURATION_INVALID,
            "ENGINE_API_KEY and ENGINE_KEY_HASH are both set and are not the same key. Set only one of them.",
            {"ENGINE_KEY_HASH": "is not the SHA-256 of ENGINE_API_KEY"},
        )
    return hashed or settings.engine_key_hash


def presented(headers: Mapping[bytes, bytes]) -> bytes | None:
    """The key a request carries, in whichever of the three headers comes first."""
    if key := headers.get(b"x-engine-key", b"").strip():
        return key
    scheme, _, token = headers.get(b"authorization", b"").strip().partition(b" ")
    if scheme.lower() == b"bearer" and token.strip():
        return token.strip()
    return headers.get(b"x-ghost-key", b"").strip() or None


class Doorkeeper:
    """Knows every key by its hash. Made before the engine is started, used after."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._engine_hash = engine_hash(engine.settings)
        self._overlap = Overlap.of(engine.settings)
        self._keys: dict[str, KeyRow] = {}
        self._named = False
        self._read_at = float("-inf")
        self._reading = asyncio.Lock()

    async def start(self) -> None:
        """Notice that the engine's key was changed since the last start, and retire the old one."""
        rows = await self._engine.brain.keys()
        ours = [row for row in rows if row.name == ENGINE_KEY]
        current = max(ours, key=lambda row: row.created_at, default=None)
        now, wanted = now_ms(), self._engine_hash
        changed: list[KeyRow] = []
        if current is not None and current.key_hash != wanted and current.retired_at is None:
            changed.append(msgspec.structs.replace(current, retired_at=now))
        known = next((row for row in rows if row.key_hash == wanted), None)
        in_use = known is not None and (known.name != ENGINE_KEY or (known is current and not known.retired_at))
        if wanted is not None and not in_use:
            key_id = known.key_id if known else f"key-{wanted[:16]}"  # the same on every replica that starts now
            changed.append(
                KeyRow(key_id=key_id, user_id=OPERATOR, name=ENGINE_KEY, key_hash=wanted, created_at=now)
            )
        if changed:
            await self._engine.brain.put(*changed)
        await self._refresh()
        self._engine.brain.changes.watch(self._changed)

    async def admit(self, headers: Mapping[bytes, bytes], peer: str | None) -> Caller:
        """The caller behind a request, or why there is none."""
        key = presented(headers)
        hashed = None if key is None else hash_key(key)
        if self._engine_hash is not None and hashed is not None and compare_digest(self._engine_hash, hashed):
            return Caller(OPERATOR, ENGINE_KEY)
        await self._refresh()
        if self._engine_hash is None and not self._named:
            return _at_open_door(headers, peer)
        if hashed is None:
            raise _invalid("Send a key: X-Engine-Key, or Authorization: Bearer.")
        row = self._keys.get(hashed)
        if row is None or not compare_digest(row.key_hash, hashed) or row.revoked_at is not None:
            raise _invalid("The key is wrong or revoked. `aster keys list` shows which there are.")
        self._check_age(row)
        return Caller(row.user_id, row.name)

    def _check_age(self, row: KeyRow) -> None:
        if row.retired_at is None:
            return
        age = now_ms() - row.retired_at
        if age < self._overlap.least:
            return
        if age < self._overlap.most:
            raise EngineError(
                ErrorCode.KEY_ROTATION_PENDING, "This key was replaced. Send the request again with the new key."
            )
        raise _invalid("This key was replaced, and its time is over. Use the new key.")

    def _changed(self, change: Change) -> None:
        """Another replica made or revoked a key: it counts from the next request on."""
        if change.touches("api_keys"):
            self._read_at = float("-inf")

    async def _refresh(self) -> None:
        if monotonic() - self._read_at < CACHE_SECONDS:
            return
        async with self._reading:
            if monotonic() - self._read_at < CACHE_SECONDS:
                return
            asked = monotonic()
            rows = await self._engine.brain.keys()
            self._keys = {row.key_hash: row for row in rows}
            self._named = any(row.name != ENGINE_KEY for row in rows)
            self._read_at = asked


def _at_open_door(headers: Mapping[bytes, bytes], peer: str | None) -> Caller:
    host = headers.get(b"host", b"").decode("latin-1")
    if peer is None or not is_loopback(peer):
        raise _invalid("The engine has no key and is open to its own machine alone. Set ENGINE_API_KEY.")
    if not is_loopback(host_name(host)):
        raise EngineError(
            ErrorCode.ORIGIN_REFUSED,
            "The engine has no key and answers to loopback names alone. Call it 127.0.0.1, or set ENGINE_API_KEY.",
            {"host": host[:256]},
        )
    return Caller(OPERATOR, None)


def _invalid(sentence: str) -> EngineError:
    return EngineError(ErrorCode.INVALID_KEY, sentence)
