"""`aster rpc`: calls by name."""

import json

from tests.cli.program import Home


def test_a_call_prints_what_it_came_to(served: Home) -> None:
    done = served.call("rpc", "tool.bash", '{"command": "echo heron"}')
    assert done.returncode == 0, done.stderr
    assert "heron" in done.stdout
    whole = json.loads(served.call("rpc", "memory.statistics", "--json").stdout)
    assert sorted(whole) == ["pending", "stores"]


def test_a_call_that_fails_or_is_refused_says_so(served: Home) -> None:
    assert served.call("rpc", "tool.read_file", '{"path": "missing"}').returncode == 1
    unknown = served.call("rpc", "tool.nothing")
    assert (unknown.returncode, "Unknown tool" in unknown.stderr) == (1, True)
    assert "JSON object" in served.call("rpc", "tool.bash", "[]").stderr
