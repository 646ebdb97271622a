"""Tools that a model has opened: read from its conversation, so that it is the same after a crash, in the next turn and
in a replay. A call that was refused opens nothing, and neither does one for what the operator has switched off, or of
an agent that works for another."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final, cast

from aster.contracts.blocks import ToolResultBlock, ToolUseBlock
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
        calls = (call for call in turn.state.calls.values() if call.call.name == NAME)
        went_well = (call for call in calls if call.result is not None and not call.result.is_error)
        open_up(turn, services, (call.call.input for call in went_well))


def open_up(turn: Turn, services: Services, asked: Iterable[Mapping[str, Any]]) -> None:
    """Add what was asked for to the places of a turn, as far as its workspace and its company allow."""
    wanted = {
        place for given in asked for kind, opened in OPENED.items() if kind in _kinds(given) for place in opened
    }
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


def _kinds(given: Mapping[str, Any]) -> list[Any]:
    """What a call names: as the model wrote it, which a hook may have had to put right."""
    kinds = given.get("kinds")
    return cast("list[Any]", kinds) if isinstance(kinds, list) else []


def _said(messages: Sequence[Message]) -> Iterable[Mapping[str, Any]]:
    """The input of the calls that went well."""
    blocks = [block for message in messages for block in message.content]
    calls = {block.id: block.input for block in blocks if isinstance(block, ToolUseBlock) and block.name == NAME}
    answers = (block for block in blocks if isinstance(block, ToolResultBlock)) if calls else ()
    return (calls[block.tool_use_id] for block in answers if block.tool_use_id in calls and not block.is_error)
