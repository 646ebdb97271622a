"""The events page: every type with its fields, by family, and the types the fields are made of."""

import sys
from itertools import groupby

import msgspec
from msgspec import inspect

from aster.contracts.events import EVENT_TYPES, Event, Grade
from aster.reference import shapes
from aster.reference.markdown import code, page, prose, table

INTRO = """\
An event reaches a client as one SSE frame (`id: <seq>`, `event: <type>`, `data: <json>`) and is the same object on
the thread, in `GET /tasks/{task_id}/events` and in a replay. A field at its default is left out of the JSON; a
reader ignores fields and types it does not know.

A **record** stays on the thread for ever. A **delta** may be merged with its neighbours while it is written, and is
folded away some time after its turn: the block or result that follows it carries the whole."""

ENVELOPE = {
    "task_id": "The task whose thread this is.",
    "turn_id": "The turn it belongs to; absent for what happens to the task as a whole.",
    "seq": "The position on the thread: gapless, growing, the only cursor there is.",
    "timestamp": "When it was committed: ISO-8601 in UTC, with milliseconds.",
    "parent_turn_id": "For an event of a child agent: the turn that started it.",
    "depth": "How many agents stand between this one and the user.",
}


def render() -> str:
    envelope = [(code(field.name), shapes.name(field.type), ENVELOPE[field.name]) for field in shapes.fields(Event)]
    kinds = list(EVENT_TYPES.items())
    families = groupby(kinds, key=lambda item: item[1].__module__)
    return page(
        "Events",
        INTRO,
        "## The envelope\n\nEvery event has `type`, and:",
        table(("field", "type", "meaning"), envelope),
        *(_family(module, list(members)) for module, members in families),
        "## Types",
        *(_struct(kind) for kind in _parts()),
    )


def _family(module: str, members: list[tuple[str, type[Event]]]) -> str:
    title = module.rsplit(".", 1)[-1].capitalize()
    intro = prose(sys.modules[module].__doc__)
    return "\n\n".join([f"## {title}", intro, *(_event(name, kind) for name, kind in members)])


def _event(name: str, kind: type[Event]) -> str:
    grade = "A delta." if kind.grade is Grade.DELTA else ""
    about = " ".join(part for part in (prose(shapes.described(kind)), grade) if part)
    parts = (f"### {name}", about, shapes.field_table(shapes.own_fields(kind)))
    return "\n\n".join(part for part in parts if part)


def _parts() -> list[type[msgspec.Struct]]:
    found = {
        part
        for kind in EVENT_TYPES.values()
        for field in shapes.own_fields(kind)
        for part in shapes.mentioned(field.type)
    }
    return sorted(found, key=lambda kind: kind.__name__)


def _struct(kind: type[msgspec.Struct]) -> str:
    tag = shapes.tag(kind)
    mark = f"`type` is `{tag}`." if tag else ""
    about = " ".join(part for part in (prose(shapes.described(kind)), mark) if part)
    info = inspect.type_info(kind)
    assert isinstance(info, inspect.StructType)
    parts = (f"### {kind.__name__}", about, shapes.field_table(info.fields))
    return "\n\n".join(part for part in parts if part)
