"""The vault: credentials for connected servers are kept encrypted and opened only for the call that needs them.

The key is `AD_ENCRYPTION_KEY`, or a file beside the brain that is made once and that only the engine's user can read.
Several keys, newest first, let old credentials be opened while everything new is written with the first. What users
give is hidden from everybody's text, so only what looks like a secret is, and only while the connection lasts.
"""

import contextlib
import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Final

import msgspec

from aster.asset_directory.oauth.login import Login
from aster.brain.assets import ConnectionRow
from aster.contracts.errors import EngineError, ErrorCode
from aster.contracts.model import Contract, encode
from aster.infra.secrets import REDACTED, Secrets
from aster.infra.settings import Settings

if TYPE_CHECKING:
    from cryptography.fernet import MultiFernet

KEY_FILE: Final = "assets.key"
MOST_OF_A_USER: Final = 40
MOST_KNOWN: Final = 1000
_SHORTEST: Final = 12
_LONGEST: Final = 512
_VARIED: Final = 8
"""A secret has so many different characters."""
_END_CHARS: Final = 64
"""Of what is longer than a secret, the ends are known."""
_ORDINARY: Final = re.compile(r"[\W_]*+(?:[A-Z]?+[a-z]++[\W_]*+)*+|[A-Z\W_]+|[\d\W_]+")
"""Words and numbers, whatever is between them."""


class Kept(Contract):
    """What a server wants to know from whoever calls it: headers over HTTP, variables for a program, or that a person
    has logged in."""

    headers: dict[str, str] = {}
    environment: dict[str, str] = {}
    login: Login | None = None

    @property
    def values(self) -> tuple[str, ...]:
        login = () if self.login is None else self.login.secrets
        return (*self.headers.values(), *self.environment.values(), *login)


