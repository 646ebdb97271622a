"""Patterns: calls of tools that a person's turns have made again and again, in the same order, and made of them a skill
with parameters for what was different each time.

It is decided by form alone, without a model. What failed, what holds a secret, and what a composed skill could not call
is never part of one; a value that is not the same in every turn is a parameter, or there is no pattern.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, Final, NamedTuple, cast

from aster.skills.composed import NOT_STEPS, Composed, Step, problems

LEAST_TURNS: Final = 3
LEAST_STEPS: Final = 2
MOST_STEPS: Final = 6
MOST_CALLS: Final = 60
"""Calls of one turn that are looked at."""
COMMAND: Final = "bash"
_ASIDE: Final = frozenset(("update_plan", "todo_write", "remember", "memory_write", "memory_search", "load_skill"))
"""Calls about the work itself, which are no part of it."""
_FOR_PEOPLE: Final = frozenset({"description"})
_PLACE: Final = re.compile(r"\$\{?[A-Za-z_]")
_UNFIT: Final = re.compile(r"[^A-Za-z0-9_]+")

Key = tuple[str, ...]


class Call(NamedTuple):
    """A call that a turn made, whether it went well, and what it said."""

    tool: str
    given: dict[str, Any]
    ok: bool
    said: str = ""


class Seen(NamedTuple):
    """A recorded turn: where it stands, what the person asked, and the calls it made."""

    task_id: str
    turn_id: str
    first_seq: int
    last_seq: int
    question: str
    calls: tuple[Call, ...]


class Pattern(NamedTuple):
    """Calls that recur, as a skill, and the turns they were made in, the newest first. The key is the same for the same
    calls whatever they were given."""

    key: Key
    composed: Composed
    turns: tuple[Seen, ...]


class _Differs(Exception):
    """What was given cannot be told apart into what stays and what changes."""


def found(
    turns: Sequence[Seen], known: Iterable[Key], tools: Sequence[str], secret: Callable[[str], bool]
) -> Iterator[Pattern]:
    """The patterns of these turns, those first that save most; none that is known, or is a part of one that is."""
    met: dict[Key, dict[str, tuple[Seen, int]]] = {}
    for seen in turns:
        for start, key in _windows(seen, secret):
            met.setdefault(key, {}).setdefault(seen.turn_id, (seen, start))
    often = [(key, places) for key, places in met.items() if len(places) >= LEAST_TURNS]
    often.sort(key=lambda one: (-len(one[0]) * len(one[1]), -len(one[0]), one[0]))
    told = list(known)
    for key, places in often:
        if any(_within(key, other) for other in told):
            continue
        occurrences = list(places.values())
        composed = _composed([seen.calls[at : at + len(key)] for seen, at in occurrences])
        if composed is None or any(problems(composed, tools)):
            continue
        told.append(key)
        yield Pattern(key, composed, tuple(seen for seen, _ in occurrences))


def key_of(composed: Composed) -> Key:
    """The key of a skill's own calls."""
    return tuple(_mark(step.tool, step.input) for step in composed.steps)


def _windows(seen: Seen, secret: Callable[[str], bool]) -> Iterator[tuple[int, Key]]:
    calls = seen.calls[:MOST_CALLS]
    marks = [_mark(call.tool, call.given) if _usable(call, secret) else None for call in calls]
    for start in range(len(marks)):
        for end in range(start + LEAST_STEPS, min(start + MOST_STEPS, len(marks)) + 1):
            part = [mark for mark in marks[start:end] if mark is not None]
            if len(part) < end - start:
                break
            yield start, tuple(part)


def _usable(call: Call, secret: Callable[[str], bool]) -> bool:
    return call.ok and call.tool not in NOT_STEPS | _ASIDE and not any(map(secret, _texts(call.given)))


def _mark(tool: str, given: dict[str, Any]) -> str:
    """What makes a call the same as another: the tool, the names of what it is given, and a command as it is."""
    command = str(given.get("command", "")) if tool == COMMAND else ""
    return " ".join((tool, *sorted(_paths(_given(tool, given))), command)).strip()


def _given(tool: str, given: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in given.items() if tool != COMMAND or name not in _FOR_PEOPLE}


def _paths(value: Any, above: str = "") -> Iterator[str]:
    if isinstance(value, dict):
        for name, each in cast("dict[str, Any]", value).items():
            yield from _paths(each, f"{above}.{name}" if above else name)
    elif isinstance(value, list):
        for number, each in enumerate(cast("list[Any]", value)):
            yield from _paths(each, f"{above}[{number}]")
    else:
        yield above


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for each in cast("dict[str, Any]", value).values():
            yield from _texts(each)
    elif isinstance(value, list):
        for each in cast("list[Any]", value):
            yield from _texts(each)


def _within(key: Key, other: Key) -> bool:
    return any(other[at : at + len(key)] == key for at in range(len(other) - len(key) + 1))


def _composed(occurrences: Sequence[Sequence[Call]]) -> Composed | None:
    """The calls with what stays as it was and parameters for the rest; None when that cannot be told."""
    making = _Making(occurrences)
    try:
        steps = tuple(making.step(number) for number in range(len(occurrences[0])))
    except _Differs:
        return None
    saved = making.saved
    steps = tuple(
        Step(tool=step.tool, input=step.input, save_as=saved.get(number, "")) for number, step in enumerate(steps)
    )
    return Composed(parameters=tuple(making.parameters.values()), steps=steps)


class _Making:
    """`parameters` are named by the values they had, one of each turn; `saved` are the steps whose words are used."""

    def __init__(self, occurrences: Sequence[Sequence[Call]]) -> None:
        self._occurrences = occurrences
        self.parameters: dict[tuple[str, ...], str] = {}
        self.saved: dict[int, str] = {}

    def step(self, number: int) -> Step:
        calls = [calls[number] for calls in self._occurrences]
        tool = calls[0].tool
        given = self._made([_given(tool, call.given) for call in calls], "value", number)
        return Step(tool=tool, input=given)

    def _made(self, values: Sequence[Any], name: str, number: int) -> Any:
        first = values[0]
        if isinstance(first, dict):
            names = list(cast("dict[str, Any]", first))
            return {each: self._made([value[each] for value in values], each, number) for each in names}
        if isinstance(first, list):
            length = len(cast("list[Any]", first))
            return [self._made([value[at] for value in values], name, number) for at in range(length)]
        if all(value == first and type(value) is type(first) for value in values):
            if isinstance(first, str) and _PLACE.search(first):
                raise _Differs
            return first
        if not all(isinstance(value, str) for value in values):
            raise _Differs
        return f"${{{self._named(tuple(map(str, values)), name, number)}}}"

    def _named(self, values: tuple[str, ...], name: str, number: int) -> str:
        for before in range(number):
            if self._said(before) == tuple(value.strip() for value in values) and all(values):
                return self.saved.setdefault(before, f"said_{before + 1}")
        if values not in self.parameters:
            plain = _UNFIT.sub("_", name).strip("_")[:40] or "value"
            plain = plain if not plain[0].isdigit() else f"p_{plain}"
            taken = set(self.parameters.values())
            self.parameters[values] = next(
                each for each in (plain, *(f"{plain}_{n}" for n in range(2, 100))) if each not in taken
            )
        return self.parameters[values]

    def _said(self, number: int) -> tuple[str, ...]:
        return tuple(calls[number].said.strip() for calls in self._occurrences)
