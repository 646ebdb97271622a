"""A model server that is a script: real wire formats over loopback, recorded calls, faults on purpose.

It keeps no state between calls but the script and the record, so that what it answers is decided by what
the client sent. It never listens anywhere but on the loopback address.
"""

import asyncio
import logging
import time
from collections.abc import Callable, Mapping, Sequence
from types import TracebackType
from typing import Any, Self

import msgspec
from msgspec import json

from aster.testing.anthropic import AnthropicWire
from aster.testing.calls import CallLog, RecordedCall
from aster.testing.connection import Connection, Exchange, Request
from aster.testing.conversation import Conversation
from aster.testing.gemini import GeminiWire
from aster.testing.openai import OpenAIWire
from aster.testing.playbook import Playbook
from aster.testing.player import Holds, Player
from aster.testing.prompt_cache import PromptCache
from aster.testing.responses import ResponsesWire
from aster.testing.script import Answer, CallableRule, Failure, Reply, Rule, Script
from aster.testing.wire import Wire, error_in, seal, spoil, whole_steps

_HOST = "127.0.0.1"
_SSE = {"content-type": "text/event-stream; charset=utf-8", "cache-control": "no-cache"}
_JSON = {"content-type": "application/json"}
_log = logging.getLogger(__name__)


class ModelServer:
    """Serves a script on 127.0.0.1 while it is entered; see the package for what a script can say.

    `rate` is the speed (tokens per second) of replies that state none, `keep` how many calls are remembered
    (None for all), `seed` decides the rules with a `chance`. A `strict` server refuses the histories that the
    providers refuse, such as a tool call without its result. With `prompt_cache` calls in Anthropic's protocol are
    counted as if prompts were cached the way they mark them.
    """

    def __init__(
        self,
        rules: Sequence[Rule | CallableRule] = (),
        *,
        port: int = 0,
        rate: float | None = None,
        models: Sequence[str] = ("scripted",),
        keep: int | None = None,
        seed: int = 0,
        strict: bool = True,
        prompt_cache: bool = False,
    ) -> None:
        self.port = port
        self.rate = rate
        self.models = models
        self.strict = strict
        self._playbook = Playbook(rules, seed)
        self._log = CallLog(keep)
        self._cache = PromptCache() if prompt_cache else None
        self._counts: list[dict[str, Any]] = []
        self._holds = Holds()
        self._connections: set[Connection] = set()
        self._server: asyncio.Server | None = None
        self._wires: Mapping[str, Wire] = {
            "/v1/messages": AnthropicWire(),
            "/v1/chat/completions": OpenAIWire(),
            "/v1/responses": ResponsesWire(),
        }
        self._routes: Mapping[tuple[str, str], Callable[[Request], tuple[int, Any]]] = {
            ("GET", "/health"): self._health,
            ("GET", "/v1/models"): self._list_models,
            ("GET", "/v1beta/models"): self._list_gemini_models,
            ("GET", "/_calls"): self._list_calls,
            ("POST", "/_script"): self._replace_script,
            ("POST", "/_reset"): self._reset,
            ("POST", "/_release"): self._release,
            ("POST", "/v1/messages/count_tokens"): self._count_tokens,
        }

    @property
    def url(self) -> str:
        """The root: Anthropic's base URL. OpenAI's is this with ``/v1``, Gemini's with ``/v1beta``."""
        return f"http://{_HOST}:{self.port}"

    @property
    def calls(self) -> list[RecordedCall]:
        """The model calls so far, in order of arrival."""
        return self._log.calls

    @property
    def counts(self) -> list[dict[str, Any]]:
        """The prompts that were asked for their length, in Anthropic's protocol or Gemini's."""
        return self._counts

    @property
    def queued(self) -> int:
        """How many enqueued answers are not yet given."""
        return self._playbook.queued

    def enqueue(self, *answers: Answer) -> None:
        """Gives these answers to the next calls, in order, before any rule."""
        self._playbook.enqueue(answers)

    def script(self, rules: Sequence[Rule | CallableRule], queue: Sequence[Answer] = ()) -> None:
        """Replaces the whole script."""
        self._playbook.replace(rules, queue)

    def release(self, name: str = "hold") -> None:
        """Lets every stream go on that waits, or will wait, at this `Hold`."""
        self._holds.release(name)

    async def wait_held(self, name: str = "hold", *, count: int = 1, timeout: float = 5.0) -> None:
        """Waits until so many streams have reached this `Hold`."""
        await self._holds.wait_held(name, count, timeout)

    async def wait_calls(self, count: int, timeout: float = 5.0, *, ended: bool = False) -> list[RecordedCall]:
        """Waits until so many calls have arrived (or ended) since the start, and returns all of them."""
        await self._log.wait(count, timeout, ended=ended)
        return self.calls

    def reset(self) -> None:
        """Forgets the calls, lets go of what is held, and closes every `Hold` again; the script stays."""
        self._log.clear()
        self._holds.reset()

    async def start(self) -> None:
        loop = asyncio.get_running_loop()
        self._server = await loop.create_server(
            lambda: Connection(self._handle, self._connections), _HOST, self.port, backlog=1024
        )
        self.port = self._server.sockets[0].getsockname()[1]

    async def stop(self) -> None:
        """Ends every connection and frees the port."""
        if self._server is None:
            return
        server, self._server = self._server, None
        server.close()
        for connection in list(self._connections):
            await connection.abort()
        await server.wait_closed()

    async def __aenter__(self) -> Self:
        await self.start()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.stop()

    async def _handle(self, exchange: Exchange) -> None:
        request = exchange.request
        wire = self._wires.get(request.path) or GeminiWire.at(request.path)
        if wire is not None and request.method == "POST":
            await self._model_call(wire, exchange)
            return
        route = self._routes.get((request.method, request.path))
        if route is None and request.method == "POST" and request.path.endswith(":countTokens"):
            route = self._count_tokens
        if route is not None:
            _send_json(exchange, *route(request))
            return
        known = wire is not None or any(path == request.path for _, path in self._routes)
        _send_json(exchange, 405 if known else 404, {"error": f"no route {request.method} {request.path}"})

    async def _model_call(self, wire: Wire, exchange: Exchange) -> None:
        call, unreadable = _record(wire, exchange.request)
        self._log.add(call)
        exchange.on_first_byte = call.began
        try:
            answer = unreadable or await self._answer(wire, call)
            if isinstance(answer, Reply):
                await self._reply(wire, exchange, call, answer)
            else:
                await self._fail(wire, exchange, call, answer)
        finally:
            self._log.end(call, time.monotonic(), disconnected=exchange.lost)

    async def _answer(self, wire: Wire, call: RecordedCall) -> Answer:
        objection = wire.objection(call.conversation) if self.strict else None
        if objection is not None:
            return Failure(400, "invalid_request", objection)
        try:
            answer, call.answered_by = await self._playbook.answer(call)
        except Exception as error:  # noqa: BLE001 - the boundary to rules that are code
            _log.exception("a rule failed")
            return Failure(400, "invalid_request", f"A rule of the script failed: {error!r}")
        return answer

    async def _reply(self, wire: Wire, exchange: Exchange, call: RecordedCall, reply: Reply) -> None:
        stream = call.conversation.stream
        error = error_in(reply)
        if error is not None and not stream:
            await self._fail(wire, exchange, call, Failure(kind=error.kind, message=error.message))
            return
        await asyncio.sleep(reply.first_byte_delay)
        call.status = 200
        cached = self._cache if wire.name == "anthropic" else None
        envelope = seal(wire, reply, call.conversation, cached and cached.count(call.body))
        headers = {**(_SSE if stream else _JSON), **wire.headers(envelope.id), **reply.headers}
        if stream:
            steps, length = wire.stream(reply, envelope), None
        else:
            body = spoil(wire.whole(reply, envelope), reply)
            steps, length = whole_steps(reply, envelope, body), len(body)
        exchange.begin(200, headers, length)
        rate = reply.rate if reply.rate is not None else self.rate
        await Player(exchange, self._holds, rate, reply.fragment).play(steps)

    async def _fail(self, wire: Wire, exchange: Exchange, call: RecordedCall, failure: Failure) -> None:
        await asyncio.sleep(failure.first_byte_delay)
        answer = wire.failure(failure, call.conversation.model)
        call.status = answer.status
        exchange.begin(answer.status, {**_JSON, **answer.headers}, len(answer.body))
        exchange.send(answer.body, last=True)

    def _health(self, _: Request) -> tuple[int, Any]:
        return 200, {"status": "ok", "calls": self._log.arrived, "active": self._log.active}

    def _list_models(self, request: Request) -> tuple[int, Any]:
        if "anthropic-version" in request.headers:
            data = [_anthropic_model(name) for name in self.models]
            ends = {"first_id": self.models[0], "last_id": self.models[-1]} if self.models else {}
            return 200, {"data": data, "has_more": False, **ends}
        data = [{"id": m, "object": "model", "created": 1700000000, "owned_by": "script"} for m in self.models]
        return 200, {"object": "list", "data": data}

    def _list_gemini_models(self, _: Request) -> tuple[int, Any]:
        return 200, {"models": [{"name": f"models/{name}", "displayName": name} for name in self.models]}

    def _list_calls(self, _: Request) -> tuple[int, Any]:
        return 200, [call.summary() for call in self.calls]

    def _replace_script(self, request: Request) -> tuple[int, Any]:
        try:
            script = Script.load(request.body)
        except msgspec.DecodeError as error:
            return 400, {"error": str(error)}
        self.script(script.rules, script.queue)
        if script.rate is not None:
            self.rate = script.rate
        return 200, {"rules": len(script.rules), "queue": len(script.queue)}

    def _reset(self, _: Request) -> tuple[int, Any]:
        self.reset()
        return 200, {}

    def _count_tokens(self, request: Request) -> tuple[int, Any]:
        """A token for every four bytes, whatever they say."""
        self._counts.append(json.decode(request.body, type=dict[str, Any]))
        tokens = -(-len(request.body) // 4)
        return 200, {"totalTokens": tokens} if request.path.endswith(":countTokens") else {"input_tokens": tokens}

    def _release(self, request: Request) -> tuple[int, Any]:
        self.release(request.query.get("name", "hold"))
        return 200, {}


def _anthropic_model(name: str) -> dict[str, Any]:
    created = "2026-01-01T00:00:00Z"
    return {"type": "model", "id": name, "display_name": name, "created_at": created, "lifecycle": "active"}


def _send_json(exchange: Exchange, status: int, body: Any) -> None:
    data = json.encode(body)
    exchange.begin(status, _JSON, len(data))
    exchange.send(data, last=True)


def _record(wire: Wire, request: Request) -> tuple[RecordedCall, Failure | None]:
    body: dict[str, Any] = {}
    conversation, problem = Conversation(model="", system="", entries=()), None
    try:
        body = json.decode(request.body, type=dict[str, Any])
        conversation = wire.read(body, len(request.body))
    except msgspec.DecodeError as error:
        problem = Failure(400, "invalid_request", str(error))
    call = RecordedCall(
        protocol=wire.name,
        path=request.path,
        headers=request.headers,
        body=body,
        conversation=conversation,
        arrived=request.arrived,
    )
    return call, problem
