"""The vault: credentials for connected servers are kept encrypted and opened only for the call that needs them.

The key is `AD_ENCRYPTION_KEY`, or a file beside the brain that is made once and that only the engine's user can read.
Several keys, newest first, let old credentials be opened while everything new is written with the first.
"""

import os
from pathlib import Path
from typing import TYPE_CHECKING, Final

import msgspec

from aster.contracts.errors import EngineError, ErrorCode
from aster.contracts.model import Contract, encode
from aster.infra.secrets import Secrets
from aster.infra.settings import Settings

if TYPE_CHECKING:
    from cryptography.fernet import MultiFernet

KEY_FILE: Final = "assets.key"


class Kept(Contract):
    """What a server wants to know from whoever calls it: headers over HTTP, variables for a program."""

    headers: dict[str, str] = {}
    environment: dict[str, str] = {}

    @property
    def values(self) -> tuple[str, ...]:
        return (*self.headers.values(), *self.environment.values())


class Vault:
    """Seals credentials and opens them; whatever it opens is known as a secret from then on."""

    def __init__(self, settings: Settings, secrets: Secrets) -> None:
        self._settings = settings
        self._secrets = secrets
        self._ring: MultiFernet | None = None

    def seal(self, kept: Kept) -> bytes:
        self._learn(kept)
        return self._keys().encrypt(encode(kept))

    def open(self, sealed: bytes | None) -> Kept:
        """The credentials in the clear; refused when none of the keys fits."""
        if sealed is None:
            return Kept()
        from cryptography.fernet import InvalidToken

        try:
            kept = msgspec.json.decode(self._keys().decrypt(sealed), type=Kept)
        except InvalidToken:
            raise EngineError(
                ErrorCode.CONFIGURATION_INVALID,
                "The stored credentials cannot be opened with AD_ENCRYPTION_KEY. Set the key they were stored with"
                " (after a newer one, separated by a comma), or connect the server again.",
            ) from None
        self._learn(kept)
        return kept

    def _learn(self, kept: Kept) -> None:
        for value in kept.values:
            learn(self._secrets, value, "credential")

    def _keys(self) -> "MultiFernet":
        if self._ring is None:
            from cryptography.fernet import Fernet, MultiFernet

            given = self._settings.ad_encryption_key
            text = given.get_secret_value() if given is not None else _stored(self._settings.data_dir / KEY_FILE)
            try:
                self._ring = MultiFernet([Fernet(key.strip()) for key in text.split(",") if key.strip()])
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


def _stored(path: Path) -> str:
    """The key in the file; made now if there is none."""
    from cryptography.fernet import Fernet

    try:
        opened = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    except FileExistsError:
        return path.read_text(encoding="ascii").strip()
    with os.fdopen(opened, "wb") as file:
        file.write(Fernet.generate_key() + b"\n")
        file.flush()
        os.fsync(file.fileno())
    return path.read_text(encoding="ascii").strip()
