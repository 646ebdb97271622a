"""JSON on a page is JSON; what claims to be an event, a tool or a server of ours is one."""

import json
from typing import Any

import pytest

from aster.contracts.events import EVENT_TYPES
from tests.docs.blocks import Block, blocks

BLOCKS = blocks("json")


@pytest.mark.parametrize("block", BLOCKS, ids=lambda block: block.where)
def test_it_parses(block: Block) -> None:
    json.loads(block.text)


def test_events_are_of_types_that_there_are() -> None:
    read: list[tuple[str, Any]] = [(block.where, json.loads(block.text)) for block in BLOCKS]
    events = [(where, value["type"]) for where, value in read if isinstance(value, dict) and "type" in value]
    assert events
    assert [(where, kind) for where, kind in events if kind not in EVENT_TYPES] == []
