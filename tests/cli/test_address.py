"""Which engine a command talks to, and that a key is shown to no other one than it is for."""

import argparse

import pytest

from aster.cli.address import address


@pytest.mark.parametrize(
    ("options", "environ", "found"),
    [
        ({"url": "a:1"}, {}, ("http://a:1", None)),
        ({"url": "a:1"}, {"ENGINE_KEY": "k"}, ("http://a:1", "k")),
        ({"url": "a:1", "key": "mine"}, {"ENGINE_KEY": "k"}, ("http://a:1", "mine")),
        ({}, {"ENGINE_URL": "https://b", "ENGINE_KEY": "k"}, ("https://b", "k")),
        ({"url": "https://b/"}, {"ENGINE_URL": "https://b", "ENGINE_KEY": "k"}, ("https://b", "k")),
        ({"url": "http://b"}, {"ENGINE_URL": "https://b", "ENGINE_KEY": "k"}, ("http://b", None)),
        ({"url": "evil"}, {"ENGINE_URL": "https://b", "ENGINE_KEY": "k"}, ("http://evil", None)),
        ({"url": "a", "key": "mine"}, {"ENGINE_URL": "https://b", "ENGINE_KEY": "k"}, ("http://a", "mine")),
    ],
)
def test_a_key_goes_to_the_engine_it_is_for(
    options: dict[str, str],
    environ: dict[str, str],
    found: tuple[str, str | None],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name in ("ENGINE_URL", "ENGINE_KEY"):
        monkeypatch.delenv(name, raising=False)
    for name, value in environ.items():
        monkeypatch.setenv(name, value)
    where = address(argparse.Namespace(**options))
    assert (where.url, where.key) == found
