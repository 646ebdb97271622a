"""The persona that answers when nothing is scripted, so that a new user sees the engine work with no key.

It is an honest script and says so: it never pretends to be a model, calls only tools that the request offers,
and quotes what they returned without adding to it.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from msgspec import Struct

from aster.testing.conversation import Conversation, Offer, Result
from aster.testing.script import Part, Reply, Text, Thinking, ToolCall

RATE = 60.0

_QUOTE_LIMIT = 2000
_NOBODY = (
    "No model is configured, so a small built-in script answers you, not a model. "
    "Set `LLM_PROVIDER`, `LLM_MODEL` and `LLM_API_KEY` to talk to a real one."
)
_FOOTNOTE = "\n\n*(Built-in script, no model configured.)*"
_RECALLED = re.compile(r"\AFrom your memory[^\n]*\n<(untrusted-\w+)>.*?</\1>\s*", re.DOTALL)
"""What the engine remembers for a model, before the message."""
_MARKED = re.compile(r"<(untrusted-\w+)>\n?(.*?)\n?</\1>", re.DOTALL)
"""What a tool said, as the engine marks it for a model."""
_SPELLINGS: Mapping[str, Sequence[str]] = {
    "command": ("command", "cmd"),
    "path": ("path", "file_path", "filename"),
    "content": ("content", "contents", "text"),
    "question": ("question", "prompt", "message"),
}


class _Skill(Struct, frozen=True):
    """A thing the persona understands: how it is said, which tool does it, and how it is talked about."""

    pattern: re.Pattern[str]
    tool: str
    example: str
    before: str
    after: str
    failed: str


_SKILLS: Sequence[_Skill] = (
    _Skill(
        re.compile(r"\s*(?:please\s+)?run\s*[:\s]\s*(?P<command>.+)", re.IGNORECASE | re.DOTALL),
        "bash",
        "`run ls -la` runs a command in the sandbox",
        "I call the `bash` tool with that command.\n",
        "The command returned:",
        "The command failed:",
    ),
    _Skill(
        re.compile(r"\s*(?:please\s+)?read\s*[:\s]\s*(?P<path>\S+)\s*", re.IGNORECASE),
        "read_file",
        "`read README.md` reads a file",
        "I call the `read_file` tool on that path.\n",
        "The file says:",
        "The file could not be read:",
    ),
    _Skill(
        re.compile(r"\s*(?:please\s+)?write\s+(?P<path>[^\s:]+)\s*:\s*(?P<content>.+)", re.IGNORECASE | re.DOTALL),
        "write_file",
        "`write notes.txt: hello` writes a file",
        "I call the `write_file` tool with that text.\n",
        "The tool returned:",
        "The file could not be written:",
    ),
    _Skill(
        re.compile(r"\s*(?:please\s+)?ask\s+me\b[\s:]*(?P<question>.*)", re.IGNORECASE | re.DOTALL),
        "ask_user",
        "`ask me` pauses the turn until you answer a question",
        "I call the `ask_user` tool.\n",
        "You answered:",
        "The question was not answered:",
    ),
)
_THINK = re.compile(r"\s*(?:please\s+)?think\b.*", re.IGNORECASE | re.DOTALL)


def answer(conversation: Conversation) -> Reply:
    """What the persona says next in this conversation."""
    return Reply(_parts(conversation), rate=RATE)


def _parts(conversation: Conversation) -> list[Part]:
    said = _heard(conversation)
    for skill in _SKILLS:
        found = skill.pattern.fullmatch(said)
        if found is None:
            continue
        if conversation.results:
            return [Text(_report(skill, conversation.results[-1]))]
        offer = conversation.offer(skill.tool)
        if offer is None:
            return [Text(f"{_NOBODY}\n\nThis task does not offer me the `{skill.tool}` tool, so I cannot do that.")]
        return [Text(skill.before), ToolCall(offer.name, _input(offer, found.groupdict()))]
    if _THINK.fullmatch(said):
        return _think()
    return [Text(_introduction(conversation))]


def _input(offer: Offer, values: Mapping[str, str]) -> dict[str, Any]:
    """The values under the names the tool's own schema uses for them."""
    properties = offer.schema.get("properties", {})
    given: dict[str, Any] = {}
    for key, value in values.items():
        name = next((spelling for spelling in _SPELLINGS[key] if spelling in properties), key)
        given[name] = _CLEANERS.get(key, str.strip)(value)
    return given


def _without_fence(command: str) -> str:
    fenced = re.fullmatch(r"\s*```\w*\n(.*?)\n?```\s*", command, re.DOTALL)
    return fenced[1] if fenced else command.strip().strip("`").strip()


def _question(question: str) -> str:
    return question.strip() or "What is your favourite colour?"


_CLEANERS: Mapping[str, Callable[[str], str]] = {"command": _without_fence, "question": _question}


def _heard(conversation: Conversation) -> str:
    """What the person said, without what the engine put before it."""
    return _RECALLED.sub("", conversation.text)


def _report(skill: _Skill, result: Result) -> str:
    found = _quote(_MARKED.sub(r"\2", result.text))
    return (skill.failed if result.is_error else skill.after) + "\n\n" + found + _FOOTNOTE


def _quote(text: str) -> str:
    if not text.strip():
        return "*(nothing)*"
    shown = text if len(text) <= _QUOTE_LIMIT else text[:_QUOTE_LIMIT] + "\n…"
    ticks = max((len(run) for run in re.findall(r"`+", shown)), default=0)
    fence = "`" * max(3, ticks + 1)
    return f"{fence}\n{shown.rstrip()}\n{fence}"


def _think() -> list[Part]:
    return [
        Thinking(
            "This is a thinking block. A model would reason here; I am a script, so I only show that "
            "thinking is streamed on its own, before the answer."
        ),
        Text("That was a thinking block, streamed apart from this answer." + _FOOTNOTE),
    ]


def _introduction(conversation: Conversation) -> str:
    offered = [skill.example for skill in _SKILLS if conversation.offer(skill.tool) is not None]
    tries = "\n".join(f"- {example}" for example in [*offered, "`think` shows a thinking block"])
    heard = "\n".join(f"> {line}" for line in _heard(conversation).strip().splitlines()[:10])
    echo = f"I heard:\n\n{heard}\n\n" if heard else ""
    return f"{_NOBODY}\n\n{echo}Things to try:\n\n{tries}"
