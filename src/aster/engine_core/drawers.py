"""Tools that a model has opened: read from its conversation, so that it is the same after a crash, in the next turn and
in a replay. Nothing is opened that the operator has switched off, nor for agents that work for others."""

from collections.abc import Iterable, Mapping
from typing import Any, Final

from aster.contracts.blocks import ToolUseBlock
from aster.contracts.messages import Message
from aster.engine_core.services import Services
from aster.engine_core.turn import Turn
from aster.infra.settings import Settings
from aster.utility_directory.open_tools import NAME, OPENED
from aster.utility_directory.places import BOARD, CLOSED, FREE, PROJECTS, REPOSITORY

_SETTING: Final = {BOARD: "work_tools", REPOSITORY: "work_tools", FREE: "team_tools", PROJECTS: "project_tools"}


def begin(turn: Turn, services: Services) -> None:
    """Find out what may be opened in a turn that begins, and what has been."""
    request = turn.state.request
    if request.isolated or request.parent is not None or not _left(turn, services.settings):
        return
    turn.places |= {CLOSED}
    open_up(turn, services, _said(turn.seen))


def follow(turn: Turn, services: Services) -> None:
    """Open what the newest step asked for."""
    if CLOSED in turn.places:
        calls = (call for call in turn.state.calls.values() if call.call.name == NAME and call.result is not None)
        open_up(turn, services, (call.call.input for call in calls))


def open_up(turn: Turn, services: Services, asked: Iterable[Mapping[str, Any]]) -> None:
    """Add what was asked for to the places of a turn, as far as its workspace and its company allow."""
    wanted = {place for given in asked for kind in given.get("kinds", ()) for place in OPENED.get(kind, ())}
    fitting = wanted & _left(turn, services.settings)
    if REPOSITORY in fitting and not services.workspaces.repository(*turn.home):
        fitting -= {REPOSITORY}
    turn.places |= fitting


def _left(turn: Turn, settings: Settings) -> set[str]:
    """What could be opened: what is offered by itself only to those who use it, and is not open yet."""
    left = {place for place, setting in _SETTING.items() if getattr(settings, setting) == "auto"} - turn.places
    if turn.state.request.unattended or turn.seat is not None:
        left -= {FREE}
    return left


def _said(messages: Iterable[Message]) -> Iterable[Mapping[str, Any]]:
    return (
        block.input
        for message in messages
        if message.role == "assistant"
        for block in message.content
        if isinstance(block, ToolUseBlock) and block.name == NAME
    )
