"""Slash commands that settle how things go from here on: who answers, with which model, how carefully, how it looks."""

from typing import TYPE_CHECKING, get_args

from aster.cli.chat import taste
from aster.cli.chat.command import Command
from aster.cli.screen.clean import one_line
from aster.cli.screen.terminal import TerminalSurface
from aster.cli.screen.themes import THEMES
from aster.contracts.permissions import PermissionMode
from aster.infra.settings import load

if TYPE_CHECKING:
    from aster.cli.chat.session import Session


async def _mode(session: "Session", argument: str) -> bool:
    if argument:
        mode = next((word for word in get_args(PermissionMode) if word == argument), None)
        if mode is None:
            session.surface.notice(f"Modes: {', '.join(get_args(PermissionMode))}.")
            return True
        session.manner.mode = mode
    session.surface.notice(f"The next message runs in mode {session.manner.mode or 'of the engine'}.")
    return True


async def _agent(session: "Session", argument: str) -> bool:
    if argument in ("main", "-"):
        session.manner.agent = None
    elif argument:
        known = [agent.name for agent in await session.client.agents.list()]
        if argument not in known:
            session.surface.notice(f"There is no agent {one_line(argument, 40)}; there are {', '.join(known)}.")
            return True
        session.manner.agent = argument
    session.surface.notice(f"The next message is answered by {session.manner.agent or 'the usual agent'}.")
    return True


async def _model(session: "Session", argument: str) -> bool:
    about = await session.client.about()
    if argument in ("usual", "-", about.model):
        session.manner.model = None
    elif argument in about.allowed_models and argument:
        session.manner.model = argument
    elif argument:
        session.surface.notice(f"{one_line(argument, 60)} is not among the models a message may ask for.")
    others = f" Others: {', '.join(about.allowed_models)}." if about.allowed_models else ""
    session.surface.notice(f"The next message goes to {session.manner.model or about.model}.{others}")
    return True


async def _theme(session: "Session", argument: str) -> bool:
    if not argument:
        session.surface.notice(f"Themes: {', '.join(THEMES)}.")
    elif argument not in THEMES:
        session.surface.notice(f"There is no theme {one_line(argument, 40)}; there are {', '.join(THEMES)}.")
    else:
        if isinstance(session.surface, TerminalSurface):
            session.surface.wear(THEMES[argument])
        taste.keep(argument, load().data_dir)
        session.surface.notice(f"Theme {argument}, from now on.")
    return True


COMMANDS = {
    "mode": Command("/mode [MODE]", "how careful the agent is: default, plan, auto or bypass", _mode),
    "agent": Command("/agent [NAME]", "who answers from here on; /agent main is the usual agent again", _agent),
    "model": Command("/model [NAME]", "which model answers from here on; /model usual is the engine's own", _model),
    "theme": Command("/theme [NAME]", "how the chat looks, now and the next time", _theme),
}
