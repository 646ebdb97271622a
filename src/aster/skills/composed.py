"""Composed skills: a few calls of tools, one after another or at once, that an agent proposes and a person approves.

What a step says is kept under a name that later steps may use (`$name`), never earlier ones; of steps that run at once,
none uses another's. No step is a skill again, and no value ever becomes part of a shell command: what stands there is
what the person approved.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, Literal, cast

from aster.contracts.model import Contract

MOST_STEPS: Final = 20
VALUE_BYTES: Final = 16_000
STEP_CHARS: Final = 1_000
CUT: Final = "\n[cut here]"

_PLACE: Final = re.compile(r"\$(?:\{([A-Za-z_]\w{0,63})\}|([A-Za-z_]\w{0,63}))")
_WORD: Final = re.compile(r"[A-Za-z_]\w{0,63}", re.ASCII)


NOT_STEPS: Final = frozenset(
    ("use_skill", "run_skill", "create_skill", "compose_skill", "spawn_agent", "ask_user", "compact", "submit_plan")
)
"""What no step may call: skills again, other agents, and what stops or changes the conversation."""


class When(Contract, forbid_unknown_fields=True):
    """What a text has to be for a step to be made; exactly one of the four is said. A step that failed, or was not
    made, has said nothing."""

    value: str
    contains: str | None = None
    lacks: str | None = None
    equals: str | None = None
    differs: str | None = None

    @property
    def tests(self) -> int:
        return sum(each is not None for each in (self.contains, self.lacks, self.equals, self.differs))

    def holds(self, values: Mapping[str, str]) -> bool:
        text = filled(self.value, values)
        if self.contains is not None:
            return self.contains in text
        if self.lacks is not None:
            return self.lacks not in text
        return text == self.equals if self.equals is not None else text != self.differs


class Step(Contract, forbid_unknown_fields=True):
    """One call; `input` may name parameters and what was saved before. An `optional` one may fail."""

    tool: str
    input: dict[str, Any]
    save_as: str = ""
    optional: bool = False
    when: When | None = None


class Composed(Contract):
    """`parameters` are the names it is called with, all of them texts; `failures` are those in a row, up to now. They
    make one that a person approved `degraded` and then `retired`, until it is approved anew."""

    parameters: tuple[str, ...]
    steps: tuple[Step, ...]
    status: Literal["proposed", "approved", "degraded", "retired"] = "proposed"
    mode: Literal["sequential", "parallel"] = "sequential"
    uses: int = 0
    failures: int = 0


def problems(composed: Composed, tools: Sequence[str] | None) -> Iterator[str]:
    """Everything that keeps it from being run, found before it is proposed; `tools` are those there are, if known."""
    if not 1 <= len(composed.steps) <= MOST_STEPS:
        yield f"it must have 1 to {MOST_STEPS} steps"
    if any(_WORD.fullmatch(name) is None for name in composed.parameters):
        yield "parameters must be identifiers"
    known = set(composed.parameters)
    for number, step in enumerate(composed.steps, 1):
        if step.tool in NOT_STEPS or (tools is not None and step.tool not in tools):
            yield f"step {number}: {step.tool[:80]!r} is no tool that a skill may call"
        if unknown := sorted(set(_names([step.input, step.when and step.when.value])) - known):
            yield f"step {number}: ${unknown[0]} is neither a parameter nor saved by a step before it"
        if step.when is not None and step.when.tests != 1:
            yield f"step {number}: `when` needs exactly one of contains, lacks, equals and differs"
        if step.tool == "bash" and list(_names(step.input)):
            yield f"step {number}: a command takes no values; write them to a file with write_file first"
        if step.save_as and (_WORD.fullmatch(step.save_as) is None or step.save_as in known):
            yield f"step {number}: save_as must be an identifier that is not taken"
        if composed.mode == "sequential":
            known.add(step.save_as)


def filled(value: Any, values: Mapping[str, str]) -> Any:
    """A step's input with its values in place."""
    if isinstance(value, str):
        return _PLACE.sub(lambda found: values.get(found[1] or found[2], ""), value)
    if isinstance(value, list):
        return [filled(item, values) for item in cast("list[Any]", value)]
    if isinstance(value, dict):
        return {key: filled(item, values) for key, item in cast("dict[str, Any]", value).items()}
    return value


def bounded(text: str) -> str:
    """What a step said, as later steps get it."""
    data = text.encode("utf-8", "replace")
    return text if len(data) <= VALUE_BYTES else data[:VALUE_BYTES].decode("utf-8", "ignore") + CUT


def _names(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield from (found[1] or found[2] for found in _PLACE.finditer(value))
    elif isinstance(value, list):
        for item in cast("list[Any]", value):
            yield from _names(item)
    elif isinstance(value, dict):
        for item in cast("dict[str, Any]", value).values():
            yield from _names(item)
