"""Formats by all their names."""

import pytest

from aster.herald.text_tools.catalogue import FORMATS
from aster.herald.text_tools.formats import ANY, AUTO, LEAKED, canonical
from aster.herald.text_tools.items import Call
from aster.herald.text_tools.naming import ALIASES
from tests.herald.text_tools.offering import in_every_cut


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        *((name, name) for name in FORMATS),
        ("Hermes", "hermes"),
        ("qwen3-coder", "qwen3_coder"),
        ("Qwen3CoderToolParser", "qwen3_coder"),
        ("KimiK2Detector", "kimi_k2"),
        ("deepseek-v3.1", "deepseek_v31"),
        ("GLM-4.5", "glm45"),
        ("glm 4.7", "glm47_moe"),
        ("gpt-oss", "gpt_oss"),
        ("openai", "gpt_oss"),
        ("Llama 3.1", "llama3_json"),
        ("phi4mini", "phi4_mini_json"),
        ("internlm2", "internlm"),
        ("cohere", "command_r7b"),
        (AUTO, AUTO),
        (LEAKED, LEAKED),
        ("", ANY),
        ("nobody knows", ANY),
    ],
)
def test_a_name_finds_its_format(written: str, meant: str) -> None:
    assert canonical(written) == meant


def test_every_alias_is_one_of_a_format() -> None:
    assert ALIASES.keys() <= FORMATS.keys()


def test_a_name_nobody_knows_reads_every_dialect() -> None:
    harmony = "<|channel|>commentary to=functions.now<|message|>{}<|call|>"
    for text in (
        harmony,
        "<tool_call>now</tool_call>",
        "[now()]",
        "functools[" + '{"name": "now", "arguments": {}}]',
    ):
        assert in_every_cut(text, "nobody knows") == ("", [Call("now", {})])


def test_what_herald_reads_leaves_the_words_of_other_models_alone() -> None:
    text = "A turn ends with <|im_end|> or </s>; <|channel|>analysis<|message|> begins a thought, <|end|> ends it."
    assert in_every_cut(text) == (text, [])
