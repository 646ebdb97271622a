"""One spelling for every host, and patterns that mean what they say."""

import pytest

from aster.contracts.errors import EngineError
from aster.sandbox.hosts import canonical, pattern, patterns, split_port


@pytest.mark.parametrize(
    ("given", "meant"),
    [
        ("Example.COM", "example.com"),
        ("example.com.", "example.com"),
        ("bücher.example", "xn--bcher-kva.example"),
        ("127.0.0.1", "127.0.0.1"),
        ("[::1]", "::1"),
        ("::FFFF:7f00:1", "::ffff:7f00:1"),
        ("a_b.example", "a_b.example"),
    ],
)
def test_a_host_has_one_spelling(given: str, meant: str) -> None:
    assert canonical(given) == meant


@pytest.mark.parametrize(
    "given",
    [
        *("2130706433", "0x7f000001", "0x7f.0.0.1", "0177.0.0.1", "127.1", "127.0.0.1.", "127.0.0.01", "1.2.3.256"),
        *(
            "fe80::1%eth0",
            "",
            ".",
            "a..b",
            "a b",
            "exa/mple.com",
            "a@b",
            "x" * 64 + ".com",
            "①②⑦.0.0.1",
            "１２７.0.0.1",
        ),
        *("example.com\n", "example.com\x00", "[::1", "a" + ".b" * 150),
    ],
)
def test_what_could_be_read_two_ways_is_no_host(given: str) -> None:
    assert canonical(given) is None


def test_patterns() -> None:
    exact, below, ported, anything = patterns("X", "example.com, *.example.org, 10.0.0.5:8080, *")
    assert exact.matches("example.com")
    assert not exact.matches("a.example.com")
    assert below.matches("a.b.example.org")
    assert not below.matches("example.org")
    assert not below.matches("evilexample.org")
    assert (ported.host, ported.port) == ("10.0.0.5", 8080)
    assert anything.matches("whatever")
    assert pattern("X", "[::1]:80").port == 80


@pytest.mark.parametrize(
    "entry", ["exa mple.com", "*example.com", "http://example.com", "example.com:0", "a:99999"]
)
def test_a_wrong_pattern_names_its_variable(entry: str) -> None:
    with pytest.raises(EngineError, match="EGRESS_ALLOW") as caught:
        patterns("EGRESS_ALLOW", entry)
    assert caught.value.details == {"EGRESS_ALLOW": entry}


def test_ports_are_split_off() -> None:
    assert split_port("a.example:443") == ("a.example", 443)
    assert split_port("[::1]:443") == ("[::1]", 443)
    assert split_port("::1") == ("::1", None)
    assert split_port("a.example") == ("a.example", None)
