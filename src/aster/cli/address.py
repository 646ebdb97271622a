"""Which engine a command talks to: the one that is named, or this machine's own.

Options win over ENGINE_URL and ENGINE_KEY; when neither names an engine, the settings say where this machine's
would listen, and only that one may be started on the way. A key goes to the engine it is for: that of ENGINE_URL is not
shown to another one that `--url` names.
"""

import argparse
import os
from dataclasses import dataclass

from aster.client.client import DEFAULT_URL
from aster.infra.settings import Settings, load

_ANY = frozenset({"", "0.0.0.0", "::"})  # noqa: S104 - what an engine that listens everywhere is told


@dataclass(frozen=True, slots=True)
class Address:
    """An engine's URL and key; `settings` are there when it is this machine's own."""

    url: str
    key: str | None
    settings: Settings | None = None


def address(args: argparse.Namespace) -> Address:
    """The engine that the options, the environment or the settings name."""
    named, usual = _url(getattr(args, "url", None)), _url(os.environ.get("ENGINE_URL"))
    if named is not None and usual is not None and named != usual:
        return Address(named, getattr(args, "key", None) or None)
    url = named or usual
    return own(args, load()) if url is None else Address(url, _key(args))


def _url(text: str | None) -> str | None:
    """An address as it was named; without a scheme it is plain HTTP."""
    return None if not text else (text if "://" in text else f"http://{text}").rstrip("/")


def own(args: argparse.Namespace, settings: Settings) -> Address:
    """This machine's engine; who may read its settings has its key."""
    key = _key(args)
    if key is None and settings.engine_api_key is not None:
        key = settings.engine_api_key.get_secret_value() or None
    return Address(url_of(settings), key, settings)


def _key(args: argparse.Namespace) -> str | None:
    return getattr(args, "key", None) or os.environ.get("ENGINE_KEY") or None


def url_of(settings: Settings) -> str:
    """Where an engine with these settings is reached from its own machine."""
    host = "127.0.0.1" if settings.host in _ANY else settings.host
    if ":" in host:
        host = f"[{host}]"
    return f"http://{host}:{settings.port}" if settings.port else DEFAULT_URL
