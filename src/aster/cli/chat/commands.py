"""What can be typed after a slash: the whole list, and finding the one that is meant."""

import difflib
from typing import TYPE_CHECKING

from aster.cli.chat import aiming, looking, settling, wandering
from aster.cli.chat.command import Command
from aster.cli.screen.clean import one_line

if TYPE_CHECKING:
    from aster.cli.chat.session import Session

_KEYS = """\

Enter sends. Esc-Enter, Ctrl-J or a \\ at the end of a line begins a new line. Tab completes commands and @files.
Ctrl-R searches what you said before. Ctrl-O shows the last tool call whole. Ctrl-X Ctrl-E opens your editor.
While a turn runs: Enter steers it, Tab queues what you typed, Ctrl-O unfolds, Ctrl-C stops it and again leaves."""


async def obey(session: "Session", line: str) -> bool:
    """Run a slash command; says whether the chat goes on."""
    name, _, argument = line[1:].strip().partition(" ")
    command = COMMANDS.get(name)
    if command is None:
        near = difflib.get_close_matches(name[:40], COMMANDS, n=1, cutoff=0.5)
        meant = f" Did you mean /{near[0]}?" if near else ""
        session.surface.notice(f"There is no /{one_line(name, 40)}.{meant} /help lists the commands.")
        return True
    return await command.action(session, argument.strip())


async def _help(session: "Session", argument: str) -> bool:
    chosen = COMMANDS.get(argument.removeprefix("/"))
    if chosen is not None:
        session.surface.show(f"{chosen.usage}  {chosen.summary}")
        return True
    width = max(len(command.usage) for command in COMMANDS.values())
    lines = [f"{command.usage:<{width}}  {command.summary}" for command in COMMANDS.values()]
    session.surface.show("\n".join([*lines, _KEYS]))
    return True


async def _exit(session: "Session", argument: str) -> bool:
    return False


COMMANDS = {
    "help": Command("/help [COMMAND]", "this list", _help),
    **wandering.COMMANDS,
    **looking.COMMANDS,
    **settling.COMMANDS,
    **aiming.COMMANDS,
    "exit": Command("/exit", "leave (Ctrl-D too)", _exit),
    "quit": Command("/quit", "the same", _exit),
}
