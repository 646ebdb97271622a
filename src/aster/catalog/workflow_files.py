"""Workflows on the disk: `CATALOG_DIR/workflows/<name>.json`, read as a whole or not at all.

What a run could stumble over is found here: names that nothing has, schemas that are none, workflows in workflows in
workflows. They are the operator's, and lie where no tool can write.
"""

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Final

import msgspec

from aster.catalog import references
from aster.catalog.declaration import Wrong
from aster.catalog.references import roots
from aster.contracts.errors import EngineError
from aster.utility_directory.schema import compiled
from aster.utility_directory.workflow_steps import (
    AgentStep,
    LogStep,
    NestedStep,
    ParallelStep,
    PhaseStep,
    PipelineStep,
    Step,
    Workflow,
)

NAME: Final = re.compile(r"[a-z][a-z0-9_-]{0,63}")
MOST_WORKFLOWS: Final = 100
MOST_STEPS: Final = 200
MOST_AGENTS: Final = 1000
DESCRIPTION_CHARS: Final = 1000
_DEEPEST: Final = 8


def declared(data: bytes, stem: str) -> Workflow:
    """The workflow in a file; `Wrong` when it cannot be used."""
    try:
        workflow = msgspec.json.decode(data, type=Workflow)
    except (msgspec.DecodeError, RecursionError) as error:
        raise Wrong(str(error)) from None
    if NAME.fullmatch(workflow.name) is None or workflow.name != stem:
        raise Wrong(
            f"it declares the workflow {workflow.name!r}; give it and the file the same name (a-z, 0-9, _, -)"
        )
    if not workflow.description.strip() or len(workflow.description) > DESCRIPTION_CHARS:
        raise Wrong(f"`description` has to say what it is for, in at most {DESCRIPTION_CHARS} characters")
    if not workflow.steps:
        raise Wrong("`steps` has to have at least one step")
    if sum(1 for _ in every(workflow.steps)) > MOST_STEPS:
        raise Wrong(f"`steps` has to be at most {MOST_STEPS} steps altogether")
    _limits(workflow)
    _schema(workflow.args, "args")
    named = _steps(workflow.steps, frozenset(("args",)), 0)
    _known(workflow.result, named, "result")
    return workflow


def check_nested(workflows: dict[str, Workflow]) -> dict[str, str]:
    """What is wrong with workflows that run others, by name: there may be one level of that."""
    problems: dict[str, str] = {}
    for name, workflow in workflows.items():
        for step in every(workflow.steps):
            if not isinstance(step, NestedStep):
                continue
            inner = workflows.get(step.workflow)
            if inner is None:
                problems[name] = f"it runs the workflow {step.workflow!r}, and there is none"
            elif any(isinstance(one, NestedStep) for one in every(inner.steps)):
                problems[name] = f"it runs {step.workflow!r}, which runs another one itself; one level is the most"
    return problems


def files(root: Path) -> list[Path]:
    place = root / "workflows"
    return sorted(place.glob("[!.]*.json")) if place.is_dir() else []


def every(steps: Sequence[Step]) -> Iterator[Step]:
    """All steps, those within others too."""
    for step in steps:
        yield step
        yield from every(_inner(step))


def _inner(step: Step) -> Sequence[Step]:
    match step:
        case ParallelStep():
            return (*step.branches, *(() if step.each is None else (step.each,)))
        case PipelineStep():
            return step.stages
        case _:
            return ()


def _limits(workflow: Workflow) -> None:
    if workflow.max_agents is not None and not 1 <= workflow.max_agents <= MOST_AGENTS:
        raise Wrong(f"`max_agents` has to be 1 to {MOST_AGENTS}")
    if workflow.max_usd is not None and workflow.max_usd <= 0:
        raise Wrong("`max_usd` has to be more than 0")
    if workflow.max_tokens is not None and workflow.max_tokens <= 0:
        raise Wrong("`max_tokens` has to be more than 0")


def _steps(steps: Sequence[Step], named: frozenset[str], depth: int) -> frozenset[str]:
    """Check steps that are done one after the other; the names there are after them."""
    if depth > _DEEPEST:
        raise Wrong(f"steps are nested more than {_DEEPEST} deep")
    for step in steps:
        named = _step(step, named, depth)
    return named


def _step(step: Step, named: frozenset[str], depth: int) -> frozenset[str]:
    match step:
        case PhaseStep(title=text) | LogStep(message=text):
            _known(text, named, text[:40])
            return named
        case AgentStep():
            if not step.prompt.strip():
                raise Wrong("an agent's `prompt` has to say what it is to do")
            _known((step.prompt, step.label, step.phase), named, step.label or "agent")
            if step.output is not None:
                _schema(step.output, "schema")
        case ParallelStep():
            _parallel(step, named, depth)
        case PipelineStep():
            if not step.stages:
                raise Wrong("a pipeline has to have `stages`")
            _list(step.over, named)
            within = named | _name(step.item) | {"previous"}
            for stage in step.stages:
                _step(stage, within, depth + 1)
        case NestedStep():
            _known(step.args, named, f"workflow {step.workflow}")
    return named | _name(step.name) if step.name else named


def _parallel(step: ParallelStep, named: frozenset[str], depth: int) -> None:
    if (step.each is None) == (not step.branches) or (step.each is None) == bool(step.over):
        raise Wrong("a parallel step has either `over` with `each`, or `branches`")
    if step.each is not None:
        _list(step.over, named)
        _steps((step.each,), named | _name(step.item), depth + 1)
    for branch in step.branches:
        _steps((branch,), named, depth + 1)


def _list(over: str, named: frozenset[str]) -> None:
    if references.PLACE.fullmatch(over.strip()) is None:
        raise Wrong(f"`over` has to name one list, such as {{{{args.files}}}}, and is {over[:40]!r}")
    _known(over, named, "over")


def _name(name: str) -> frozenset[str]:
    if references.NAME.fullmatch(name) is None or name in ("args", "previous"):
        raise Wrong(f"{name[:40]!r} cannot be a name: use lowercase letters, digits and _, not args or previous")
    return frozenset((name,))


def _known(value: Any, named: frozenset[str], where: str) -> None:
    unknown = next((root for root in roots(value) if root not in named), None)
    if unknown is not None:
        raise Wrong(f"{where}: nothing is called {unknown!r} there")


def _schema(schema: dict[str, Any], field: str) -> None:
    try:
        compiled(field, schema, at_once=True)
    except EngineError as error:
        raise Wrong(f"`{field}` is no JSON Schema: {error.message}") from None
