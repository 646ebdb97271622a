"""Workflows as an operator writes them down.

A workflow is data: steps of a few kinds, with places for values (`{{args.topic}}`). Nothing in it is code, and neither
a model nor a user can write one; they name one and give it arguments.
"""

from typing import Any, TypeAlias

import msgspec

from aster.contracts.model import Contract


class _Step(Contract, tag_field="do", forbid_unknown_fields=True):
    """With `as`, what comes of it can be named in later steps."""


class PhaseStep(_Step, tag="phase"):
    """From here on it is about this."""

    title: str


class LogStep(_Step, tag="log"):
    """Say something on the thread."""

    message: str


class AgentStep(_Step, tag="agent"):
    """Have an agent do a piece of work. What it says comes of it, or, with a `schema`, the value that it says."""

    prompt: str
    label: str = ""
    agent: str | None = None
    phase: str | None = None
    output: dict[str, Any] | None = msgspec.field(default=None, name="schema")
    name: str = msgspec.field(default="", name="as")


class ParallelStep(_Step, tag="parallel"):
    """Do `each` for every item of a list, or all `branches`, side by side, and go on when all have ended."""

    over: str = ""
    item: str = "item"
    each: "Step | None" = None
    branches: "tuple[Step, ...]" = ()
    name: str = msgspec.field(default="", name="as")


class PipelineStep(_Step, tag="pipeline"):
    """Take every item of a list through the stages, each at its own pace; `previous` is what the stage before made."""

    over: str
    stages: "tuple[Step, ...]"
    item: str = "item"
    name: str = msgspec.field(default="", name="as")


class NestedStep(_Step, tag="workflow"):
    """Run another workflow as a part of this one; that one may have none of its own."""

    workflow: str
    args: dict[str, Any] = {}
    name: str = msgspec.field(default="", name="as")


Step: TypeAlias = PhaseStep | LogStep | AgentStep | ParallelStep | PipelineStep | NestedStep


class Workflow(Contract, forbid_unknown_fields=True):
    """A workflow. `args` is the schema of its arguments, `result` what a run comes to (default: its last step);
    `max_agents`, `max_usd` and `max_tokens` are the most that one run may use."""

    name: str
    description: str
    steps: tuple[Step, ...]
    args: dict[str, Any] = {}
    result: Any = None
    max_agents: int | None = None
    max_usd: float | None = None
    max_tokens: int | None = None
