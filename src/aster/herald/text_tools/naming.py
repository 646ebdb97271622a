"""The names of formats: one format has many, by server, by model family and by version.

Case and punctuation do not count. A name that is not known here is no error: it stands for all formats at once.
"""

import re
from collections.abc import Iterable

_PUNCTUATION = re.compile(r"[^a-z0-9]+")
_SUFFIX = re.compile(r"(?:tool)?(?:parser|detector)$")

ALIASES = {
    "hermes": ("hermes2pro", "qwen", "qwen2", "granite4", "exaone", "exaonemoe", "ernie", "ernie45", "ling"),
    "qwen3_coder": ("qwen3next", "qwen35", "qwen36", "nemotronv3", "nemotron3", "step35", "stepfun35", "mimov2"),
    "glm4_moe": ("glm", "glm4", "glm46"),
    "glm47_moe": ("glm47", "glm5"),
    "poolside_v1": ("poolside", "laguna"),
    "hunyuan": ("hyv3", "hy3", "hunyuanv3"),
    "jamba": ("apriel", "minimaxm1", "minimax"),
    "granite": ("granite3",),
    "granite-20b-fc": ("granite20b",),
    "internlm": ("internlm2", "interns1"),
    "phi4_mini_json": ("phi4", "phi4mini"),
    "firefunction": ("firefunctionv2",),
    "mistral": ("mistralnemo", "mistralprev11"),
    "mistral_v11": ("mistralv13", "devstral", "ministral", "ministral3", "mistralsmall"),
    "llama3_json": ("llama3", "llama3x", "llama31", "llama32", "llama33", "llama", "llama4json"),
    "pythonic": ("llama4",),
    "olmo3": ("olmo",),
    "lfm2": ("lfm25",),
    "kimi_k2": ("kimi", "kimik25", "kimik2thinking"),
    "deepseek_v3": ("deepseek", "deepseekr1"),
    "deepseek_v4": ("deepseekv41",),
    "gigachat3": ("gigachat",),
    "minicpm5": ("minicpm", "minicpm5xml"),
    "gpt_oss": ("gptoss120b", "gptoss20b", "openai", "harmony"),
    "apertus": ("apertus2509",),
    "nemotron": ("nemotronjson", "nemotronnanov2", "nemotronv2"),
    "command_r7b": ("commandr", "cohere", "coherecommand", "command"),
    "solar_open": ("solar",),
}
"""Other names of formats, folded, by the name they have here."""


class Naming:
    """The names under which these formats are found."""

    def __init__(self, formats: Iterable[str]) -> None:
        self._known = {_folded(name): name for name in formats}
        for name, others in ALIASES.items():
            self._known |= {other: name for other in others if other not in self._known}

    def format_of(self, name: str) -> str | None:
        """The format that is meant, or None if nobody knows the name."""
        folded = _folded(name)
        return self._known.get(folded) or self._known.get(_SUFFIX.sub("", folded))


def _folded(name: str) -> str:
    return _PUNCTUATION.sub("", name.lower())
