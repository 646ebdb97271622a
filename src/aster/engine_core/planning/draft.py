"""A draft: what the planner is asked, and how its answer is read.

A plan that was cut off, is no JSON, or breaks the rules of a plan is never taken, not even in part. The planner sees
the person's words and, for a revision, what failed, as data between marks; it has no tools and allows nothing.
"""

from typing import Any, Final

import msgspec

from aster.contracts.blocks import TextBlock, text_of
from aster.contracts.events import Plan, PlanStep
from aster.contracts.events.plan import PlanJoin
from aster.contracts.llm import LLMResponse, StopReason
from aster.contracts.messages import Message
from aster.contracts.model import Contract, encode
from aster.utility_directory.plan_tree import UnsoundPlan, rendered

MOST_STEPS: Final = 20
LEAST_STEPS: Final = 2
QUOTED_CHARS: Final = 20_000
EARLIER_CHARS: Final = 2_000
ID_CHARS: Final = 40
LINE_CHARS: Final = 500

INSTRUCTIONS: Final = f"""\
You plan work that somebody else will do with tools. Read the request and answer with one JSON object:
{{"goal": "...", "steps": [{{"id": "s1", "text": "...", "depends_on": [], "parent": null, "join": "all",
"done_when": null, "alternative_to": null}}]}}

Steps are orders, each one piece of work that can be checked, in the order they are done, {LEAST_STEPS} to {MOST_STEPS}
of them, as few as will do. `depends_on` names steps that must be done before. `parent` names the step this one is a
part of; `join` says whether all, any or the best of a step's parts are needed. `done_when` is a few words that the
result will show; `alternative_to` names the step this one replaces if that fails. If the request needs no plan,
answer with no steps. Plan only what was asked. Write in the language of the request. No other text."""

REVISE: Final = """\
The plan below is under way and several tool calls have failed. Answer with all steps that are still to be done, those
that change and those that stay; what is completed stays by itself. Take another way where the old one failed."""

_NAME: Final = {"type": ["string", "null"]}
SCHEMA: Final[dict[str, Any]] = {
    "type": "object",
    "properties": {
        "goal": {"type": "string"},
        "steps": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {
                    "id": {"type": "string"},
                    "text": {"type": "string"},
                    "depends_on": {"type": "array", "items": {"type": "string"}},
                    "parent": _NAME,
                    "join": {"type": "string", "enum": ["all", "any", "best"]},
                    "done_when": _NAME,
                    "alternative_to": _NAME,
                },
                "required": ["id", "text", "depends_on", "parent", "join", "done_when", "alternative_to"],
                "additionalProperties": False,
            },
        },
    },
    "required": ["goal", "steps"],
    "additionalProperties": False,
}


class DraftStep(Contract):
    id: str
    text: str
    depends_on: tuple[str, ...] | None = None
    parent: str | None = None
    join: PlanJoin | None = None
    done_when: str | None = None
    alternative_to: str | None = None

    def step(self) -> PlanStep:
        return PlanStep(
            id=_line(self.id, ID_CHARS),
            text=_line(self.text),
            depends_on=tuple(_line(name, ID_CHARS) for name in self.depends_on or ()),
            parent=_line(self.parent or "", ID_CHARS) or None,
            join=self.join or "all",
            done_when=_line(self.done_when or "") or None,
            alternative_to=_line(self.alternative_to or "", ID_CHARS) or None,
        )


class Draft(Contract):
    """What the planner answered: a goal and steps, or no steps for work that needs no plan."""

    goal: str = ""
    steps: tuple[DraftStep, ...] = ()


def read(response: LLMResponse) -> Draft:
    """The planner's answer; raises `UnsoundPlan` when it cannot be taken."""
    if response.stop_reason is not StopReason.END_TURN:
        raise UnsoundPlan(f"the plan was not finished ({response.stop_reason}); make it shorter")
    _, _, said = text_of(response.blocks).rpartition("</think>")
    body = said[said.find("{") : said.rfind("}") + 1]
    try:
        draft = msgspec.json.decode(body, type=Draft)
    except (msgspec.DecodeError, msgspec.ValidationError) as error:
        raise UnsoundPlan(f"the plan is not the JSON that was asked for: {error}") from None
    if len(draft.steps) > MOST_STEPS:
        raise UnsoundPlan(f"the plan has more than {MOST_STEPS} steps")
    return msgspec.structs.replace(draft, goal=_line(draft.goal))


def first(request: str, earlier: str, tools: tuple[str, ...]) -> Message:
    """What the planner is asked before the work begins."""
    told = {"request": request[:QUOTED_CHARS], "earlier": earlier[-EARLIER_CHARS:], "tools": tools}
    return _said(encode(told).decode())


def again(request: str, plan: Plan, failures: str) -> Message:
    """What the planner is asked when the work does not go as planned; the failures stand between marks already."""
    told = encode({"request": request[:QUOTED_CHARS]}).decode()
    return _said(f"{REVISE}\n\n{told}\n\nThe plan:\n{rendered(plan)}\n\nWhat failed:\n{failures}")


def corrected(problem: UnsoundPlan) -> Message:
    return _said(
        f"That plan cannot be taken: {problem}. Answer again with one whole JSON object, and with fewer words."
    )


def _line(text: str, most: int = LINE_CHARS) -> str:
    return " ".join(text.split())[:most]


def _said(text: str) -> Message:
    return Message(role="user", content=(TextBlock(text=text),))
