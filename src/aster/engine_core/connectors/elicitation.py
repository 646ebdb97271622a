"""A connected server's question to a person, and what the person's answer means to the server.

A form is answered by its fields as JSON, or by plain words where it has a single field; `decline` and `cancel` are
answers too. What does not fit the form is refused when it is given, so that the server only ever gets what it asked.
"""

import json
from typing import Any, Final, cast

import msgspec

from aster.asset_directory.actions import checkable
from aster.asset_directory.asking import Told, Wanted
from aster.brain.records import HitlRecord
from aster.contracts.events import HitlRequest
from aster.contracts.turn import Question
from aster.engine_core.boundary import defused
from aster.infra.clock import now_iso
from aster.infra.ids import new_id
from aster.utility_directory.schema import compiled
from aster.utility_directory.tool import ToolContext

KIND: Final = "elicitation"
NOBODY: Final = Told(action="cancel")
_DECLINE: Final = frozenset(("decline", "no", "n", "deny"))
_CANCEL: Final = frozenset(("cancel", "skip"))
_ACCEPT: Final = frozenset(("accept", "yes", "y", "ok", "done"))
_QUESTION_CHARS: Final = 4000


def request(wanted: Wanted, context: ToolContext, tool: str) -> HitlRequest:
    """The question as people are asked it."""
    asked: dict[str, Any] = {"server": wanted.server_name}
    if wanted.schema is not None:
        asked["requested_schema"] = wanted.schema
    if wanted.url is not None:
        asked["url"] = wanted.url
    text = defused(wanted.message)[:_QUESTION_CHARS]
    return HitlRequest(
        request_id=new_id("hitl"),
        kind=KIND,
        question=f"The server {wanted.server_name!r} asks: {text}",
        tool=tool,
        tool_call_id=context.tool_call_id,
        input=asked,
        options=("accept", "decline", "cancel"),
        reason="Its own words; give it nothing that it need not know.",
        created_at=now_iso(),
        state=wanted.state,
    )


def unfit(record: HitlRecord, text: str) -> str | None:
    """What is wrong with an answer to a server's question; None if it can be given."""
    asked: dict[str, Any] = msgspec.json.decode(record.input or b"{}")
    word = text.strip().lower()
    schema = asked.get("requested_schema")
    if word in _DECLINE | _CANCEL or (schema is None and word in _ACCEPT):
        return None
    if schema is None:
        return "accept (when you have been there), decline or cancel"
    content = _content(schema, text)
    if content is None:
        return "the form as a JSON object, decline or cancel"
    complaints = compiled("elicitation", checkable(schema), at_once=True)({**_defaults(schema), **content})
    return f"a form that fits ({'; '.join(complaints)})" if complaints else None


def told(question: Question) -> Told:
    """What a server is told."""
    answer, asked = question.answer, question.asked or {}
    text = answer.text if answer is not None else "cancel"
    word, schema = text.strip().lower(), asked.get("requested_schema")
    if word in _DECLINE:
        return Told(action="decline")
    if word in _CANCEL:
        return Told(action="cancel")
    if schema is None:
        return Told(action="accept")
    return Told(action="accept", content={**_defaults(schema), **(_content(schema, text) or {})})


def _defaults(schema: dict[str, Any]) -> dict[str, Any]:
    """What the form says of fields that are left out."""
    fields: dict[str, dict[str, Any]] = schema.get("properties") or {}
    return {name: field["default"] for name, field in fields.items() if "default" in field}


def _content(schema: dict[str, Any], text: str) -> dict[str, Any] | None:
    """The form that a text is: an object, or the value of the only field there is."""
    fields: dict[str, dict[str, Any]] = schema.get("properties") or {}
    try:
        value = json.loads(text)
    except ValueError:
        value = text
    if isinstance(value, dict):
        return cast("dict[str, Any]", value)
    if text.strip().lower() in _ACCEPT and not schema.get("required"):
        only: dict[str, Any] = next(iter(fields.values())) if len(fields) == 1 else {}
        if only.get("type") != "string":
            return {next(iter(fields)): True} if only.get("type") == "boolean" else {}
    if len(fields) != 1:
        return None
    name, field = next(iter(fields.items()))
    return {name: text if field.get("type") == "string" else value}
