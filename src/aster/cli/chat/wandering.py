"""Slash commands that go somewhere: to another task, or back in this one."""

from typing import TYPE_CHECKING

from aster.cli import compacted
from aster.cli.chat.command import Command
from aster.cli.screen.clean import one_line
from aster.client.transcript import Said
from aster.infra.ids import new_id

if TYPE_CHECKING:
    from aster.cli.chat.session import Session


async def _new(session: "Session", argument: str) -> bool:
    session.begin(new_id("task"))
    session.surface.notice(f"New task {session.task_id}.")
    return True


async def _tasks(session: "Session", argument: str) -> bool:
    page = await session.client.tasks(limit=20, search=argument or None)
    session.listed = tuple(task.task_id for task in page.tasks)
    lines = [
        f"{number:>2}. {one_line(task.task_id, 60)}  {task.status:<9}  {one_line(task.title, 60)}"
        for number, task in enumerate(page.tasks, 1)
    ]
    session.surface.show("\n".join(lines) or "There are no tasks.")
    return True


async def _resume(session: "Session", argument: str) -> bool:
    if not argument:
        await _tasks(session, "")
        session.surface.notice("Say which: /resume NUMBER or /resume ID.")
        return True
    numbered = argument.isdecimal() and 1 <= int(argument) <= len(session.listed)
    task_id = session.listed[int(argument) - 1] if numbered else argument
    await session.client.task(task_id)
    await session.open(task_id)
    session.surface.notice(f"Task {session.task_id}.")
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


async def _undo(session: "Session", argument: str) -> bool:
    words = argument.split()
    turn = next((word for word in words if word != "force"), None)
    done = await session.client.undo(session.task_id, turn, force="force" in words)
    lines = [f"{file.action} {one_line(file.path, 200)}" for file in done.files]
    session.surface.show("\n".join(lines) or "That turn changed no files.")
    return True


def _last_said(session: "Session") -> Said | None:
    said = (item for item in reversed(session.transcript.items) if isinstance(item, Said))
    return next(said, None)


async def _retry(session: "Session", argument: str) -> bool:
    last = _last_said(session)
    if last is None:
        session.surface.notice("You have said nothing in this task yet.")
        return True
    session.surface.said(last.text)
    await session.say("", retries=last.message_id)
    return True


async def _edit(session: "Session", argument: str) -> bool:
    last = _last_said(session)
    if last is None:
        session.surface.notice("You have said nothing in this task yet.")
    elif argument:
        await session.say(argument, edits=last.message_id)
    else:
        session.edits, session.draft = last.message_id, last.text
        session.surface.notice(
            "What you send now takes the place of your last message; Ctrl-C leaves it as it was."
        )
    return True


async def _cancel(session: "Session", argument: str) -> bool:
    done = await session.client.cancel(session.task_id, clear_inbox=True)
    session.surface.notice(f"Cancelled {done.turn_id}.")
    return True


async def _compact(session: "Session", argument: str) -> bool:
    session.surface.notice(compacted.sentence(await session.client.compact(session.task_id, argument or None)))
    return True


COMMANDS = {
    "new": Command("/new", "begin a new task", _new),
    "resume": Command("/resume [ID]", "go on with another task, by its id or its number in the list", _resume),
    "tasks": Command("/tasks [TEXT]", "the newest tasks, or those with a text in the title", _tasks),
    "fork": Command("/fork [SEQ]", "a new task that begins where this one stands (or stood)", _fork),
    "undo": Command("/undo [TURN] [force]", "make files what they were before the last turn (or another)", _undo),
    "retry": Command("/retry", "run your last message again", _retry),
    "edit": Command("/edit [TEXT]", "put another message in the place of your last one", _edit),
    "cancel": Command("/cancel", "stop the task's turn and drop what waits", _cancel),
    "compact": Command("/compact [FOCUS]", "show the model a summary of what was said so far", _compact),
}
