"""Telling a model of the project that its task works for: what it is about, what is open, what came of what was done.

It stands at the end of the conversation when a turn begins, once, and again when it is another: no earlier message ever
changes, and where nothing has changed nothing is said. What does not fit is left out, and said to be.
"""

import hashlib
from collections.abc import Iterable, Sequence
from typing import Final

from aster.contracts.projects import Project, ProjectArtifact, ProjectNode, ProjectRecord
from aster.engine_core.assemble import boundary_of
from aster.engine_core.services import Services
from aster.engine_core.telling import told
from aster.engine_core.turn import Turn
from aster.skills.skill import one_line
from aster.utility_directory.places import PROJECTS

BRIEF_CHARS: Final = 2000
NOTES_CHARS: Final = 1000
ITEMS: Final = 20
RESULTS: Final = 10
RESULT_CHARS: Final = 800
EVENTS: Final = 5
LINE_CHARS: Final = 200
MARK: Final = "msg-project-"
_LEFT: Final = f"{MARK}left"


async def tell(turn: Turn, services: Services) -> None:
    """Tell a turn that begins of the project of its task, if it does not know it as it is."""
    if turn.state.model_calls or PROJECTS not in turn.places:
        return
    newest = next((m.id for m in reversed(turn.seen) if m.id is not None and m.id.startswith(MARK)), None)
    project = await services.brain.projects.active(turn.key)
    if project is None:
        if newest not in (None, _LEFT):
            turn.write(told("This task works for no project any more.", _LEFT))
        return
    text = await brief(services, project, turn.state.request.advance and turn.state.request.advance.item_id)
    message_id = f"{MARK}{hashlib.sha256(text.encode()).hexdigest()[:16]}"
    if newest != message_id:
        said = f"This task works for the project {project.title!r}. How it stands:\n{boundary_of(turn).quote(text)}"
        turn.write(told(said, message_id))


async def brief(services: Services, project: Project, item_id: str | None = None) -> str:
    """A project in a few words; for the turn of an item, with what came of what it waited for."""
    store, user_id = services.brain.projects, project.user_id
    nodes = await store.nodes(user_id, project.project_id)
    item = next((node.item for node in nodes if node.item.item_id == item_id), None)
    if item is not None:
        found = await store.artifacts(user_id, project.project_id, limit=RESULTS, item_ids=item.blocked_by or ("",))
    else:
        found = await store.results(user_id, project.project_id, RESULTS)
    events = () if item is not None else await store.records(user_id, project.project_id, limit=EVENTS)
    return "\n".join(
        (
            f"{project.project_id}, {project.status}{f': {project.reason}' if project.reason else ''}",
            *_part("What it is about", project.brief[:BRIEF_CHARS]),
            *_part("Notes", project.notes[:NOTES_CHARS]),
            *_items(nodes),
            *_results(found),
            *_events(events),
        )
    )


def _part(name: str, text: str) -> tuple[str, ...]:
    return (f"{name}: {text}",) if text else ()


def _items(nodes: Sequence[ProjectNode]) -> Iterable[str]:
    left = [node for node in nodes if node.item.status != "completed"]
    yield f"Items: {len(nodes) - len(left)} of {len(nodes)} are done."
    for node in left[:ITEMS]:
        item = node.item
        state = "in progress" if item.status == "in_progress" else "ready" if item.ready else "waits"
        yield f"{'  ' * node.depth}- [{state}] {item.item_id} {one_line(item.subject, LINE_CHARS)}"
    if len(left) > ITEMS:
        yield f"and {len(left) - ITEMS} more"


def _results(found: Sequence[ProjectArtifact]) -> Iterable[str]:
    for one in reversed(found):
        more = " (…)" if len(one.content) > RESULT_CHARS else ""
        yield f"Result of {one_line(one.name or one.item_id, LINE_CHARS)}: {one.content[:RESULT_CHARS]}{more}"


def _events(found: Sequence[ProjectRecord]) -> Iterable[str]:
    for one in reversed(found):
        yield f"Event: {one.kind} {one_line(one.message, LINE_CHARS)}".rstrip()
