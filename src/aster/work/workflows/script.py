"""Carrying out the steps of a workflow: what each of them means, and what the names in it stand for."""

from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, Final, cast

from aster.catalog.references import Bound, Missing, rendered, resolved
from aster.contracts.errors import EngineError
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
from aster.work.workflows.flow import Failed, Flow
from aster.work.workflows.journal import AgentCall

MOST_ITEMS: Final = 1000
PROMPT_CHARS: Final = 100_000
SAID_CHARS: Final = 2000
Scope = Mapping[str, Bound]


class Script:
    """A workflow, about to be carried out with these arguments; `check` finds another one for it to run, with its."""

    def __init__(
        self,
        workflow: Workflow,
        args: dict[str, Any],
        check: Callable[[str, dict[str, Any]], Workflow],
    ) -> None:
        self._workflow = workflow
        self._args = args
        self._check = check

    async def __call__(self, flow: Flow) -> Any:
        """Do all steps; what comes of them."""
        with _told():
            return (await self._whole(flow, self._workflow, Bound(self._args))).value

    async def _whole(self, flow: Flow, workflow: Workflow, args: Bound) -> Bound:
        scope, last = await self._steps(flow, workflow.steps, {"args": args})
        return last if workflow.result is None else resolved(workflow.result, scope)

    async def _steps(self, flow: Flow, steps: Sequence[Step], scope: Scope) -> tuple[Scope, Bound]:
        last = Bound(None)
        for step in steps:
            if isinstance(step, PhaseStep):
                flow.phase = rendered(step.title, scope, _plainly)[:SAID_CHARS]
                await flow.say("phase", "")
            elif isinstance(step, LogStep):
                await flow.say("log", rendered(step.message, scope, _plainly)[:SAID_CHARS])
            else:
                last = await self._step(flow, step, scope)
                scope = {**scope, step.name: last} if step.name else scope
        return scope, last

    async def _step(self, flow: Flow, step: Step, scope: Scope) -> Bound:
        with _told():
            return await self._done(flow, step, scope)

    async def _done(self, flow: Flow, step: Step, scope: Scope) -> Bound:
        match step:
            case AgentStep():
                return await self._agent(flow, step, scope)
            case ParallelStep():
                return await self._parallel(flow, step, scope)
            case PipelineStep():
                items = _items(step.over, scope)
                done = await flow.together([self._stages(flow, step, scope, item) for item in items])
                return Bound([one.value for one in done], any(one.outside for one in done))
            case NestedStep():
                args = resolved(step.args, scope)
                return await self._whole(flow, self._nested(step.workflow, args), args)
            case _:
                return (await self._steps(flow, (step,), scope))[1]

    def _nested(self, name: str, args: Bound) -> Workflow:
        try:
            return self._check(name, args.value)
        except EngineError as error:
            raise Failed(error.message) from None

    async def _agent(self, flow: Flow, step: AgentStep, scope: Scope) -> Bound:
        prompt = rendered(step.prompt, scope, flow.quote)
        if len(prompt) > PROMPT_CHARS:
            raise Failed(f"The prompt of an agent ({step.label}) would have {len(prompt):,} characters.")
        call = AgentCall(
            prompt=prompt, label=rendered(step.label, scope, _plainly), agent=step.agent, output=step.output
        )
        phase = flow.phase if step.phase is None else rendered(step.phase, scope, _plainly)
        return Bound(await flow.agent(call, phase[:SAID_CHARS]), outside=True)

    async def _parallel(self, flow: Flow, step: ParallelStep, scope: Scope) -> Bound:
        if step.each is None:
            works = [self._step(flow, branch, scope) for branch in step.branches]
        else:
            each = step.each
            works = [self._step(flow, each, {**scope, step.item: item}) for item in _items(step.over, scope)]
        done = await flow.together(works)
        return Bound([one.value for one in done], any(one.outside for one in done))

    async def _stages(self, flow: Flow, step: PipelineStep, scope: Scope, item: Bound) -> Bound:
        previous = item
        for stage in step.stages:
            within = {**scope, step.item: item, "previous": previous}
            previous = await self._step(flow, stage, within)
        return previous


def _items(over: str, scope: Scope) -> list[Bound]:
    value, outside = resolved(over, scope)
    if not isinstance(value, list):
        raise Failed(f"{over} has to be a list, and is none.")
    items = cast("list[Any]", value)
    if len(items) > MOST_ITEMS:
        raise Failed(f"{over} has {len(items)} items, and {MOST_ITEMS} is the most.")
    return [Bound(item, outside) for item in items]


@contextmanager
def _told() -> Generator[None]:
    """What is missing ends a run like any failure."""
    try:
        yield
    except Missing as missing:
        raise Failed(f"A step cannot be done: {missing}.") from None


def _plainly(text: str) -> str:
    return text
