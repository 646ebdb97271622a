"""Lists of tools with things in them that are none: what is good is kept, whatever the rest looks like."""

import time
from typing import Any

import pytest

from aster.asset_directory.actions import MOST_ACTIONS
from aster.asset_directory.sieve import MOST_TOLD, sifted

VERSION = "2025-11-25"
GOOD: dict[str, Any] = {"name": "good", "inputSchema": {"type": "object"}}


def test_what_is_good_is_kept_as_it_is() -> None:
    answer = {"tools": [GOOD, GOOD], "nextCursor": "2"}
    assert sifted(answer, VERSION) == (answer, [])
    kept, told = sifted({"tools": [GOOD, {"name": "bad"}], "nextCursor": "2"}, VERSION)
    assert kept == {"tools": [GOOD], "nextCursor": "2"}
    assert [line.partition(" ")[0] for line in told] == ["'bad'"]


@pytest.mark.parametrize(
    "answer",
    [
        {"tools": [1] * 300_000},
        {"tools": [{"name": "bad"}] * 5_000, "_meta": {str(key): [] for key in range(50_000)}},
        {"tools": [{"name": "bad", "icons": [1] * 50_000}]},
        {"tools": [{"name": "bad"}] * 5_000, **{str(key): 1 for key in range(50_000)}},
    ],
    ids=["many", "around", "wrong", "fields"],
)
def test_a_list_that_is_all_wrong_is_not_looked_at_for_long(answer: dict[str, Any]) -> None:
    began = time.perf_counter()
    kept, told = sifted({**answer, "tools": [GOOD, *answer["tools"]]}, VERSION)
    assert time.perf_counter() - began < 3.0
    assert len(told) <= MOST_TOLD
    assert len(kept["tools"]) <= MOST_ACTIONS + 1
