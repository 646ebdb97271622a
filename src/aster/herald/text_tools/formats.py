"""Which format a reply is read in: one by name, or all of them at once.

`auto` knows all dialects and is what Herald uses; `leaked` only those whose framing cannot be mistaken, for replies
that should hold no call at all. `any`, for a name that nobody knows, adds those whose channels are not only calls:
in an answer of a known model their markers are but words.
"""

from functools import cache

from aster.herald.text_tools.catalogue import ENDS, FORMATS, JSON, PYTHON_TAG, Format, think
from aster.herald.text_tools.dialects.asides import dropped_opening
from aster.herald.text_tools.dialects.bare import FenceBlock, bare_opening
from aster.herald.text_tools.dialects.base import Opening
from aster.herald.text_tools.dialects.values import any_value, value_opening
from aster.herald.text_tools.dialects.wrapper import EVERY_KIND, NamedWrapperBlock, wrapper_opening
from aster.herald.text_tools.naming import Naming
from aster.herald.text_tools.scanner import MarkerIndex, Markers

LEAKED = "leaked"
AUTO = "auto"
ANY = "any"

_FRAMED = (
    *("hermes", "qwen3_coder", "kimi_k2", "kimi_k3", "deepseek_v3", "deepseek_v4", "step3", "gemma4", "dots"),
    *("functiongemma", "longcat", "minimax_m2", "minimax_m3", "seed_oss", "internlm", "lfm2", "mistral", "hunyuan"),
    *("nemotron", "apertus", "gigachat3", "command_r7b"),
)
"""The formats whose openers cannot be mistaken for anything but a call."""

_CHANNELS = ("gpt_oss", "solar_open")
_CLOSERS = ("</tool_response>", "</function_call>", "</function_calls>", "</tool>")
_PROSE = frozenset(ENDS)
"""Ends of a turn, which may just as well be what somebody asked about."""


def _framed() -> dict[str, Opening]:
    found: dict[str, Opening] = {}
    for name in _FRAMED:
        found |= FORMATS[name].openers
    return found | {
        "<tool_call>": wrapper_opening(EVERY_KIND),
        "<tool_call ": NamedWrapperBlock,
        "<tool>": wrapper_opening(EVERY_KIND, ("</tool>", "</tool_call>")),
        "<tool ": NamedWrapperBlock,
        "<tool_calls>": wrapper_opening(EVERY_KIND, ("</tool_calls>",)),
        "<function_call>": wrapper_opening(EVERY_KIND, ("</function_call>",)),
        "<function_calls>": wrapper_opening(EVERY_KIND, ("</function_calls>",)),
        "<|tool_call|>": JSON,
        "<tool_response>": dropped_opening("</tool_response>"),
        **think(shown=False),
    }


def _noise() -> tuple[str, ...]:
    return (*_CLOSERS, *(word for name in _FRAMED for word in FORMATS[name].noise if word not in _PROSE))


def _everything(*others: str) -> Format:
    bare: dict[str, Opening] = {
        "{": bare_opening(),
        "[": bare_opening(python=True),
        "```": FenceBlock,
        "functools[": value_opening(begun="["),
        "<|python_tag|>": PYTHON_TAG,
        "<|python_start|>": value_opening(read=any_value, quotes="\"'"),
    }
    for name in others:
        bare |= FORMATS[name].openers
    return Format(
        {**_framed(), **bare},
        noise=(*_noise(), "<|python_end|>", *(word for name in others for word in FORMATS[name].noise)),
        at_line_start=("{", "[", "```"),
        separators=";,",
        bare_names=True,
    )


@cache
def _naming() -> Naming:
    return Naming(FORMATS)


def canonical(name: str) -> str:
    """The name a format has here; what nobody knows is `any`."""
    return name if name in FORMATS or name in (LEAKED, AUTO) else _naming().format_of(name) or ANY


def format_named(name: str) -> Format:
    """The format of this name; a name nobody knows is read as all of them at once."""
    return _format(canonical(name))


def index_of(name: str) -> MarkerIndex:
    """The markers of a format, prepared once."""
    return _index(canonical(name))


@cache
def _format(name: str) -> Format:
    if name == LEAKED:
        return Format(_framed(), noise=_noise(), bare_names=True)
    return FORMATS.get(name) or _everything(*(_CHANNELS if name == ANY else ()))


@cache
def _index(name: str) -> MarkerIndex:
    chosen = _format(name)
    openers = {opener.lower(): opening for opener, opening in chosen.openers.items()}
    if name in FORMATS:
        openers = {opener.lower(): opening for opener, opening in think(shown=True).items()} | openers
    noise = frozenset(word.lower() for word in chosen.noise) - openers.keys()
    return MarkerIndex(Markers(openers, noise, frozenset(chosen.at_line_start), chosen.separators))
