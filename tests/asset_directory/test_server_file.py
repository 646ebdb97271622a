"""A server's file says how to reach it; what is wrong with one is said before anybody connects."""

import json
from pathlib import Path
from typing import Any

import pytest

from aster.asset_directory.server_file import read_servers
from aster.contracts.errors import EngineError
from aster.contracts.tools import Effect


def write(place: Path, name: str, server: dict[str, Any] | str) -> None:
    (place / f"{name}.json").write_text(server if isinstance(server, str) else json.dumps(server))


def test_servers_are_read_by_the_names_of_their_files(tmp_path: Path) -> None:
    write(tmp_path, "git", {"transport": "stdio", "command": ["git-server"], "effects": {"log": "pure"}})
    write(tmp_path, "web", {"url": "https://example.com/mcp", "policy": {"*": "deny"}})
    found = read_servers(tmp_path)
    assert found["git"].effects == {"log": Effect.PURE}
    assert (found["web"].transport, found["web"].policy) == ("http", {"*": "deny"})
    assert read_servers(tmp_path / "nowhere") == {}


@pytest.mark.parametrize(
    ("name", "server", "problem"),
    [
        ("a", "{", "truncated"),
        ("a", {"url": "https://x/", "wishes": 1}, "unknown field"),
        ("A", {"url": "https://x/"}, "lowercase letters"),
        ("a__b", {"url": "https://x/"}, "lowercase letters"),
        ("a" * 30, {"url": "https://x/"}, "24 at most"),
        ("a", {"server_name": "b", "url": "https://x/"}, "call the file b.json"),
        ("a", {}, "`url` must be"),
        ("a", {"url": "file:///etc/passwd"}, "`url` must be"),
        ("a", {"url": "https://user:word@x/"}, "without a user name"),
        ("a", {"url": "https://x/", "command": ["x"]}, "no `command`"),
        ("a", {"transport": "stdio"}, "has a `command`"),
        ("a", {"transport": "stdio", "command": ["x"], "auth_method": "oauth"}, "has no login"),
        ("a", {"transport": "stdio", "command": ["x"], "oauth": {}}, "has no login"),
        ("a", {"url": "https://x/", "oauth": {"client_id": "c"}}, "goes with `auth_method` oauth"),
        ("a", {"url": "https://x/", "auth_method": "oauth", "oauth": {"client_secret": "s"}}, "with a `client_id`"),
        ("a", {"url": "https://x/", "auth_method": "oauth", "oauth": {"issuer": "x"}}, "`oauth.issuer`"),
        (
            "a",
            {"url": "https://x/", "auth_method": "oauth", "oauth": {"client_id": "c", "client_secret": "s"}},
            "goes with an `issuer`",
        ),
        ("a", {"transport": "stdio", "command": ["x"], "auth_method": "static"}, "`asks` must name"),
        ("a", {"transport": "stdio", "command": ["x"], "readable": ["here"]}, "absolute"),
        ("a", {"url": "https://x/", "timeout_seconds": 0}, "`timeout_seconds`"),
        ("a", {"url": "https://x/", "policy": {"*": "maybe"}}, "maybe"),
        ("a", " " * 70_000, "larger than"),
    ],
)
def test_what_is_wrong_is_said(tmp_path: Path, name: str, server: Any, problem: str) -> None:
    write(tmp_path, name, server)
    with pytest.raises(EngineError) as wrong:
        read_servers(tmp_path)
    assert problem in wrong.value.message
