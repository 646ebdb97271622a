"""The operator's file over the built-in table: what it says counts, the rest stays, mistakes are named."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from aster.contracts.errors import EngineError, ErrorCode
from aster.contracts.llm import TokenUsage
from aster.herald.operator_facts import adopt, merged
from aster.herald.profiles import PROFILES, UNKNOWN, cost_usd, output_limit, profile_of

MILLION = TokenUsage(input=1_000_000)
DAY = "2026-11-15"
PAGE = Path(__file__).parents[2] / "docs" / "prices.md"


@pytest.fixture(autouse=True)
def _built_in() -> Iterator[None]:
    yield
    adopt(None)


def write(path: Path, text: str) -> Path:
    file = path / "facts.json"
    file.write_text(text)
    return file


def test_an_entry_changes_what_it_says_and_nothing_else(tmp_path: Path) -> None:
    adopt(write(tmp_path, '{"gpt-4o": {"price": {"input": 1, "output": 2, "cache_read": 0.5}}}'))
    changed, built_in = profile_of("gpt-4o"), PROFILES["gpt-4o"]
    assert changed.prices == ((1, 2, 0.5, 1, None, 1.0, 1.0, ""),)
    assert changed._replace(prices=()) == built_in._replace(prices=())
    assert cost_usd("gpt-4o-2024-08-06", MILLION, DAY) == 1
    assert cost_usd("gpt-4o-mini", MILLION, DAY) == 0.15
    adopt(None)
    assert profile_of("gpt-4o") is built_in


def test_a_new_family(tmp_path: Path) -> None:
    adopt(write(tmp_path, '{"house": {"max_output": 100, "vision": true, "price": {"input": 3, "output": 9}}}'))
    house = profile_of("house")
    assert (house.known, house.vision, house.context_window) == (True, True, UNKNOWN.context_window)
    assert output_limit("house", 4096, None) == 100
    assert cost_usd("house", MILLION, DAY) == 3


def test_a_price_alone_sets_no_ceiling() -> None:
    house = merged({"house": {"price": {"input": 0, "output": 0}}})["house"]
    assert not house.known


def test_a_gateways_own_name_may_have_a_price(tmp_path: Path) -> None:
    assert cost_usd("vendor/gpt-4o", MILLION, DAY) is None
    adopt(write(tmp_path, '{"vendor/gpt-4o": {"price": {"input": 4, "output": 9}}}'))
    assert cost_usd("vendor/gpt-4o", MILLION, DAY) == 4
    assert cost_usd("other/gpt-4o", MILLION, DAY) is None
    assert profile_of("vendor/gpt-4o").context_window == PROFILES["gpt-4o"].context_window


def test_a_price_can_be_taken_away() -> None:
    assert merged({"gpt-4o": {"price": None}})["gpt-4o"].prices == ()


@pytest.mark.parametrize(
    ("said", "named"),
    [
        (7, "house"),
        ({"prize": {}}, "prize"),
        ({"known": True}, "known"),
        ({"context_window": "big"}, "context_window"),
        ({"max_output": -1}, "max_output"),
        ({"thinking": "deep"}, "thinking"),
        ({"prices": []}, "prices"),
        ({"price": 3}, "house.price"),
        ({"price": [3]}, "house.price"),
        ({"price": {"input": 3, "output": 1, "since": "soon"}}, "soon"),
        ({"price": {"input": 3, "output": 1, "since": "20261201"}}, "20261201"),
        ({"price": [{"input": 3, "output": 1}, {"input": 3, "output": 1}]}, "since"),
        ({"price": [{"input": 3, "output": 1, "since": "2027-01-01"}, {"input": 3, "output": 1}]}, "since"),
        ({"price": {"input": 3}}, "output"),
        ({"price": {"input": 3, "output": -1}}, "output"),
        ({"price": {"input": 3, "output": 1, "tax": 1}}, "tax"),
    ],
)
def test_a_wrong_entry_is_named(said: Any, named: str) -> None:
    with pytest.raises(EngineError) as refused:
        merged({"house": said})
    assert refused.value.code is ErrorCode.CONFIGURATION_INVALID
    assert "house" in refused.value.message
    assert named in refused.value.message


@pytest.mark.parametrize("text", ["[]", "{", '{"": {}}'])
def test_a_wrong_file_changes_nothing(tmp_path: Path, text: str) -> None:
    with pytest.raises(EngineError, match="MODEL_FACTS_PATH"):
        adopt(write(tmp_path, text))
    with pytest.raises(EngineError, match="cannot be read"):
        adopt(tmp_path / "missing.json")
    assert profile_of("gpt-4o") is PROFILES["gpt-4o"]


def test_the_documented_file_works(tmp_path: Path) -> None:
    """The example of docs/prices.md, as an operator would copy it."""
    text = PAGE.read_text()
    adopt(write(tmp_path, text.split("```json\n", 1)[1].split("```", 1)[0]))
    assert cost_usd("gpt-4o", MILLION, "2026-12-31") == 2.5
    assert cost_usd("gpt-4o", MILLION, "2027-01-01") == 2
    assert cost_usd("house-model", MILLION, "2026-01-01") == 0.1
    assert profile_of("house-model").context_window == 65536
    assert profile_of("gemini-4-argon").prices == ()
