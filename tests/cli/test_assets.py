"""`aster assets`: for people and for programs."""

import json

from tests.cli.program import Home


def test_connections_are_listed_and_what_is_not_there_is_said(served: Home) -> None:
    assert json.loads(served.call("assets", "list", "--json").stdout) == []
    assert served.call("assets", "servers").stdout.split()[:2] == ["server", "name"]
    refused = served.call("assets", "connect", "nothing")
    assert (refused.returncode, "no server named 'nothing'" in refused.stderr) == (1, True)
    own = served.call("assets", "connect", "mine", "--server-url", "https://example.com/mcp", "--header", "A=b")
    assert (own.returncode, "MCP_USER_SERVERS" in own.stderr) == (1, True)
    gone = served.call("assets", "disconnect", "nothing")
    assert (gone.returncode, "no connection of that id" in gone.stderr) == (1, True)
    wrong = served.call("assets", "connect", "x", "--header", "=b")
    assert (wrong.returncode, "should be NAME=VALUE" in wrong.stderr) == (1, True)
