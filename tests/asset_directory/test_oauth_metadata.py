"""What servers say about logins, taken apart: challenges, addresses, and where descriptions are looked for."""

import time

import pytest

from aster.asset_directory.oauth import addresses
from aster.asset_directory.oauth.metadata import Challenge, challenge
from aster.contracts.errors import EngineError


@pytest.mark.parametrize(
    ("header", "meant"),
    [
        ("Basic realm=x", Challenge()),
        ("Bearer", Challenge()),
        ('Bearer scope="a b a", error=insufficient_scope', Challenge("insufficient_scope", ("a", "b"))),
        ('bearer realm="x, y=1", resource_metadata="https://a/b?c=d"', Challenge(described_at="https://a/b?c=d")),
        ('Bearer error="invalid\\"token"', Challenge('invalid"token')),
        ('Bearer scope="good b\u00e4d"', Challenge(scopes=("good",))),
    ],
)
def test_a_challenge_is_understood(header: str, meant: Challenge) -> None:
    assert challenge([header]) == meant


def test_of_several_challenges_the_one_about_tokens_counts() -> None:
    assert challenge(["Basic", 'Bearer scope="a"', 'Bearer scope="b"']).scopes == ("a",)


@pytest.mark.parametrize("filler", ["a", 'a="', 'a="\\"', "a ", "a=,", "_=\\", 'a="\\" '])
def test_a_challenge_that_says_nothing_for_long_is_read_at_once(filler: str) -> None:
    began = time.perf_counter()
    assert challenge([f"Bearer {filler * 30_000}"]).scopes == ()
    assert time.perf_counter() - began < 1.0


@pytest.mark.parametrize(
    ("resource", "url", "same"),
    [
        ("https://a.example/mcp", "https://a.example/mcp", True),
        ("https://a.example", "https://a.example/mcp", True),
        ("https://A.example:443/mcp/", "https://a.example/mcp", True),
        ("https://a.example/m", "https://a.example/mcp", False),
        ("https://a.example/mcp/more", "https://a.example/mcp", False),
        ("https://a.example.evil/mcp", "https://a.example/mcp", False),
        ("https://a.example:8443/mcp", "https://a.example/mcp", False),
        ("http://a.example/mcp", "https://a.example/mcp", False),
        ("https://a.example/mcp?x=1", "https://a.example/mcp", False),
        ("https://user@a.example/mcp", "https://a.example/mcp", False),
        ("", "https://a.example/mcp", False),
    ],
)
def test_a_resource_covers_what_lies_under_it(resource: str, url: str, same: bool) -> None:
    assert addresses.covers(resource, url) is same


@pytest.mark.parametrize(
    "url",
    [
        "javascript:alert(1)",
        "http://login.example/authorize",
        "https://login.example/a b",
        "https://login.example/\u202eeval",
        "https://user:word@login.example/",
        "https://login.example:port/",
        "https:///nowhere",
        "https://login.example/" + "x" * 3000,
    ],
)
def test_a_login_does_not_go_anywhere(url: str) -> None:
    with pytest.raises(EngineError):
        addresses.check(url, "The login page", frozenset())


def test_plain_http_is_for_this_machine_and_what_the_operator_wrote_down() -> None:
    for url in ("http://127.0.0.1:1/a", "http://localhost/a", "http://inner.example/a"):
        assert addresses.check(url, "It", frozenset({"http://inner.example"})) == url


def test_descriptions_are_looked_for_where_the_standards_put_them() -> None:
    assert list(addresses.resource_documents("https://a.example/one/mcp")) == [
        "https://a.example/.well-known/oauth-protected-resource/one/mcp",
        "https://a.example/.well-known/oauth-protected-resource",
    ]
    assert list(addresses.issuer_documents("https://a.example/tenant/")) == [
        "https://a.example/.well-known/oauth-authorization-server/tenant",
        "https://a.example/.well-known/openid-configuration/tenant",
        "https://a.example/tenant/.well-known/openid-configuration",
    ]
