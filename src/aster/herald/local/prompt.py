"""The short language a small local model is spoken to in: few rules, one line per tool, examples, plain text.

It is byte-stable: the same instructions and tools always give the same beginning, which the model has read before
and does not read again. What the model said earlier goes back to it in the form in which it has to reply.
"""

import base64
import re
from collections.abc import Iterable, Sequence
from typing import Any

import msgspec

from aster.contracts.blocks import (
    AudioBlock,
    Base64Source,
    ContentBlock,
    DocumentBlock,
    ImageBlock,
    TextBlock,
    ToolResultBlock,
    ToolUseBlock,
    VideoBlock,
)
from aster.contracts.messages import Message
from aster.contracts.tools import ToolDef
from aster.herald.local.constrain import required_input

LOCAL_PROMPT = "You are Aster, a helpful assistant with tools."
"""In place of the stock prompt, which is too long for a small model."""

RESULT_CHARS = 4_000
_LINE_CHARS = 160

_RULES = """\
Reply with one JSON object.
When the person just talks or asks something general: {"about":"talk","answer":"..."}
When it needs files, folders, commands or the time: {"about":"work","tool":"...","input":{...}}
When a result says enough: {"about":"result","answer":"..."}
Never guess what files or commands say.
Tools:
"""
_EXAMPLES = {
    "read_file": 'What does todo.txt say? {"about":"work","tool":"read_file","input":{"path":"todo.txt"}}',
    "glob": 'Which files are there? {"about":"work","tool":"glob","input":{"pattern":"*"}}',
    "bash": 'How much disk space is free? {"about":"work","tool":"bash","input":{"command":"df -h"}}',
}
_TOO_MUCH = frozenset(
    (
        *("agent_output", "bash_kill", "bash_output", "compact", "compose_skill", "create_skill"),
        *("file_search", "find", "flag_uncertainty", "ingested_read", "ingested_search"),
        *("load_skill", "memory_forget", "memory_search", "memory_write", "run_skill", "spawn_agent"),
        *("manage_projects", "run_workflow", "schedule_cancel", "schedule_create", "schedule_list"),
        *("task_claim", "task_complete", "task_create", "task_get", "task_list", "task_release", "task_update"),
        *("todo_write", "update_plan", "use_skill", "web_fetch", "web_search"),
        *("working_memory_write", "worktree_create"),
        *("request_plan", "request_shutdown", "review_plan", "submit_plan"),
        *("open_tools", "spawn_team", "team_list", "team_message"),
    )
)
_TALK_EXAMPLE = 'Why is the sky blue? {"about":"talk","answer":"Air scatters blue light most."}'
_SENTENCE_END = re.compile(r"(?<=[.!?])\s")


def affordable(tools: Iterable[ToolDef]) -> tuple[ToolDef, ...]:
    """The tools a small model is told about: every one costs it a second of reading and a chance to choose wrong."""
    return tuple(tool for tool in tools if tool.name not in _TOO_MUCH)


def instructions(system: str, tools: Sequence[ToolDef]) -> str:
    """Everything that stands before the conversation."""
    lines = "\n".join(_line(tool) for tool in tools)
    examples = [text for name, text in _EXAMPLES.items() if any(tool.name == name for tool in tools)]
    return "\n".join([f"{system}\n{_RULES}{lines}", "Examples:", *examples, _TALK_EXAMPLE])


def _line(tool: ToolDef) -> str:
    first = _SENTENCE_END.split(" ".join(tool.description.split()), maxsplit=1)[0]
    return f"{tool.name}({', '.join(required_input(tool)['properties'])}): {first[:_LINE_CHARS]}"


def plain(messages: Iterable[Message], *, formed: bool) -> tuple[Message, ...]:
    """The conversation as text alone; `formed` wraps what the model said as it has to say it."""
    names: dict[str, str] = {}
    told: list[Message] = []
    answering = False
    for message in messages:
        if message.role == "assistant":
            names |= {block.id: block.name for block in message.content if isinstance(block, ToolUseBlock)}
            text = "\n".join(_said(block, answering, formed) for block in message.content)
        else:
            answering = any(isinstance(block, ToolResultBlock) for block in message.content)
            text = "\n\n".join(_heard(block, names) for block in message.content)
        told.append(Message(role=message.role, content=(TextBlock(text=text.strip() or "(nothing)"),)))
    return tuple(told)


def _said(block: ContentBlock, answering: bool, formed: bool) -> str:
    match block:
        case TextBlock(text=text):
            return _json(about="result" if answering else "talk", answer=text) if formed and text else text
        case ToolUseBlock(name=name, input=given):
            return _json(about="work", tool=name, input=given)
        case _:
            return ""


def _heard(block: ContentBlock, names: dict[str, str]) -> str:
    match block:
        case TextBlock(text=text):
            return text
        case ToolResultBlock():
            failed = " (failed)" if block.is_error else ""
            text = "\n".join(_heard(part, names) for part in block.content)
            return f"Result of {names.get(block.tool_use_id, 'a tool')}{failed}:\n{_cut(text)}"
        case DocumentBlock(source=Base64Source(media_type=kind, data=data)) if kind.startswith("text/"):
            return _cut(base64.b64decode(data).decode("utf-8", "replace"))
        case DocumentBlock(text=str(text)):
            return _cut(text)
        case ImageBlock() | DocumentBlock() | AudioBlock() | VideoBlock():
            return "(an attachment that this model cannot read)"
        case _:
            return ""


def _cut(text: str) -> str:
    """A small model reads slowly: of a long text it gets the beginning and the end."""
    if len(text) <= RESULT_CHARS:
        return text
    half = RESULT_CHARS // 2
    return f"{text[:half]}\n… ({len(text) - 2 * half} characters left out) …\n{text[-half:]}"


def _json(**fields: Any) -> str:
    return msgspec.json.encode(fields).decode()
