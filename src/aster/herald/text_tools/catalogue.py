"""The formats by name: which markers each dialect uses, and what becomes of text that is not quite a call.

A format is data. The servers these dialects come from differ in what they do with an unknown tool, a broken block,
a call that was cut off and text behind a call; a format says so, so that a reply reads here as it does there.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

from aster.herald.text_tools.dialects.asides import think_opening
from aster.herald.text_tools.dialects.bare import bare_opening
from aster.herald.text_tools.dialects.base import Opening, Trim
from aster.herald.text_tools.dialects.channels import XTML_OPEN, HarmonyBlock, XtmlBlock
from aster.herald.text_tools.dialects.elements import ElementBlock
from aster.herald.text_tools.dialects.minimax import TOKEN, MinimaxBlock
from aster.herald.text_tools.dialects.tokens import KIMI_ARGUMENTS, deepseek, gemma, kimi, solar, token_opening
from aster.herald.text_tools.dialects.values import CALLED, NAMED, any_value, python_tag, value_opening
from aster.herald.text_tools.dialects.wrapper import Kind, wrapper_opening
from aster.herald.text_tools.values import Reading, loose

Fate: TypeAlias = Literal["show", "hide", "alone", "call"]
"""What becomes of a broken block: shown as it was written, hidden, shown if there is no call at all, or run as far
as it could be read."""


After: TypeAlias = Literal["keep", "drop", "join"]
"""What becomes of text behind the first call: kept as it is, dropped, or joined to what is before by a space."""


@dataclass(frozen=True, slots=True)
class Format:
    """One dialect or a set of them.

    `separators` may stand between calls; `after` says what becomes of text behind the first call; `strict`,
    `bare_names`, `untyped` and `trim` are for the blocks (see `Context`).
    """

    openers: Mapping[str, Opening]
    noise: tuple[str, ...] = ()
    at_line_start: tuple[str, ...] = ()
    separators: str = ""
    broken: Fate = "show"
    unknown: Fate = "hide"
    truncated: Fate = "hide"
    after: After = "keep"
    strict: bool = False
    bare_names: bool = False
    untyped: Reading | None = None
    trim: Trim | None = None


def _kinds(*kinds: Kind) -> frozenset[Kind]:
    return frozenset(kinds)


_ELEMENTS: dict[str, Opening] = {"<function": ElementBlock, "<invoke": ElementBlock}
JSON = value_opening()
PYTHON_TAG = value_opening(lead=CALLED, read=python_tag, quotes="\"'")
_TOOL_CALLS = value_opening(lead=NAMED)
_KIMI = token_opening(kimi, ("<|tool_call_end|>",), ("<|tool_call_begin|>", "<|tool_calls_section_end|>"))
_DEEPSEEK = token_opening(deepseek, ("<｜tool▁call▁end｜>",), ("<｜tool▁call▁begin｜>", "<｜tool▁calls▁end｜>"))
_GEMMA = token_opening(gemma('<|"|>'), ("<tool_call|>",), ("<|tool_call>",))
_SOLAR = token_opening(solar, ("<|tool_call:end|>",), ("<|tool_call:begin|>", "<|calls|>"))
_FUNCTION_GEMMA = token_opening(gemma("<escape>"), ("<end_function_call>",), ("<start_function_call>",))

_KIMI_NOISE = (
    "<|tool_calls_section_begin|>",
    "<|tool_calls_section_end|>",
    "<|tool_call_end|>",
    KIMI_ARGUMENTS,
)
_DEEPSEEK_NOISE = ("<｜tool▁calls▁begin｜>", "<｜tool▁calls▁end｜>", "<｜tool▁call▁end｜>", "<｜end▁of▁sentence｜>")
_DSML_NOISE = (
    *(f"<{slash}｜DSML｜{name}>" for slash in ("", "/") for name in ("tool_calls", "function_calls")),
    "<｜end▁of▁sentence｜>",
)
_STEP_NOISE = (
    "<｜tool_call_begin｜>function<｜tool_sep｜>",
    "<｜tool_calls_begin｜>",
    "<｜tool_call_begin｜>",
    "<｜tool_call_end｜>",
    "<｜tool_calls_end｜>",
)
_SOLAR_NOISE = (
    "<|tool_calls|>",
    "<|tool_call:end|>",
    "<|calls|>",
    "<|flush|>",
    "<|begin|>assistant",
    "<|content|>",
)
_COMMAND_NOISE = ("<|START_RESPONSE|>", "<|END_RESPONSE|>", "<|END_ACTION|>", "<|END_OF_TURN_TOKEN|>")
_XTML_NOISE = tuple(
    f"<|{mark}|>{name}<|sep|>" for mark in ("open", "close") for name in ("response", "message", "tools")
)
_HARMONY_NOISE = ("<|end|>", "<|return|>", "<|call|>", "<|message|>")
ENDS = ("<|eot_id|>", "<|eom_id|>", "<|im_end|>", "</s>", "<|endoftext|>")


def think(shown: bool) -> dict[str, Opening]:
    """The openings of thought between tags."""
    pairs = (("<think>", "</think>"), ("<thinking>", "</thinking>"), ("[THINK]", "[/THINK]"))
    return {opener: think_opening(closer, shown) for opener, closer in pairs}


def _between(opener: str, closer: str) -> Format:
    """Calls in JSON between two markers."""
    return Format({opener: value_opening(closers=(closer,))}, noise=(closer,), after="drop")


_HERMES = Format(
    {"<tool_call>": wrapper_opening(_kinds("value", "element")), **_ELEMENTS}, noise=("</tool_call>",), after="drop"
)
_QWEN = Format(
    {"<tool_call>": wrapper_opening(_kinds("value", "element")), **_ELEMENTS},
    noise=("</tool_call>",),
    truncated="call",
    unknown="call",
    after="drop",
)
_PAIRS = Format(
    {"<tool_call>": wrapper_opening(_kinds("pairs", "value"))}, noise=("</tool_call>",), broken="hide", trim=str
)
_LAGUNA = replace(_PAIRS, after="drop", trim=None)
_HUNYUAN = Format(
    {f"<tool_call{suffix}>": wrapper_opening(_kinds("pairs", "value")) for suffix in ("", ":opensource")},
    noise=tuple(
        f"<{tag}{suffix}>" for tag in ("tool_calls", "/tool_calls", "/tool_call") for suffix in ("", ":opensource")
    ),
    broken="hide",
    after="drop",
    untyped=str,
    trim=str,
)
_MISTRAL = Format({"[TOOL_CALLS]": _TOOL_CALLS}, broken="hide", after="drop")
_MISTRAL_LIST = replace(_MISTRAL, after="join")
_LLAMA_JSON = Format(
    {"<|python_tag|>": PYTHON_TAG, "{": bare_opening(), "[": bare_opening()},
    noise=ENDS,
    separators=";,",
    broken="alone",
    truncated="alone",
)
_PYTHONIC = Format(
    {"[": bare_opening(json=False, python=True), "<|python_start|>": value_opening(read=any_value, quotes="\"'")},
    noise=("<|python_end|>", *ENDS),
)
_LFM = Format(
    {"<|tool_call_start|>": value_opening(read=any_value, closers=("<|tool_call_end|>",), quotes="\"'")},
    noise=("<|tool_call_end|>", *ENDS),
    broken="hide",
    after="drop",
)
_KIMI_FORMAT = Format({"<|tool_call_begin|>": _KIMI}, noise=_KIMI_NOISE, broken="hide", after="drop")
_DSML = Format({"<｜DSML｜invoke": ElementBlock}, noise=_DSML_NOISE, truncated="call")
_GIGA = Format(
    {"function call<|role_sep|>\n": JSON, "<|function_call|>": JSON},
    noise=("<|message_sep|>\n\n", "<|message_sep|>", "</s>"),
    broken="hide",
)
_MINICPM = Format(
    {"<function": ElementBlock},
    broken="show",
    unknown="show",
    truncated="show",
    strict=True,
    untyped=loose,
    trim=str.strip,
)
_DOTS = Format(
    {
        "<dots_function_call>": wrapper_opening(
            _kinds("value", "element"), ("</dots_function_call>",), shown=False
        ),
        "<invoke": ElementBlock,
    },
    noise=("</dots_function_call>",),
    unknown="show",
    trim=str.strip,
)
_STEP = Format({"<steptml:invoke": ElementBlock}, noise=_STEP_NOISE, truncated="call", trim=str.strip)
_DEEPSEEK_FORMAT = Format({"<｜tool▁call▁begin｜>": _DEEPSEEK}, noise=_DEEPSEEK_NOISE, broken="hide", after="drop")
_HARMONY = Format({"<|channel|>": HarmonyBlock, "<|start|>": HarmonyBlock}, noise=_HARMONY_NOISE)
_XTML = Format({XTML_OPEN: XtmlBlock}, noise=_XTML_NOISE, broken="hide", unknown="call", after="drop")
_MINIMAX_2 = Format(
    {"<invoke": ElementBlock}, noise=("<minimax:tool_call>", "</minimax:tool_call>"), truncated="call"
)
_SEED = Format({"<function": ElementBlock}, noise=("<seed:tool_call>", "</seed:tool_call>"), truncated="call")
_FUNCTOOLS = Format({"functools[": value_opening(begun="[")})
_JSON_ARRAY = Format(
    {"[": bare_opening(), "{": bare_opening()}, separators=",", broken="alone", truncated="hide", after="drop"
)
_PLAIN_CALLS = Format(
    {"<function_calls>": value_opening(read=any_value, closers=("</function_calls>",), quotes="\"'")},
    noise=("</function_calls>",),
)
_COMMAND = Format(
    {
        "<|START_ACTION|>": value_opening(closers=("<|END_ACTION|>",)),
        "<|START_THINKING|>": think_opening("<|END_THINKING|>", shown=False),
    },
    noise=_COMMAND_NOISE,
)
_SOLAR_OPEN = Format(
    {"<|tool_call:begin|>": _SOLAR, "<|think|>": think_opening("<|end|>", shown=False)}, noise=_SOLAR_NOISE
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
    "granite": Format({"<|tool_call|>": JSON, "<tool_call>": JSON}, noise=("</tool_call>",)),
    "granite-20b-fc": Format({"<function_call>": JSON}),
    "internlm": Format(
        {"<|action_start|><|plugin|>": JSON, "<|action_start|> <|plugin|>": JSON, "<|action_start|>": JSON},
        noise=("<|action_end|>", "<|plugin|>"),
        after="drop",
    ),
    "phi4_mini_json": _FUNCTOOLS,
    "firefunction": _FUNCTOOLS,
    "mistral": _MISTRAL_LIST,
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
    "gemma4": Format({"<|tool_call>": _GEMMA}, noise=("<tool_call|>",), unknown="call"),
    "functiongemma": Format({"<start_function_call>": _FUNCTION_GEMMA}, noise=("<end_function_call>",)),
    "gigachat3": _GIGA,
    "minicpm5": _MINICPM,
    "minimax_m2": _MINIMAX_2,
    "minimax_m3": Format({TOKEN: MinimaxBlock}, truncated="show"),
    "gpt_oss": _HARMONY,
    "apertus": _PREFIXED,
    "nemotron": _between("<TOOLCALL>", "</TOOLCALL>"),
    "command_r7b": _COMMAND,
    "solar_open": _SOLAR_OPEN,
    "functionary_v31": Format(_ELEMENTS),
}
"""By the names their servers use."""
