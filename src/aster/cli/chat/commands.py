"""What can be typed after a slash."""

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, NamedTuple, TypeAlias, get_args

from aster.cli import compacted
from aster.cli.screen.cards import whole
from aster.cli.screen.clean import one_line
from aster.cli.screen.plans import plan_lines
from aster.contracts.permissions import PermissionMode
from aster.infra.ids import new_id

if TYPE_CHECKING:
    from aster.cli.chat.session import Session

Action: TypeAlias = "Callable[[Session, str], Awaitable[bool]]"


class Command(NamedTuple):
    usage: str
    summary: str
    action: Action


async def obey(session: "Session", line: str) -> bool:
    """Run a slash command; says whether the chat goes on."""
    name, _, argument = line[1:].strip().partition(" ")
    command = COMMANDS.get(name)
    if command is None:
        session.surface.notice(f"There is no /{one_line(name, 40)}; /help lists the commands.")
        return True
    return await command.action(session, argument.strip())


async def _help(session: "Session", argument: str) -> bool:
    width = max(len(command.usage) for command in COMMANDS.values())
    lines = [f"{command.usage:<{width}}  {command.summary}" for command in COMMANDS.values()]
    session.surface.show("\n".join([*lines, "Ctrl-C cancels the running turn. Esc-Enter begins a new line."]))
    return True


async def _new(session: "Session", argument: str) -> bool:
    session.begin(new_id("task"))
    session.surface.notice(f"New task {session.task_id}.")
    return True


async def _tasks(session: "Session", argument: str) -> bool:
    page = await session.client.tasks(limit=20, search=argument or None)
    lines = [f"{task.task_id}  {task.status:<9}  {one_line(task.title, 60)}" for task in page.tasks]
    session.surface.show("\n".join(lines) or "There are no tasks.")
    return True


async def _resume(session: "Session", argument: str) -> bool:
    if not argument:
        session.surface.notice("Say which: /resume ID (/tasks lists them).")
        return True
    await session.client.task(argument)
    await session.open(argument)
    session.surface.notice(f"Task {session.task_id}.")
    return True


async def _cancel(session: "Session", argument: str) -> bool:
    done = await session.client.cancel(session.task_id, clear_inbox=True)
    session.surface.notice(f"Cancelled {done.turn_id}.")
    return True


async def _expand(session: "Session", argument: str) -> bool:
    cards = session.transcript.cards
    session.surface.show(whole(cards[-1]) if cards else "No tool has been called in this task.")
    return True


async def _plan(session: "Session", argument: str) -> bool:
    plan = session.transcript.plan
    session.surface.show("This task has no plan." if plan is None else plan_lines(plan))
    return True


async def _doubts(session: "Session", argument: str) -> bool:
    open_ = [doubt for doubt in session.transcript.doubts.values() if not doubt.resolved]
    lines = [f"{doubt.item} (impact {doubt.impact}/5): {one_line(doubt.text, 100)}" for doubt in open_]
    session.surface.show("\n".join(lines) or "Nothing is uncertain in this task.")
    return True


async def _compact(session: "Session", argument: str) -> bool:
    session.surface.notice(compacted.sentence(await session.client.compact(session.task_id, argument or None)))
    return True


async def _fork(session: "Session", argument: str) -> bool:
    seq = int(argument) if argument.isdecimal() else session.transcript.seq
    if not seq:
        session.surface.notice("There is nothing to fork yet.")
        return True
    made = await session.client.fork(session.task_id, seq)
    await session.open(made.task_id)
    session.surface.notice(f"Forked {made.from_task_id} at {made.from_seq}. Task {made.task_id}.")
    return True


async def _mode(session: "Session", argument: str) -> bool:
    if argument:
        mode = next((word for word in get_args(PermissionMode) if word == argument), None)
        if mode is None:
            session.surface.notice(f"Modes: {', '.join(get_args(PermissionMode))}.")
            return True
        session.mode = mode
    session.surface.notice(f"The next message runs in mode {session.mode or 'of the engine'}.")
    return True


async def _agents(session: "Session", argument: str) -> bool:
    found = await session.client.agents.list()
    width = max((len(agent.name) for agent in found), default=0)
    lines = [
        f"{'*' if agent.name == session.agent else ' '} {agent.name:<{width}}  {one_line(agent.description, 90)}"
        for agent in found
    ]
    session.surface.show("\n".join(lines) or "There are no agents.")
    return True


async def _agent(session: "Session", argument: str) -> bool:
    if argument in ("main", "-"):
        session.agent = None
    elif argument:
        known = [agent.name for agent in await session.client.agents.list()]
        if argument not in known:
            session.surface.notice(f"There is no agent {one_line(argument, 40)}; there are {', '.join(known)}.")
            return True
        session.agent = argument
    session.surface.notice(f"The next message is answered by {session.agent or 'the usual agent'}.")
    return True


async def _quit(session: "Session", argument: str) -> bool:
    return False


COMMANDS = {
    "help": Command("/help", "this list", _help),
    "new": Command("/new", "begin a new task", _new),
    "tasks": Command("/tasks [TEXT]", "the newest tasks, or those with a text in the title", _tasks),
    "resume": Command("/resume ID", "go on with another task", _resume),
    "cancel": Command("/cancel", "stop the task's turn and drop what waits", _cancel),
    "expand": Command("/expand", "the last tool call with its whole output", _expand),
    "plan": Command("/plan", "the newest plan and where it stands", _plan),
    "doubts": Command("/doubts", "what the agent does not know or only assumes", _doubts),
    "compact": Command("/compact [FOCUS]", "show the model a summary of what was said so far", _compact),
    "fork": Command("/fork [SEQ]", "a new task that begins where this one stands (or stood)", _fork),
    "mode": Command("/mode [MODE]", "how careful the agent is: default, plan, auto or bypass", _mode),
    "agent": Command("/agent [NAME]", "who answers from here on; /agent main is the usual agent again", _agent),
    "agents": Command("/agents", "the agents there are", _agents),
    "quit": Command("/quit", "leave (Ctrl-D too)", _quit),
}
