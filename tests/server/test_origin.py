"""Which pages and names the engine listens to."""

import pytest

from aster.contracts.errors import EngineError, ErrorCode
from aster.server.origin import Origins, host_name, is_loopback


@pytest.mark.parametrize(
    ("host", "loopback"),
    [
        ("localhost", True),
        ("LOCALHOST.", True),
        ("app.localhost", True),
        ("127.0.0.1", True),
        ("127.8.9.1", True),
        ("::1", True),
        ("[::1]", True),
        ("0.0.0.0", False),
        ("::", False),
        ("", False),
        ("localhost.evil.example", False),
        ("127.0.0.1.evil.example", False),
        ("192.168.0.1", False),
    ],
)
def test_loopback_means_this_machine_and_nothing_else(host: str, loopback: bool) -> None:
    assert is_loopback(host) is loopback


@pytest.mark.parametrize(
    ("header", "name"),
    [("localhost:8000", "localhost"), ("[::1]:8000", "::1"), ("EVIL.example", "evil.example"), ("[", ""), ("", "")],
)
def test_the_name_is_taken_from_the_host_header(header: str, name: str) -> None:
    assert host_name(header) == name


def test_a_request_without_an_origin_is_no_web_page() -> None:
    assert Origins(frozenset()).admit({b"host": b"127.0.0.1:8000"}) is None


@pytest.mark.parametrize("origin", [b"http://127.0.0.1:8000", b"https://127.0.0.1:8000", b"HTTP://127.0.0.1:8000"])
def test_the_engines_own_origin_needs_no_permission(origin: bytes) -> None:
    assert Origins(frozenset()).admit({b"host": b"127.0.0.1:8000", b"origin": origin}) is None


def test_an_allowed_origin_is_admitted_and_may_read() -> None:
    origins = Origins(frozenset({"https://app.example"}))
    admitted = origins.admit({b"host": b"engine.example", b"origin": b"https://app.example"})
    assert admitted == b"https://app.example"
    assert (b"access-control-allow-origin", b"https://app.example") in origins.headers(admitted)


@pytest.mark.parametrize(
    "origin", [b"https://evil.example", b"null", b"http://127.0.0.1:8001", b"https://app.example.evil.example", b""]
)
def test_any_other_page_is_refused(origin: bytes) -> None:
    origins = Origins(frozenset({"https://app.example"}))
    with pytest.raises(EngineError) as refused:
        origins.admit({b"host": b"127.0.0.1:8000", b"origin": origin})
    assert refused.value.code is ErrorCode.ORIGIN_REFUSED


@pytest.mark.parametrize("wrong", ["*", "https://app.example/", "app.example", "https://app.example/path"])
def test_what_is_no_origin_is_refused_at_the_start(wrong: str) -> None:
    with pytest.raises(EngineError, match="ALLOWED_ORIGINS") as refused:
        Origins(frozenset({wrong}))
    assert refused.value.code is ErrorCode.CONFIGURATION_INVALID
