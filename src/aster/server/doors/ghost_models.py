"""What Ollama's clients ask before they chat: which version, which models, what they can; and a single prompt."""

from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import Any

from fastapi import APIRouter, Response
from fastapi.responses import JSONResponse

from aster import __version__
from aster.contracts.blocks import TextBlock
from aster.contracts.errors import ErrorCode
from aster.contracts.model import encode
from aster.contracts.turn import TurnOptions
from aster.engine_core.engine import Engine
from aster.infra.clock import iso_ms, now_iso
from aster.infra.ids import new_id
from aster.server.bodies import warnings
from aster.server.doors import ghost_refusal
from aster.server.doors.admission import Admitted, Wishes, admit
from aster.server.doors.chat_answer import ChatAnswer
from aster.server.doors.chat_completions import REFUSALS
from aster.server.doors.ghost import followed
from aster.server.doors.ghost_body import GenerateBody, named
from aster.server.doors.lines import Line
from aster.server.doors.models import AGENT, chosen, models
from aster.server.doors.stream import DoorStream, Write, headers_of
from aster.server.doors.turn import pieces
from aster.server.errors import refusals
from aster.server.media import Part, Text
from aster.server.visit import KEYED, Serving, Visit, Visiting

router = APIRouter(tags=["doors"], dependencies=KEYED)

_DETAILS: dict[str, Any] = {"format": "", "family": "aster", "families": ["aster"], "parameter_size": ""}


class ShowBody(Part):
    model: Text = AGENT
    name: Text | None = None


@router.get("/api/version", summary="The version", responses=refusals())
async def version() -> dict[str, str]:
    """Of this engine, not of Ollama."""
    return {"version": __version__}


@router.get("/api/tags", summary="List what a client may ask", responses=refusals())
async def tags(engine: Serving, visit: Visiting) -> dict[str, Any]:
    """What `GET /v1/models` lists, as Ollama's clients read it."""
    listed = await models(engine, visit)
    return {"models": [_tag(engine, model["id"]) for model in listed["data"]]}


@router.post(
    "/api/show",
    summary="What one of them can",
    responses=refusals(ErrorCode.MALFORMED_REQUEST, ErrorCode.INVALID_REQUEST, ErrorCode.NOT_FOUND),
)
async def show(body: ShowBody, engine: Serving, visit: Visiting) -> dict[str, Any]:
    """The same for every model: the engine has tools, and takes pictures where the model does."""
    name = named(body.name or body.model)
    await chosen(engine, visit.user_id, name)
    return {
        "details": _DETAILS,
        "model_info": {"general.basename": name},
        "capabilities": ["completion", "tools", "vision"],
        "modified_at": iso_ms(engine.started_at_ms),
    }


@router.post(
    "/api/generate",
    summary="Answer one prompt",
    response_class=JSONResponse,
    responses=refusals(ErrorCode.INVALID_REQUEST, *REFUSALS),
)
async def generate(body: GenerateBody, engine: Serving, visit: Visiting) -> Response:
    """Lines of JSON as the answer is written, or one object with `stream: false`. Each prompt has a task of its own."""
    line = Line("user", (TextBlock(text=body.prompt),))
    wishes = Wishes(
        options=TurnOptions(),
        who=await chosen(engine, visit.user_id, named(body.model)),
        instructions=body.system or "",
        root=new_id("prompt"),
    )
    admitted = await admit(engine, visit, [line], wishes)
    answer = ChatAnswer(admitted.turn.turn_id, body.model, whole=not body.stream)
    headers = {**headers_of(admitted.turn), **warnings(body)}
    if body.stream:
        return DoorStream(
            engine, _lines(engine, visit, admitted, answer), {**headers, "Content-Type": "application/x-ndjson"}
        )
    await followed(engine, visit, admitted, answer)
    return JSONResponse(_line(answer, answer.text, done=True), headers=headers)


async def _lines(
    engine: Engine, visit: Visit, admitted: Admitted, answer: ChatAnswer
) -> AsyncGenerator[Write, None]:
    async with aclosing(pieces(engine, admitted.turn)) as said:
        async for new in said:
            deltas = [delta for piece in new for delta in answer.deltas(piece)]
            texts = [delta["content"] for delta in deltas if delta.get("content")]
            if texts:
                yield b"".join([encode(_line(answer, text)) + b"\n" for text in texts]), True
    error = None if answer.ended is None else answer.ended.error
    last = _line(answer, "", done=True)
    if error is not None:
        last = {**last, **ghost_refusal.described(error, visit.request_id)}
    yield encode(last) + b"\n", False


def _line(answer: ChatAnswer, text: str, *, done: bool = False) -> dict[str, Any]:
    return {"model": answer.model, "created_at": now_iso(), "response": text, "done": done}


def _tag(engine: Engine, name: str) -> dict[str, Any]:
    return {
        "name": name,
        "model": name,
        "modified_at": iso_ms(engine.started_at_ms),
        "size": 0,
        "digest": "",
        "details": _DETAILS,
    }