class Vault:
    """Seals credentials and opens them; those of a connection are known as secrets from `learn` to `forget`."""

    def __init__(self, settings: Settings, secrets: Secrets) -> None:
        self._settings = settings
        self._secrets = secrets
        self._ring: MultiFernet | None = None
        self._known: dict[str, dict[str, tuple[str, ...]]] = {}

    def seal(self, kept: Kept) -> bytes:
        return self.lock(encode(kept))

    def open(self, sealed: bytes | None) -> Kept:
        """The credentials in the clear; refused when none of the keys fits."""
        return Kept() if sealed is None else msgspec.json.decode(self.unlock(sealed), type=Kept)

    def lock(self, data: bytes) -> bytes:
        return self._keys().encrypt(data)

    def unlock(self, sealed: bytes) -> bytes:
        """What was locked; refused when none of the keys fits."""
        from cryptography.fernet import InvalidToken

        try:
            return self._keys().decrypt(sealed)
        except InvalidToken:
            raise EngineError(
                ErrorCode.CONFIGURATION_INVALID,
                "The stored credentials cannot be opened with AD_ENCRYPTION_KEY. Set the key they were stored with"
                " (after a newer one, separated by a comma), or connect the server again.",
            ) from None

    def relocked(self, sealed: bytes) -> bytes | None:
        """The same under the newest key; None when no key fits, the same bytes when it is under that one already."""
        from cryptography.fernet import Fernet, InvalidToken

        try:
            Fernet(self._texts()[0]).decrypt(sealed)
        except InvalidToken:
            with contextlib.suppress(InvalidToken):
                return self._keys().rotate(sealed)
            return None
        return sealed

    def renew(self) -> bool:
        """Put a new key before those in the engine's own file; false when the keys are the operator's to set."""
        if self._settings.ad_encryption_key is not None:
            return False
        from cryptography.fernet import Fernet

        self._write([Fernet.generate_key().decode(), *self._texts()])
        return True

    def retire(self) -> None:
        """Leave nothing but the newest key in the engine's own file."""
        self._write(self._texts()[:1])

    def learn(self, row: ConnectionRow) -> None:
        """Know the credentials of a connection that works as secrets, in place of what it had before."""
        found = dict.fromkeys(secret for value in self.open(row.credentials).values for secret in _telling(value))
        before = self._known.get(row.user_id, {}).get(row.ref_id, ())
        of_user = sum(map(len, self._known.get(row.user_id, {}).values())) - len(before)
        of_all = sum(len(values) for user in self._known.values() for values in user.values()) - len(before)
        values = tuple(found)[: max(0, min(MOST_OF_A_USER - of_user, MOST_KNOWN - of_all))]
        if values == before:
            return
        self.forget(row.user_id, row.ref_id)
        for value in values:
            self._secrets.register(value, "credential", passing=True)
        if values:
            self._known.setdefault(row.user_id, {})[row.ref_id] = values

    def forget(self, user_id: str, ref_id: str) -> None:
        """The credentials of a connection that ended are nobody's secrets."""
        of_user = self._known.get(user_id, {})
        for value in of_user.pop(ref_id, ()):
            self._secrets.unregister(value)
        if not of_user:
            self._known.pop(user_id, None)

    def hidden(self, row: ConnectionRow, text: str) -> str:
        """A text without secrets, those of a connection among them, which may not be known yet."""
        for value in self.open(row.credentials).values:
            for secret in _telling(value):
                text = text.replace(secret, REDACTED)
        return self._secrets.clean(text, "tool")

    @property
    def given(self) -> bool:
        """Whether the keys are the operator's, and not the engine's own."""
        return self._settings.ad_encryption_key is not None

    def _texts(self) -> list[str]:
        given = self._settings.ad_encryption_key
        if given is None and self._settings.database_url is not None:
            raise EngineError(
                ErrorCode.CONFIGURATION_INVALID,
                "Set AD_ENCRYPTION_KEY: with DATABASE_URL other replicas open the same credentials, so the key cannot"
                " be a file that this one makes for itself.",
                {"AD_ENCRYPTION_KEY": "is needed with DATABASE_URL"},
            )
        text = given.get_secret_value() if given is not None else _stored(self._settings.data_dir / KEY_FILE)
        return [key.strip() for key in text.split(",") if key.strip()]

    def _write(self, keys: list[str]) -> None:
        """Replace the engine's own keys, all at once or not at all."""
        path = self._settings.data_dir / KEY_FILE
        beside = path.with_name(f"{KEY_FILE}.new")
        beside.unlink(missing_ok=True)
        _create(beside, ",".join(keys))
        beside.replace(path)
        self._ring = None

    def _keys(self) -> "MultiFernet":
        if self._ring is None:
            from cryptography.fernet import Fernet, MultiFernet

            try:
                self._ring = MultiFernet([Fernet(key) for key in self._texts()])
            except ValueError:
                raise EngineError(
                    ErrorCode.CONFIGURATION_INVALID,
                    "AD_ENCRYPTION_KEY is not a Fernet key (32 bytes in URL-safe base64), nor several with commas.",
                ) from None
        return self._ring


def learn(secrets: Secrets, value: str, name: str) -> None:
    """Know a credential as a secret, with the word before it (`Bearer`) and without."""
    secrets.register(value, name)
    scheme, _, token = value.partition(" ")
    if token and scheme.isalpha():
        secrets.register(token, name)


def _telling(value: str) -> Iterator[str]:
    """The secrets in what a user gave (`Bearer …`): nothing that may stand in somebody's text by chance."""
    for part in value.split():
        secret = part.strip(";,")
        for piece in (secret,) if len(secret) <= _LONGEST else (secret[:_END_CHARS], secret[-_END_CHARS:]):
            varied = len(piece) >= _SHORTEST and len(set(piece)) >= _VARIED
            if varied and piece.isascii() and not _ORDINARY.fullmatch(piece):
                yield piece


def _stored(path: Path) -> str:
    """The key in the file; made now if there is none."""
    from cryptography.fernet import Fernet

    with contextlib.suppress(FileExistsError):
        _create(path, Fernet.generate_key().decode())
    return path.read_text(encoding="ascii").strip()


def _create(path: Path, text: str) -> None:
    opened = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    with os.fdopen(opened, "wb") as file:
        file.write(text.encode() + b"\n")
        file.flush()
        os.fsync(file.fileno())
