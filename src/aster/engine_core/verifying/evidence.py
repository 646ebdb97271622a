"""Evidence: what an answer can be held against, which is what the tools of its turn have really said.

Only tools that look at or change the world count. Bookkeeping (lists, notes, memory, questions) says what the
model or the person thinks, so it confirms nothing.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from typing import Any, Final

from aster.contracts.blocks import TextBlock, ThinkingBlock, ToolResultBlock, ToolUseBlock, text_of
from aster.contracts.messages import Message
from aster.contracts.model import encode
from aster.contracts.turn import ToolRun, TurnState
from aster.engine_core.verifying.words import prose, vocabulary

NEWEST: Final = 3
MOST_KNOWN: Final = 200_000
"""Characters of a conversation that are looked through; of a longer one nothing is said to be missing."""

_BOOKKEEPING: Final = vocabulary(
    "compact askuser askuserquestion flaguncertainty loadskill manageprojects managetasks manageskills scratchpad"
    " learnskill updateprofile replan abortattempt dreammode selfplay selfplayloop stopselfplay listlessons"
    " knowledgebase bashkill exitplanmode enterplanmode think"
)
_BOOKKEEPING_KINDS: Final = ("todo", "plan", "updateplan", "memory", "task", "team", "schedule", "goal")
_REFUSED: Final = frozenset(("permission_denied", "hook_blocked", "cancelled", "held"))
_SEPARATORS: Final = re.compile(r"[\W_]+")
_ANSWERS_WITH_STATUS: Final = re.compile(
    r"(?:^|[;&|]\s*)(?:sudo\s+)?(?:e?grep|rg|ag|diff|cmp|test|\[\[?|pgrep|which|type|command\s+-v|git\s+(?:diff|grep))\s[^;&|]*$"
)


@dataclass(frozen=True, slots=True)
class Exhibit:
    """One call of a tool and what it said."""

    call_id: str
    tool: str
    input: dict[str, Any]
    text: str
    run: ToolRun

    @property
    def failed(self) -> bool:
        """It came to an error of its own; a status that only answers the question asked is none."""
        if self.run.error is None:
            return False
        command = self.input.get("command")
        answers = (
            self.run.exit_code == 1
            and isinstance(command, str)
            and _ANSWERS_WITH_STATUS.search(command.strip()[:2000]) is not None
        )
        return not answers


@dataclass(frozen=True)
class Case:
    """An answer and all it can be held against. `exhibits` are the substantive calls of the turn, in order."""

    answer: str
    exhibits: tuple[Exhibit, ...]
    question: str = ""
    told: tuple[Message, ...] = field(default=(), repr=False)
    instructions: str = field(default="", repr=False)

    @cached_property
    def prose(self) -> str:
        return prose(self.answer)

    @property
    def newest(self) -> tuple[Exhibit, ...]:
        return self.exhibits[-NEWEST:]

    @cached_property
    def known(self) -> str | None:
        """Everything the model has been told or has said itself before; None when that cannot be known whole."""
        parts, size = [self.instructions], len(self.instructions)
        for text in _texts(self.told):
            if text is None:
                return None
            size += len(text)
            if size > MOST_KNOWN:
                return None
            parts.append(text)
        return "\n".join(parts)


@lru_cache(maxsize=512)
def bookkeeping(tool: str) -> bool:
    """Whether a tool, however its name is written, only keeps books."""
    name = _SEPARATORS.sub("", tool.casefold())
    return name in _BOOKKEEPING or name.startswith(_BOOKKEEPING_KINDS)


def exhibits(state: TurnState) -> tuple[Exhibit, ...]:
    """The calls of a turn that looked at or changed the world and were not refused, oldest first."""
    runs = {run.call_id: run for run in state.runs if not bookkeeping(run.tool) and run.error not in _REFUSED}
    if not runs:
        return ()
    given: dict[str, dict[str, Any]] = {}
    found: list[Exhibit] = []
    for message in state.messages:
        for block in message.content:
            if isinstance(block, ToolUseBlock):
                given[block.id] = block.input
            elif isinstance(block, ToolResultBlock) and (run := runs.get(block.tool_use_id)) is not None:
                text = text_of(block.content)
                found.append(Exhibit(run.call_id, run.tool, given.get(run.call_id, {}), text, run))
    return tuple(found)


def _texts(messages: Iterable[Message]) -> Iterator[str | None]:
    """Every text of a conversation; None for what cannot be read as text."""
    for message in messages:
        if message.recalled is not None:
            yield message.recalled
        for block in message.content:
            match block:
                case TextBlock(text=text) | ThinkingBlock(text=text):
                    yield text
                case ToolUseBlock():
                    yield encode(block.input).decode()
                case ToolResultBlock():
                    for part in block.content:
                        yield part.text if isinstance(part, TextBlock) else None
                case _:
                    yield None
