"""The text tool-call parser by itself: how fast prose and calls go through it, beside a bare scan of the same text.

The bare scan finds calls and parameters with two expressions and decodes the JSON: what a parser of one dialect,
with no stream and no repair, cannot do without.
"""

import json
import re
from collections.abc import Callable
from pathlib import Path
from time import process_time

import aster
from aster.contracts.tools import ToolDef
from aster.herald.text_tools.reading import scanner_for
from benchmarks.figures import Figure
from benchmarks.scale import Scale

PIECE = 64
SMALL_PIECE = 8
MEGABYTES = 1.0
TOOL = ToolDef(
    name="write_file",
    description="",
    input_schema={"properties": {"path": {"type": "string"}, "content": {"type": "string"}}},
)
_CALL = re.compile(r"<tool_call>\s*(\{.*?\})\s*</tool_call>", re.DOTALL)
_PARAMETER = re.compile(r"<parameter=(\w+)>\n(.*?)\n</parameter>", re.DOTALL)


async def parsed(directory: Path, scale: Scale) -> list[Figure]:
    """Megabytes a second in pieces of 64 characters and of 8; every reply is a fresh one of at most five calls."""
    source = Path(aster.__file__).read_text() + (Path(aster.__file__).parent / "contracts" / "tools.py").read_text()
    prose = " ".join(re.findall(r"\w+[,.]?", source)) + "\n"
    call = {"name": TOOL.name, "arguments": {"path": "tools.py", "content": source[:2000]}}
    as_json = f"I write it.\n<tool_call>\n{json.dumps(call)}\n</tool_call>\n"
    as_element = (
        f"I write it.\n<tool_call>\n<function={TOOL.name}>\n<parameter=path>\ntools.py\n</parameter>\n"
        f"<parameter=content>\n{source[:2000]}\n</parameter>\n</function>\n</tool_call>\n"
    )
    short = {"name": TOOL.name, "arguments": {"path": "a.py", "content": "x"}}
    short_json = f"<tool_call>\n{json.dumps(short)}\n</tool_call>\n"
    short_element = f"<tool_call><function={TOOL.name}><parameter=path>a.py</parameter></function></tool_call>\n"
    texts = {
        "prose": prose * 8,
        "calls in JSON": as_json * 4,
        "calls as elements": as_element * 4,
        "short calls in JSON": short_json * 5,
        "short calls as elements": short_element * 5,
    }
    figures = [
        Figure("toolcalls", f"{what}; beside it a bare scan", "MB/s", _rate(_read, text), _rate(_scan, text))
        for what, text in texts.items()
    ]
    small = ("prose", "calls in JSON", "calls as elements")
    return figures + [
        Figure("toolcalls", f"{what}, 8 characters at a time", "MB/s", _rate(_read_slowly, texts[what]))
        for what in small
    ]


def _read(text: str, piece: int = PIECE) -> None:
    scanner = scanner_for("auto", (TOOL,))
    for at in range(0, len(text), piece):
        scanner.feed(text[at : at + piece])
    scanner.finish()


def _read_slowly(text: str) -> None:
    _read(text, SMALL_PIECE)


def _scan(text: str) -> None:
    for found in _CALL.finditer(text):
        json.loads(found[1])
    dict(_PARAMETER.findall(text))


def _rate(run: Callable[[str], None], text: str) -> float:
    """The best of several rounds, each over about a megabyte, in time of this process alone."""
    times = max(1, round(MEGABYTES * 1e6 / len(text)))
    best = float("inf")
    for _ in range(5):
        began = process_time()
        for _ in range(times):
            run(text)
        best = min(best, process_time() - began)
    return len(text) * times / best / 1e6
