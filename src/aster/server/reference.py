"""The OpenAPI document beyond what the routes say by themselves: the events of a stream, each with its schema."""

from typing import Any, Final, get_args

import msgspec
from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi

from aster.contracts.events import AnyEvent, Event
from aster.server.sse import MEDIA_TYPE

_COMPONENTS: Final = "#/components/schemas/"
_EVENT: Final = {"$ref": f"{_COMPONENTS}Event"}
_EXAMPLE: Final = (
    'id: 4\nevent: text_delta\ndata: {"type":"text_delta","task_id":"t1","turn_id":"turn-1","seq":4,'
    '"timestamp":"2026-04-27T12:34:56.000Z","text":"Hello"}\n\n'
)

STREAMED: Final[dict[str, Any]] = {
    "description": "Server-sent events: `id` is the sequence number, `event` the type, `data` one event as JSON."
    " A `heartbeat` or `reconnect` has no `id`.",
    "content": {MEDIA_TYPE: {"schema": _EVENT, "example": _EXAMPLE}},
    "headers": {
        name: {"description": text, "schema": {"type": "string"}}
        for name, text in {
            "X-Request-ID": "Names the request in the engine's log.",
            "X-Task-ID": "The task, percent-encoded where it is not plain ASCII.",
            "X-Turn-ID": "The turn (of a waiting message: the one it starts unless the running one takes it).",
            "X-Message-ID": "The message, for `edit_message_id` and `retry_message_id`.",
            "X-Aster-Warning": "Names fields of the body that were ignored.",
        }.items()
    },
}


def install(app: FastAPI) -> None:
    """Replace the document FastAPI would make by the same one with the events in it."""

    def document() -> dict[str, Any]:
        if app.openapi_schema is None:
            app.openapi_schema = _document(app)
        return app.openapi_schema

    app.openapi = document


def _document(app: FastAPI) -> dict[str, Any]:
    document = get_openapi(
        title=app.title, version=app.version, description=app.description, routes=app.routes, tags=app.openapi_tags
    )
    schemas = document.setdefault("components", {}).setdefault("schemas", {})
    schemas.update(event_schemas())
    schemas["EventsPage"]["properties"]["events"]["items"] = _EVENT
    for item in document["paths"].values():
        for operation in item.values():
            _settle_media_types(operation["responses"])
    return document


def _settle_media_types(responses: dict[str, Any]) -> None:
    """FastAPI writes a route's own media type on its refusals too; those are JSON wherever they come from."""
    for status, found in responses.items():
        content = found.get("content", {})
        if int(status) >= 400:
            found["content"] = {"application/json": next(iter(content.values()))}
        elif MEDIA_TYPE in content:
            content[MEDIA_TYPE]["schema"] = _EVENT


def event_schemas() -> dict[str, Any]:
    """The schema of every event, and `Event`, which is any of them."""
    kinds: tuple[type[Event], ...] = get_args(AnyEvent)
    found, components = msgspec.json.schema_components(kinds, ref_template=_COMPONENTS + "{name}")
    tags = {str(kind.__struct_config__.tag): schema["$ref"] for kind, schema in zip(kinds, found, strict=True)}
    union = {
        "title": "Event",
        "description": "What happened, at one place of one thread. New types and fields may be added.",
        "oneOf": list(found),
        "discriminator": {"propertyName": "type", "mapping": tags},
    }
    return {**components, "Event": union}
