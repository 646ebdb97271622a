"""The tools on offer in these tests, and every way to cut a reply into pieces."""

import random
from collections.abc import Iterator
from typing import Any

from aster.contracts.tools import ToolDef
from aster.herald.text_tools.items import Call, Item
from aster.herald.text_tools.reading import read, scanner_for


def tool(name: str, /, **properties: Any) -> ToolDef:
    """A tool whose parameters have these types, or these schemas."""
    schemas = {key: {"type": kind} if isinstance(kind, str) else kind for key, kind in properties.items()}
    return ToolDef(name=name, description=name, input_schema={"type": "object", "properties": schemas})


WEATHER = tool("get_weather", city="string", days="integer", detail="boolean", options="object", near="array")
WRITE = tool("write_file", path="string", content="string")
SEARCH = tool("web-search", query="string")
NOW = tool("now")
TOOLS = (WEATHER, WRITE, SEARCH, NOW)


def cuts(text: str, seed: int = 1) -> Iterator[list[str]]:
    """Whole, by character, in two at every place, and at random."""
    yield [text]
    yield list(text)
    yield from ([text[:at], text[at:]] for at in range(1, len(text)))
    chance = random.Random(seed)
    for _ in range(8):
        places = sorted(chance.randrange(len(text) + 1) for _ in range(chance.randrange(1, 9)))
        yield [text[start:end] for start, end in zip([0, *places], [*places, len(text)], strict=True)]


def in_every_cut(text: str, name: str = "auto", tools: tuple[ToolDef, ...] = TOOLS) -> tuple[str, list[Call]]:
    """What a reply reads as, which no cut changes."""
    whole = read(name, [text], tools)
    for chunks in cuts(text):
        assert read(name, chunks, tools) == whole, chunks
    return whole


def items(text: str, name: str = "auto", tools: tuple[ToolDef, ...] = TOOLS) -> list[Item]:
    scanner = scanner_for(name, tools)
    return [*scanner.feed(text), *scanner.finish()]
