"""Act: run the tool calls of a step, in consecutive batches, each exactly once.

It can be entered at any point: it looks at where each call stands (asked, answered, issued, done) and does what
is next. The intent of a call that must not happen twice is durable before it runs; a call that was running when the
engine died is run again only if that is safe.
"""

from dataclasses import replace
from itertools import groupby
from typing import TypeAlias

from aster.contracts.events import Event, HitlRequest, PermissionPrompt
from aster.contracts.tools import ToolOutcome
from aster.contracts.turn import CallState
from aster.engine_core import client_tools, grounding, ledger, uncertainty
from aster.engine_core.agents import children, isolation, spawning
from aster.engine_core.hooks import points
from aster.engine_core.hooks.settings import HookEvent
from aster.engine_core.permissions import advised
from aster.engine_core.replaying import answering
from aster.engine_core.running import Entry, finish, run_together, unreadable
from aster.engine_core.services import Services
from aster.engine_core.signals import Suspended
from aster.engine_core.turn import Turn
from aster.engine_core.verdict import Ask, Done, Run, Verdict, Wait, hooked, judge
from aster.sandbox.permissions import Decision
from aster.sandbox.policy import Policy
from aster.utility_directory.tool_runtime import Prepared, batches

Readied: TypeAlias = tuple[CallState, Prepared | ToolOutcome]
"""A call with what the tool runtime made of it."""


async def act(turn: Turn, services: Services) -> None:
    """Give every call of the current step its one result; raises `Suspended` when a person is needed first."""
    if turn.state.request.replay is not None:
        answering.act(turn, services, turn.state.request.replay)
        return
    if not turn.state.unresolved:
        return
    workspace = await grounding.ground(turn, services)
    for group in _groups([(call, _prepare(turn, services, call)) for call in turn.state.calls.values()]):
        open_calls = [(call, prepared) for call, prepared in group if call.result is None]
        if open_calls and turn.moved:
            workspace = await grounding.ground(turn, services)
        entries = [
            Entry(call, prepared, isolation.context_of(turn, services, workspace, call))
            for call, prepared in open_calls
        ]
        if entries:
            await _run_group(turn, services, entries)
    advice = advised(turn.state)
    if advice is not None:
        turn.write(advice)


def _prepare(turn: Turn, services: Services, call: CallState) -> Prepared | ToolOutcome:
    wrong = unreadable(call)
    if wrong is not None:
        return wrong
    tools = services.connectors.tools(turn.key.user_id)
    return client_tools.prepare(turn.state.request, tools, call.call)


def _groups(calls: list[Readied]) -> list[list[Readied]]:
    """Consecutive calls that may run together; a call that cannot run at all stands alone."""
    groups: list[list[Readied]] = []
    rest = iter(calls)
    for runnable, run in groupby((prepared for _, prepared in calls), lambda item: isinstance(item, Prepared)):
        items = list(run)
        sizes = [len(batch) for batch in batches([i for i in items if isinstance(i, Prepared)])]
        groups += [[next(rest) for _ in range(size)] for size in (sizes if runnable else [1] * len(items))]
    return groups


async def _run_group(turn: Turn, services: Services, group: list[Entry]) -> None:
    questions: list[Event] = []
    ready: list[tuple[Entry, Run]] = []
    waiting = False
    policy = await services.permissions.policy(turn.key, turn.state)
    for given in group:
        held = None if isinstance(given.prepared, ToolOutcome) else grounding.held_up(turn, given.prepared.tool)
        entry, refused = (given, held) if held else await _considered(turn, services, given)
        match Done(refused) if refused else await _verdict(turn, services, entry, policy):
            case Done(outcome, by_tool):
                finish(turn, services, entry.call, outcome, None, trusted=not by_tool)
            case Ask(events):
                questions += events
                waiting = True
            case Wait():
                waiting = True
            case Run(prepared) as run if prepared.tool.hands_over(prepared.input, entry.context, policy):
                problem = await spawning.begin(turn, services, entry.call, run)
                if problem is not None:
                    finish(turn, services, entry.call, problem, None, trusted=True)
                waiting = waiting or entry.call.result is None
            case Run() as run:
                ready.append((replace(entry, context=replace(entry.context, policy=policy)), run))
    if questions:
        turn.write(*questions)
        for question in questions:
            if isinstance(question, HitlRequest):
                services.raven.hitl_opened(question.kind)
    if ready:
        await run_together(turn, services, ready)
    if waiting or any(entry.call.open_question for entry, _ in ready):
        raise Suspended


async def _verdict(turn: Turn, services: Services, entry: Entry, policy: Policy) -> Verdict:
    """What to do with a call; before a person is asked for permission, the operator's hooks may answer."""
    child = entry.call.child
    if child is not None:
        return Wait() if child.status == "running" else Done(children.outcome(child), by_tool=True)
    context = replace(entry.context, policy=policy)
    held = uncertainty.hold(turn, services, replace(entry, context=context), policy)
    if held is not None:
        return held
    verdict = await judge(entry.call, entry.prepared, context, services)
    prompt = verdict.events[0] if isinstance(verdict, Ask) else None
    if not isinstance(prompt, PermissionPrompt) or isinstance(entry.prepared, ToolOutcome):
        return verdict
    heard = await points.asking(turn, services, entry.call, prompt.reason)
    if heard is None:
        return verdict
    if heard.blocked is not None:
        return Done(points.refused(entry.call, heard.blocked))
    asked = Decision(behavior="ask", decided_by=prompt.decided_by or "judgement")
    settled = hooked(asked, heard.permission)
    if settled.behavior == "deny":
        return Done(points.refused(entry.call, settled.reason))
    return Run(entry.prepared) if settled.behavior == "allow" else verdict


async def _considered(turn: Turn, services: Services, entry: Entry) -> tuple[Entry, ToolOutcome | None]:
    """A call as the ledger and the hooks leave it, with its outcome if one of them does not let it run. Only a call
    that has neither begun nor been asked about is considered."""
    if isinstance(entry.prepared, ToolOutcome) or entry.call.issued or entry.call.questions:
        return entry, None
    refused = ledger.refusal(turn.state, entry.call.call, entry.prepared.tool.setter)
    if refused is None and HookEvent.PRE_TOOL_USE in services.hooks:
        refused = await points.before(turn, services, entry.call)
        entry = replace(entry, prepared=_prepare(turn, services, entry.call))
    return entry, refused
