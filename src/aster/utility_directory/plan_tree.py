"""The rules of a plan: which shapes are sound, what a change makes of it, what is next.

A plan that is stored has no cycle, names no step it does not have, and never takes back what is done. A step with
parts stands where its parts put it; a step that says what it will show is not done before its result shows it.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from graphlib import CycleError, TopologicalSorter
from typing import Any, Final

import msgspec
from msgspec.structs import replace

from aster.contracts.events import Plan, PlanStep
from aster.contracts.events.plan import PlanStatus
from aster.contracts.model import to_builtins

MOST_STEPS: Final = 40
MOST_DEPTH: Final = 20
MOST_REVISIONS: Final = 3
SHOWN_SHARE: Final = 0.6

_SHAPE: Final = ("text", "depends_on", "parent", "join", "done_when", "alternative_to")
_OPEN: Final = ("pending", "in_progress")
_BOX: Final[Mapping[PlanStatus, str]] = {
    "pending": "[ ]",
    "in_progress": "[>]",
    "completed": "[x]",
    "failed": "[!]",
    "skipped": "[-]",
}
_WORD: Final = re.compile(r"\w{3,}")
_SMALL: Final = frozenset(("the", "and", "for", "not", "are", "has"))


class UnsoundPlan(Exception):
    """A plan or a change of one that breaks the rules; the message says which, for whoever made it."""


def begun(goal: str, steps: Sequence[PlanStep]) -> Plan:
    """A new plan."""
    if not goal.strip():
        raise UnsoundPlan("a plan needs a goal")
    return Plan(goal=goal, steps=_settled(_sound(steps)))


def changed(plan: Plan, changes: Iterable[Mapping[str, Any]], goal: str | None = None) -> Plan:
    """The plan after changes of steps, each with its `id` and what is new about it. A change of more than status and
    result is a revision, of which there are few."""
    steps = {step.id: step for step in plan.steps}
    reshaped = False
    touched: list[str] = []
    for change in changes:
        if change["id"] in touched:
            raise UnsoundPlan(f"step {change['id']} is there twice")
        known = steps.get(change["id"])
        step = _step(change) if known is None else _moved(known, change)
        reshaped = reshaped or known is None or any(getattr(known, name) != getattr(step, name) for name in _SHAPE)
        steps[step.id] = step
        touched.append(step.id)
    revision = _revision(plan) if reshaped else plan.revision
    sound = _sound(tuple(steps.values()))
    _check_order(sound, touched)
    return Plan(goal=goal or plan.goal, steps=_settled(sound), revision=revision)


def revised(plan: Plan, steps: Sequence[PlanStep]) -> Plan:
    """The plan with these steps in the place of what was still open. What is done or has failed stays on it."""
    drafted = {step.id: step for step in _sound(steps, partly=True)}
    kept: dict[str, PlanStep] = {}
    for step in plan.steps:
        if step.status == "completed" or step.id not in drafted:
            kept[step.id] = replace(step, status="skipped") if step.status in _OPEN else step
    fresh = {id_: step for id_, step in drafted.items() if id_ not in kept}
    sound = _sound((*kept.values(), *fresh.values()))
    return Plan(goal=plan.goal, steps=_settled(sound), revision=_revision(plan))


def unfinished(plan: Plan) -> bool:
    return any(step.status in _OPEN for step in plan.steps)


def active(plan: Plan) -> PlanStep | None:
    """What is under way, or else what can begin: a step without parts of its own."""
    leaves = [step for step in plan.steps if not _parts(plan.steps, step.id)]
    steps = {step.id: step for step in plan.steps}
    ready = (step for step in leaves if step.status == "pending" and not _waits_for(steps, step))
    return next((step for step in leaves if step.status == "in_progress"), None) or next(ready, None)


def shows(result: str, done_when: str) -> bool:
    """Whether a result shows what was to be shown: in so many words, or in most of them."""
    said, wanted = result.casefold(), done_when.casefold()
    words = set(_WORD.findall(wanted)) - _SMALL
    if wanted.strip() in said:
        return True
    return bool(words) and sum(word in said for word in words) >= SHOWN_SHARE * len(words)


def rendered(plan: Plan) -> str:
    """The plan as a person or a model reads it."""
    lines = [f"Goal: {plan.goal}", *_lines(plan.steps, None, 0)]
    following = active(plan)
    if following is not None:
        lines.append(f"{'Now' if following.status == 'in_progress' else 'Next'}: {following.id}")
    return "\n".join(lines)


def _lines(steps: Sequence[PlanStep], parent: str | None, depth: int) -> Iterable[str]:
    for step in _parts(steps, parent):
        notes = [f"after {', '.join(step.depends_on)}"] if step.depends_on else []
        notes += [f"if {step.alternative_to} fails"] if step.alternative_to else []
        notes += [f"done when: {step.done_when}"] if step.done_when and step.status in _OPEN else []
        notes += [f"{step.join} of its parts"] if step.join != "all" else []
        note = f" ({'; '.join(notes)})" if notes else ""
        yield f"{'  ' * depth}{_BOX[step.status]} {step.id}: {step.text}{note}"
        yield from _lines(steps, step.id, depth + 1)


def _parts(steps: Iterable[PlanStep], parent: str | None) -> list[PlanStep]:
    return [step for step in steps if step.parent == parent]


def _step(change: Mapping[str, Any]) -> PlanStep:
    if not str(change.get("text", "")).strip():
        raise UnsoundPlan(f"step {change['id']} is not on the plan; a new step needs a text")
    return _judged(msgspec.convert(change, PlanStep))


def _moved(known: PlanStep, change: Mapping[str, Any]) -> PlanStep:
    """A step after a change. What is done stays as it is, whatever is said about it later."""
    if known.status == "completed":
        return known
    return _judged(msgspec.convert({**to_builtins(known), **change}, PlanStep))


def _judged(step: PlanStep) -> PlanStep:
    """A step that is said to be done has to show it, if it has promised something."""
    if step.status != "completed" or step.done_when is None:
        return step
    if not step.result:
        raise UnsoundPlan(f"say in the result of {step.id} what shows this: {step.done_when}")
    return step if shows(step.result, step.done_when) else replace(step, status="failed")


def _revision(plan: Plan) -> int:
    if plan.revision > MOST_REVISIONS:
        raise UnsoundPlan(
            f"the steps were changed {MOST_REVISIONS} times already; finish or skip those there are, and say in the"
            " answer what is left"
        )
    return plan.revision + 1


def _sound(steps: Sequence[PlanStep], *, partly: bool = False) -> tuple[PlanStep, ...]:
    """The steps, if they can be a plan; those of a part may name steps of the rest."""
    if not 0 < len(steps) <= MOST_STEPS:
        raise UnsoundPlan(f"a plan has between 1 and {MOST_STEPS} steps")
    known = {step.id: step for step in steps}
    if len(known) != len(steps):
        raise UnsoundPlan("two steps have the same id")
    if any(not step.id.strip() or not step.text.strip() for step in steps):
        raise UnsoundPlan("a step has no id or no text")
    if partly:
        return tuple(steps)
    for step in steps:
        unknown = [name for name in _names(step) if name not in known]
        if unknown:
            raise UnsoundPlan(f"step {step.id} names {', '.join(unknown)}, which is no step of the plan")
    graph = {step.id: _waited_on(known, step) for step in steps}
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        circle: list[str] = error.args[1]
        raise UnsoundPlan(f"these steps wait for each other: {', '.join(dict.fromkeys(circle))}") from None
    return tuple(steps)


def _names(step: PlanStep) -> tuple[str, ...]:
    return (*step.depends_on, *filter(None, (step.parent, step.alternative_to)))


def _waited_on(steps: Mapping[str, PlanStep], step: PlanStep) -> set[str]:
    """Everything that has to be settled before this step is: its parts, and what it or a whole of it comes after."""
    after = {name for whole in (step, *_wholes(steps, step)) for name in _before(whole)}
    return after | {part.id for part in _parts(steps.values(), step.id)}


def _before(step: PlanStep) -> tuple[str, ...]:
    return (*step.depends_on, step.alternative_to) if step.alternative_to else step.depends_on


def _wholes(steps: Mapping[str, PlanStep], step: PlanStep) -> list[PlanStep]:
    """What the step is a part of, the nearest first."""
    found: list[PlanStep] = []
    while step.parent is not None:
        step = steps[step.parent]
        found.append(step)
        if len(found) > MOST_DEPTH:
            raise UnsoundPlan(f"steps are parts of each other, or nested more than {MOST_DEPTH} deep")
    return found


def _check_order(steps: Sequence[PlanStep], touched: Iterable[str]) -> None:
    known = {step.id: step for step in steps}
    for step in (known[id_] for id_ in touched):
        waits = _waits_for(known, step) if step.status in ("in_progress", "completed") else []
        if waits:
            raise UnsoundPlan(f"step {step.id} comes after {', '.join(waits)}: do or skip that first")


def _waits_for(steps: Mapping[str, PlanStep], step: PlanStep) -> list[str]:
    """What keeps a step from beginning; an alternative is kept by what has not failed."""
    waits: list[str] = []
    for whole in (step, *_wholes(steps, step)):
        waits += [name for name in whole.depends_on if not _fulfilled(steps, steps[name])]
        if whole.alternative_to and steps[whole.alternative_to].status != "failed":
            waits.append(whole.alternative_to)
    return waits


def _fulfilled(steps: Mapping[str, PlanStep], step: PlanStep) -> bool:
    if step.status != "failed":
        return step.status in ("completed", "skipped")
    return any(_fulfilled(steps, other) for other in steps.values() if other.alternative_to == step.id)


def _settled(steps: Sequence[PlanStep]) -> tuple[PlanStep, ...]:
    """The steps with what follows from others: wholes from their parts, alternatives that nobody needs any more."""
    known = {step.id: step for step in steps}
    deepest_first = sorted(steps, key=lambda step: -len(_wholes(known, step)))
    for step in deepest_first:
        if parts := _parts(known.values(), step.id):
            _join(known, known[step.id], parts)
    for step in known.values():
        other = known[step.alternative_to] if step.alternative_to else None
        if other is not None and other.status in ("completed", "skipped") and step.status == "pending":
            known[step.id] = replace(step, status="skipped")
    return tuple(known[step.id] for step in steps)


def _join(known: dict[str, PlanStep], whole: PlanStep, parts: Sequence[PlanStep]) -> None:
    """Put a step where its parts put it, and its parts where it puts them."""
    if whole.status in ("completed", "skipped"):
        _skip(known, parts)
        return
    done = [part for part in parts if part.status == "completed"]
    wanted = [part for part in parts if part.status != "skipped" and not _spare(known, part)]
    met = [part for part in wanted if _fulfilled(known, part)]
    over = not any(part.status in _OPEN for part in wanted)
    enough = bool(done) if whole.join == "any" else bool(done) and over
    if whole.join == "all":
        enough = bool(wanted) and len(met) == len(wanted)
    if enough:
        told = sorted(done, key=lambda part: -len(part.result or "")) if whole.join == "best" else done
        result = whole.result or (told[0].result if whole.join != "all" else None)
        known[whole.id] = replace(whole, status="completed", result=result)
        _skip(known, parts)
        return
    begun_ = bool(done) or any(part.status == "in_progress" for part in parts)
    ended: PlanStatus = "failed" if wanted else "skipped"
    known[whole.id] = replace(whole, status=ended if over else "in_progress" if begun_ else "pending")


def _skip(known: dict[str, PlanStep], parts: Sequence[PlanStep]) -> None:
    """Leave out what is still open of these, with all their parts."""
    for part in parts:
        if part.status in _OPEN:
            known[part.id] = replace(part, status="skipped")
            _skip(known, _parts(known.values(), part.id))


def _spare(known: Mapping[str, PlanStep], step: PlanStep) -> bool:
    """An alternative to something that has not failed."""
    return step.alternative_to is not None and known[step.alternative_to].status != "failed"
