"""Slash commands that only look: at this task, at what waits, at what is known."""

from typing import TYPE_CHECKING

from aster.cli.chat.command import Command
from aster.cli.screen.cards import whole
from aster.cli.screen.clean import one_line
from aster.cli.screen.plans import plan_lines
from aster.cli.screen.todos import todo_lines
from aster.client.transcript import Passage

if TYPE_CHECKING:
    from aster.cli.chat.session import Session


async def _expand(session: "Session", argument: str) -> bool:
    items = session.transcript.items
    if argument == "thinking":
        thought = [item.text for item in items if isinstance(item, Passage) and item.thinking and item.text.strip()]
        session.surface.show(thought[-1] if thought else "Nothing was thought aloud in this task.")
        return True
    cards = session.transcript.cards
    back = int(argument) if argument.isdecimal() and int(argument) else 1
    session.surface.show(whole(cards[-back]) if len(cards) >= back else "No tool has been called in this task.")
    return True


async def _plan(session: "Session", argument: str) -> bool:
    plan = session.transcript.plan
    session.surface.show("This task has no plan." if plan is None else plan_lines(plan))
    return True


async def _todo(session: "Session", argument: str) -> bool:
    session.surface.show(
        "\n".join(todo_lines(session.transcript.todos)) or "This task has no list of things to do."
    )
    return True


async def _doubts(session: "Session", argument: str) -> bool:
    open_ = [doubt for doubt in session.transcript.doubts.values() if not doubt.resolved]
    lines = [f"{doubt.item} (impact {doubt.impact}/5): {one_line(doubt.text, 100)}" for doubt in open_]
    session.surface.show("\n".join(lines) or "Nothing is uncertain in this task.")
    return True


async def _context(session: "Session", argument: str) -> bool:
    page = await session.client.context.calls(session.task_id, limit=1)
    if not page.calls:
        session.surface.show("No model has been called in this task.")
        return True
    call = await session.client.context.call(session.task_id, page.calls[0].call)
    window = f" of {call.window:,}" if call.window else ""
    cached = f", {call.cached_tokens:,} of {call.input_tokens:,} from the cache" if call.input_tokens else ""
    head = f"The last call had about {call.total_tokens:,}{window} tokens{cached} ({one_line(call.model, 60)})."
    blocks = [f"{one.tokens:>9,}  {one_line(one.block, 40)} ({one_line(one.source, 60)})" for one in call.blocks]
    session.surface.show("\n".join([head, *blocks]))
    return True


async def _cost(session: "Session", argument: str) -> bool:
    task = await session.client.task(session.task_id)
    given, made = sum(turn.input_tokens for turn in task.turns), sum(turn.output_tokens for turn in task.turns)
    calls, cost = sum(turn.model_calls for turn in task.turns), sum(turn.cost_usd for turn in task.turns)
    lines = [
        f"{one_line(turn.turn_id, 40)}  {turn.status:<9}  {turn.model_calls:>3} calls  "
        f"{turn.input_tokens:>9,} in {turn.output_tokens:>8,} out  ${turn.cost_usd:.4f}"
        for turn in task.turns
    ]
    total = f"{len(task.turns)} turns, {calls} model calls, {given:,} tokens in, {made:,} out: ${cost:.4f}"
    session.surface.show("\n".join([*lines, total]))
    return True


async def _permissions(session: "Session", argument: str) -> bool:
    found = await session.client.permissions.list()
    lines = [f"Mode: {session.manner.mode or found.mode}. {len(found.rules)} rules of the operator. Your grants:"]
    for grant in found.grants:
        until = f", until {grant.expires_at[:19]}" if grant.expires_at else ""
        what = f"{one_line(grant.tool, 40)}: {one_line(grant.pattern, 80)}"
        lines.append(f"{grant.grant_id}  {grant.behavior:<5}  {what} ({grant.scope}{until})")
    session.surface.show("\n".join(lines if found.grants else [*lines, "none"]))
    session.surface.notice("`aster permissions` changes them.")
    return True


async def _memory(session: "Session", argument: str) -> bool:
    if argument:
        found = await session.client.memory.search(argument, limit=10)
        lines = [f"{hit.id}  {hit.store:<9}  {one_line(hit.text, 100)}" for hit in found.hits]
        session.surface.show("\n".join(lines) or "Nothing is remembered about that.")
        return True
    stores = (await session.client.memory.statistics()).stores
    session.surface.show("\n".join(f"{one.store:<10} {one.records:>7,}" for one in stores))
    session.surface.notice("/memory TEXT searches; `aster memory` shows, corrects and forgets.")
    return True


async def _skills(session: "Session", argument: str) -> bool:
    found = [skill for skill in (await session.client.skills.list()).skills if argument in skill.name]
    width = max((len(skill.name) for skill in found), default=0)
    lines = [f"{one_line(skill.name, 60):<{width}}  {one_line(skill.description, 90)}" for skill in found]
    session.surface.show("\n".join(lines) or "There are no skills.")
    return True


async def _inbox(session: "Session", argument: str) -> bool:
    waiting = await session.client.pending()
    session.listed = tuple(request.task_id for request in waiting)
    lines = [
        f"{number:>2}. {one_line(request.task_id, 60)}  {request.kind}: {one_line(request.question, 80)}"
        for number, request in enumerate(waiting, 1)
    ]
    session.surface.show("\n".join(lines) or "Nothing waits for you.")
    if lines:
        session.surface.notice("/resume NUMBER goes there; `aster inbox` answers them all.")
    return True


async def _agents(session: "Session", argument: str) -> bool:
    found = await session.client.agents.list()
    width = max((len(agent.name) for agent in found), default=0)
    lines = [
        f"{'*' if agent.name == session.manner.agent else ' '} {agent.name:<{width}}  {one_line(agent.description, 90)}"
        for agent in found
    ]
    session.surface.show("\n".join(lines) or "There are no agents.")
    return True


COMMANDS = {
    "expand": Command(
        "/expand [N|thinking]", "the last tool call (or the Nth last) whole, or the thinking", _expand
    ),
    "plan": Command("/plan", "the newest plan and where it stands", _plan),
    "todo": Command("/todo", "the agent's list of what is to do", _todo),
    "doubts": Command("/doubts", "what the agent does not know or only assumes", _doubts),
    "context": Command("/context", "what the last model call was shown, and how full it was", _context),
    "cost": Command("/cost", "tokens and money of this task, turn by turn", _cost),
    "permissions": Command("/permissions", "what tools may do without asking", _permissions),
    "memory": Command("/memory [TEXT]", "search what is remembered, or how much there is", _memory),
    "skills": Command("/skills [TEXT]", "the skills there are", _skills),
    "inbox": Command("/inbox", "everything that waits for a person, over all tasks", _inbox),
    "agents": Command("/agents", "the agents there are", _agents),
}
