"""A server's list of tools without those that the protocol does not allow: one bad tool is no reason to lose the rest.

Nothing but the answer to `tools/list` is looked at, and nothing is changed in what is good.
"""

from collections.abc import Callable
from itertools import islice
from typing import Any, Final, cast

from mcp_types import methods

from aster.asset_directory.actions import MOST_ACTIONS

MOST_TOLD: Final = 50
_MOST_FIELDS: Final = 20
_MOST_WRONG: Final = 100
_NAME_CHARS: Final = 80
_WHY_CHARS: Final = 200


def sifted(result: dict[str, Any], version: str) -> tuple[dict[str, Any], list[str]]:
    """An answer without the tools in it that are wrong, and what is wrong with each. Of more tools than could be used
    the rest is left out unseen."""
    tools = result.get("tools")
    if not isinstance(tools, list):
        return result, []
    few = cast("list[object]", tools)[: MOST_ACTIONS + 1]
    result = {**result, "tools": few}
    if _wrong(result, version) is None:
        return result, []
    plain = ((name, value) for name, value in result.items() if isinstance(value, str | int | float))
    around = dict(islice(plain, _MOST_FIELDS))
    kept: list[object] = []
    told: list[str] = []
    for tool in few:
        problem = _wrong({**around, "tools": [tool]}, version)
        if problem is None:
            kept.append(tool)
        elif len(told) < MOST_TOLD:
            told.append(f"{_shown(tool)} is no tool ({_why(problem)})")
    return {**result, "tools": kept}, told


def _wrong(result: dict[str, Any], version: str) -> ValueError | None:
    """What the protocol has against an answer."""
    try:
        methods.validate_server_result("tools/list", version, result)
    except KeyError:
        return None
    except ValueError as error:
        return error
    return None


def _why(problem: ValueError) -> str:
    """The same in the words of the library: which field, and why."""
    count: Callable[[], int] = getattr(problem, "error_count", lambda: 1)
    if count() > _MOST_WRONG:
        return "too much is wrong with it"
    lines = [line.strip() for line in str(problem).splitlines()[1:3]]
    return ": ".join(lines).partition(" [type=")[0][:_WHY_CHARS].removeprefix("tools.0.")


def _shown(tool: object) -> str:
    name = cast("dict[str, object]", tool).get("name") if isinstance(tool, dict) else None
    return repr(name[:_NAME_CHARS]) if isinstance(name, str) else "one without a name"
