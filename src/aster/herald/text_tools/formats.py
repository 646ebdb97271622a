"""The formats: which markers each dialect uses, and what becomes of text that is not quite a call.

A format is data. The servers these dialects come from differ in what they do with an unknown tool, a broken block,
a call that was cut off and text behind a call; a format says so, so that a reply reads here as it does there.
`auto` knows all dialects at once and is what Herald uses; `leaked` only those whose framing cannot be mistaken.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache
from typing import Literal, TypeAlias

from aster.herald.text_tools.dialects.asides import dropped_opening, think_opening
from aster.herald.text_tools.dialects.bare import FenceBlock, bare_opening
from aster.herald.text_tools.dialects.base import Opening
from aster.herald.text_tools.dialects.channels import XTML_OPEN, HarmonyBlock, XtmlBlock
from aster.herald.text_tools.dialects.elements import ElementBlock
from aster.herald.text_tools.dialects.minimax import TOKEN, MinimaxBlock
from aster.herald.text_tools.dialects.tokens import KIMI_ARGUMENTS, deepseek, gemma, kimi, token_opening
from aster.herald.text_tools.dialects.values import CALLED, NAMED, any_value, python_tag, value_opening
from aster.herald.text_tools.dialects.wrapper import EVERY_KIND, Kind, NamedWrapperBlock, wrapper_opening
from aster.herald.text_tools.scanner import MarkerIndex, Markers

Fate: TypeAlias = Literal["show", "hide", "alone", "call"]
"""What becomes of a broken block: shown as it was written, hidden, shown if there is no call at all, or run as far
as it could be read."""


@dataclass(frozen=True, slots=True)
class Format:
    """One dialect or a set of them.

    `separators` may stand between calls; `after` says whether text behind the first call is kept; `strict` and
    `bare_names` are for the blocks (see `Context`).
    """

    openers: Mapping[str, Opening]
    noise: tuple[str, ...] = ()
    at_line_start: tuple[str, ...] = ()
    separators: str = ""
    broken: Fate = "show"
    unknown: Fate = "hide"
    truncated: Fate = "hide"
    after: bool = True
    strict: bool = False
    bare_names: bool = False


def _kinds(*kinds: Kind) -> frozenset[Kind]:
    return frozenset(kinds)


_ELEMENTS: dict[str, Opening] = {"<function": ElementBlock, "<invoke": ElementBlock}
_JSON = value_opening()
_PYTHON_TAG = value_opening(lead=CALLED, read=python_tag, quotes="\"'")
_TOOL_CALLS = value_opening(lead=NAMED)
_KIMI = token_opening(kimi, ("<|tool_call_end|>",), ("<|tool_call_begin|>", "<|tool_calls_section_end|>"))
_DEEPSEEK = token_opening(deepseek, ("<｜tool▁call▁end｜>",), ("<｜tool▁call▁begin｜>", "<｜tool▁calls▁end｜>"))
_GEMMA = token_opening(gemma('<|"|>'), ("<tool_call|>",), ("<|tool_call>",))
_FUNCTION_GEMMA = token_opening(gemma("<escape>"), ("<end_function_call>",), ("<start_function_call>",))

_KIMI_NOISE = (
    "<|tool_calls_section_begin|>",
    "<|tool_calls_section_end|>",
    "<|tool_call_end|>",
    KIMI_ARGUMENTS,
)
_DEEPSEEK_NOISE = ("<｜tool▁calls▁begin｜>", "<｜tool▁calls▁end｜>", "<｜tool▁call▁end｜>", "<｜end▁of▁sentence｜>")
_DSML_NOISE = tuple(f"<{slash}｜DSML｜{name}>" for slash in ("", "/") for name in ("tool_calls", "function_calls"))
_STEP_NOISE = ("<｜tool_calls_begin｜>", "<｜tool_call_begin｜>", "<｜tool_call_end｜>", "<｜tool_calls_end｜>")
_XTML_NOISE = tuple(
    f"<|{mark}|>{name}<|sep|>" for mark in ("open", "close") for name in ("response", "message", "tools")
)
_HARMONY_NOISE = ("<|end|>", "<|return|>", "<|call|>", "<|message|>")
_ENDS = ("<|eot_id|>", "<|eom_id|>", "<|im_end|>", "</s>", "<|endoftext|>", "<｜end▁of▁sentence｜>")


def _think(shown: bool) -> dict[str, Opening]:
    pairs = (("<think>", "</think>"), ("<thinking>", "</thinking>"), ("[THINK]", "[/THINK]"))
    return {opener: think_opening(closer, shown) for opener, closer in pairs}


def _between(opener: str, closer: str) -> Format:
    """Calls in JSON between two markers."""
    return Format({opener: value_opening(closers=(closer,))}, noise=(closer,), after=False)


_HERMES = Format(
    {"<tool_call>": wrapper_opening(_kinds("value", "element")), **_ELEMENTS}, noise=("</tool_call>",), after=False
)
_QWEN = Format(
    {"<tool_call>": wrapper_opening(_kinds("value", "element")), **_ELEMENTS},
    noise=("</tool_call>",),
    truncated="call",
    after=False,
)
_PAIRS = Format({"<tool_call>": wrapper_opening(_kinds("pairs", "value"))}, noise=("</tool_call>",), broken="hide")
_LAGUNA = replace(_PAIRS, after=False)
_HUNYUAN = Format(
    {"<tool_call>": wrapper_opening(_kinds("pairs", "value"))},
    noise=("<tool_calls>", "</tool_calls>", "</tool_call>"),
    broken="hide",
    after=False,
)
_MISTRAL = Format({"[TOOL_CALLS]": _TOOL_CALLS}, broken="hide", after=False)
_LLAMA_JSON = Format(
    {"<|python_tag|>": _PYTHON_TAG, "{": bare_opening()},
    noise=_ENDS,
    separators=";,",
    broken="alone",
    truncated="alone",
)
_PYTHONIC = Format(
    {"[": bare_opening(json=False, python=True), "<|python_start|>": value_opening(read=any_value, quotes="\"'")},
    noise=("<|python_end|>", *_ENDS),
)
_LFM = Format(
    {"<|tool_call_start|>": value_opening(read=any_value, closers=("<|tool_call_end|>",), quotes="\"'")},
    noise=("<|tool_call_end|>", *_ENDS),
    broken="hide",
    after=False,
)
_KIMI_FORMAT = Format({"<|tool_call_begin|>": _KIMI}, noise=_KIMI_NOISE, broken="hide", after=False)
_DSML = Format({"<｜DSML｜invoke": ElementBlock}, noise=_DSML_NOISE, truncated="call")
_GIGA = Format(
    {"function call<|role_sep|>\n": _JSON, "<|function_call|>": _JSON},
    noise=("<|message_sep|>\n\n", "<|message_sep|>", "</s>"),
    broken="hide",
)
_MINICPM = Format({"<function": ElementBlock}, broken="show", unknown="show", truncated="show", strict=True)
_DOTS = Format(
    {
        "<dots_function_call>": wrapper_opening(
            _kinds("value", "element"), ("</dots_function_call>",), shown=False
        ),
        "<invoke": ElementBlock,
    },
    noise=("</dots_function_call>",),
    unknown="show",
)
_STEP = Format({"<steptml:invoke": ElementBlock}, noise=_STEP_NOISE, truncated="call")
_DEEPSEEK_FORMAT = Format({"<｜tool▁call▁begin｜>": _DEEPSEEK}, noise=_DEEPSEEK_NOISE, broken="hide", after=False)
_HARMONY = Format({"<|channel|>": HarmonyBlock, "<|start|>": HarmonyBlock}, noise=_HARMONY_NOISE)
_XTML = Format({XTML_OPEN: XtmlBlock}, noise=_XTML_NOISE, broken="hide")
_MINIMAX_2 = Format(
    {"<invoke": ElementBlock}, noise=("<minimax:tool_call>", "</minimax:tool_call>"), truncated="call"
)
_SEED = Format({"<function": ElementBlock}, noise=("<seed:tool_call>", "</seed:tool_call>"), truncated="call")
_FUNCTOOLS = Format({"functools[": value_opening(begun="[")})
_JSON_ARRAY = Format(
    {"[": bare_opening(), "{": bare_opening()}, separators=",", broken="alone", truncated="hide", after=False
)
_PLAIN_CALLS = Format(
    {"<function_calls>": value_opening(read=any_value, closers=("</function_calls>",), quotes="\"'")},
    noise=("</function_calls>",),
)
_PREFIXED = Format({"<|tools_prefix|>": value_opening(closers=("<|tools_suffix|>",))}, noise=("<|tools_suffix|>",))

FORMATS: dict[str, Format] = {
    "hermes": _HERMES,
    "qwen25": _HERMES,
    "qwen3": _HERMES,
    "qwen3_coder": _QWEN,
    "qwen3_xml": _QWEN,
    "step3p5": _QWEN,
    "mimo": _QWEN,
    "seed_oss": _SEED,
    "glm4_moe": _PAIRS,
    "glm45": _PAIRS,
    "glm47_moe": _PAIRS,
    "poolside_v1": _LAGUNA,
    "hunyuan": _HUNYUAN,
    "hunyuan_a13b": _between("<tool_calls>", "</tool_calls>"),
    "jamba": _between("<tool_calls>", "</tool_calls>"),
    "longcat": _between("<longcat_tool_call>", "</longcat_tool_call>"),
    "granite": Format({"<|tool_call|>": _JSON, "<tool_call>": _JSON}, noise=("</tool_call>",)),
    "granite-20b-fc": Format({"<function_call>": _JSON}),
    "internlm": Format(
        {"<|action_start|><|plugin|>": _JSON, "<|action_start|> <|plugin|>": _JSON, "<|action_start|>": _JSON},
        noise=("<|action_end|>", "<|plugin|>"),
    ),
    "interns1": Format({"<|action_start|><|plugin|>": _JSON, "<|action_start|> <|plugin|>": _JSON}),
    "phi4_mini_json": _FUNCTOOLS,
    "firefunction": _FUNCTOOLS,
    "mistral": _MISTRAL,
    "mistral_v11": _MISTRAL,
    "magistral": _MISTRAL,
    "llama3_json": _LLAMA_JSON,
    "llama4_json": _LLAMA_JSON,
    "json_array": _JSON_ARRAY,
    "pythonic": _PYTHONIC,
    "llama4_pythonic": _PYTHONIC,
    "olmo3": _PLAIN_CALLS,
    "lfm2": _LFM,
    "kimi_k2": _KIMI_FORMAT,
    "kimi_k3": _XTML,
    "deepseek_v3": _DEEPSEEK_FORMAT,
    "deepseek_v31": _DEEPSEEK_FORMAT,
    "deepseek_v32": _DSML,
    "deepseek_v4": _DSML,
    "step3": _STEP,
    "dots": _DOTS,
    "gemma4": Format({"<|tool_call>": _GEMMA}, noise=("<tool_call|>",)),
    "functiongemma": Format({"<start_function_call>": _FUNCTION_GEMMA}, noise=("<end_function_call>",)),
    "gigachat3": _GIGA,
    "minicpm5": _MINICPM,
    "minimax_m2": _MINIMAX_2,
    "minimax_m3": Format({TOKEN: MinimaxBlock}),
    "gpt_oss": _HARMONY,
    "apertus": _PREFIXED,
    "nemotron": _between("<TOOLCALL>", "</TOOLCALL>"),
}
"""By the names their servers use."""


def _framed() -> dict[str, Opening]:
    """Every opener that cannot be mistaken for anything but a call."""
    names = ("hermes", "qwen3_coder", "kimi_k2", "kimi_k3", "deepseek_v3", "deepseek_v4", "step3", "gemma4")
    others = ("functiongemma", "longcat", "minimax_m3", "internlm", "lfm2", "mistral", "dots", "nemotron")
    found: dict[str, Opening] = {}
    for name in (*names, *others):
        found |= FORMATS[name].openers
    return found | {
        "<tool_call>": wrapper_opening(EVERY_KIND),
        "<tool_call ": NamedWrapperBlock,
        "<tool>": wrapper_opening(EVERY_KIND, ("</tool>", "</tool_call>")),
        "<tool ": NamedWrapperBlock,
        "<tool_calls>": wrapper_opening(EVERY_KIND, ("</tool_calls>",)),
        "<function_call>": wrapper_opening(EVERY_KIND, ("</function_call>",)),
        "<function_calls>": wrapper_opening(EVERY_KIND, ("</function_calls>",)),
        "<|tool_call|>": _JSON,
        "<tool_response>": dropped_opening("</tool_response>"),
        **_think(shown=False),
    }


_CLOSERS = (
    *("</tool_call>", "</tool_calls>", "</tool_response>", "</function_call>", "</function_calls>", "</tool>"),
    *("</longcat_tool_call>", "</dots_function_call>", "<|tool_call_end|>", "<tool_call|>", "<end_function_call>"),
    *("<|action_end|>", "</TOOLCALL>"),
    *_KIMI_NOISE,
    *_DEEPSEEK_NOISE,
    *_DSML_NOISE,
    *_STEP_NOISE,
    *_XTML_NOISE,
)

LEAKED = "leaked"
AUTO = "auto"


@cache
def format_named(name: str) -> Format:
    """The format of this name; a name nobody knows is read as all of them at once."""
    if name == LEAKED:
        return Format(_framed(), noise=_CLOSERS, bare_names=True)
    if name in FORMATS:
        return FORMATS[name]
    bare: dict[str, Opening] = {
        "{": bare_opening(),
        "[": bare_opening(python=True),
        "```": FenceBlock,
        "functools[": value_opening(begun="["),
        "<|python_tag|>": _PYTHON_TAG,
        "<|python_start|>": value_opening(read=any_value, quotes="\"'"),
    }
    return Format(
        {**_framed(), **bare},
        noise=(*_CLOSERS, "<|python_end|>"),
        at_line_start=("{", "[", "```"),
        separators=";,",
        bare_names=True,
    )


@cache
def index_of(name: str) -> MarkerIndex:
    """The markers of a format, prepared once."""
    chosen = format_named(name)
    openers = {opener.lower(): opening for opener, opening in chosen.openers.items()}
    if name in FORMATS:
        openers = {opener.lower(): opening for opener, opening in _think(shown=True).items()} | openers
    noise = frozenset(word.lower() for word in chosen.noise) - openers.keys()
    return MarkerIndex(Markers(openers, noise, frozenset(chosen.at_line_start), chosen.separators))
