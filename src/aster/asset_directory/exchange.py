"""One call of an action, from the first message to the outcome, with everything the server asks in between.

It runs by itself and outlives whoever waits for it: a server's question is handed out, and the call goes on when the
answer is handed in. A server of the newer kind gives its question back as a result; then the call can also be taken
up again from that result alone, after the engine was restarted.
"""

import asyncio
from typing import TYPE_CHECKING, Any

from mcp.shared.exceptions import MCPError
from mcp_types import (
    CONNECTION_CLOSED,
    HEADER_MISMATCH,
    CallToolResult,
    CreateMessageRequest,
    CreateMessageRequestParams,
    CreateMessageResult,
    ElicitRequest,
    ElicitRequestParams,
    ElicitRequestURLParams,
    ElicitResult,
    InputRequiredResult,
    ListRootsResult,
    TextContent,
)

from aster.asset_directory import results
from aster.asset_directory.asking import Caller, Sampling, Told, Wanted
from aster.asset_directory.limits import PARKED_SECONDS, ROUNDS, SAMPLINGS
from aster.asset_directory.oauth.bearer import needs_person
from aster.contracts.assets import ActionDef
from aster.contracts.blocks import TextBlock
from aster.contracts.errors import EngineError, ErrorCode
from aster.contracts.messages import Message
from aster.contracts.model import encode
from aster.contracts.tools import OutcomeClass, ToolOutcome

if TYPE_CHECKING:
    from mcp_types import InputRequests, InputResponses

    from aster.asset_directory.link import Link

_BREATH = 0.1
_WORDS = 1000
_FORM_BYTES = 32_000
_STATE_BYTES = 256_000
_SAMPLED_TOKENS = 4096


class Exchange:
    """A call that was begun. `finished` gives its outcome, or the server's question; `failed`: the server did not
    live up to it; `refused`: it did not take the call, because a person has to log in."""

    def __init__(self, link: "Link", action: ActionDef, given: dict[str, Any], caller: Caller) -> None:
        self.caller = caller
        self.link = link
        self._action = action
        self._given = given
        self.failed = False
        self.refused = False
        self._samplings = 0
        self._one_question = asyncio.Lock()
        self._wanted: asyncio.Future[Wanted] = asyncio.get_running_loop().create_future()
        self._told: asyncio.Future[Told] | None = None
        self._timer: asyncio.Timeout | None = None
        self._task: asyncio.Task[ToolOutcome] | None = None

    def begin(self, state: dict[str, Any] | None = None, told: Told | None = None) -> None:
        """Make the call; with `state`, go on from the question that was asked with it."""
        self._task = asyncio.create_task(self._run(state, told), name=f"mcp {self._action.name}")

    async def finished(self) -> ToolOutcome | Wanted:
        """What comes first. Whoever stops waiting ends the call."""
        assert self._task is not None, "it was begun"
        try:
            await asyncio.wait({self._task, self._wanted}, return_when=asyncio.FIRST_COMPLETED)
        except asyncio.CancelledError:
            await self.cancel()
            raise
        if self._task.done():
            return self._task.result()
        return self._wanted.result()

    def tell(self, told: Told) -> None:
        """Hand in the answer to the question that was handed out."""
        self._wanted = asyncio.get_running_loop().create_future()
        if self._told is not None and not self._told.done():
            self._told.set_result(told)

    async def cancel(self) -> None:
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)

    @property
    def over(self) -> bool:
        return self._task is None or self._task.done()

    async def ask(self, params: ElicitRequestParams, state: dict[str, Any] | None = None) -> ElicitResult:
        """Put a server's question to a person; nobody answers for ever is a cancel."""
        asked = wanted(self._action.server_name, params, state)
        if asked.schema is not None and len(encode(asked.schema)) > _FORM_BYTES:
            return ElicitResult(action="cancel")
        async with self._one_question:
            self._told = asyncio.get_running_loop().create_future()
            self._pause(resting=True)
            self._wanted.set_result(asked)
            try:
                async with asyncio.timeout(PARKED_SECONDS):
                    told = await self._told
            except TimeoutError:
                told = Told(action="cancel")
            self._pause(resting=False)
            return ElicitResult(action=told.action, content=told.content)

    async def sample(self, params: CreateMessageRequestParams) -> CreateMessageResult:
        """Have a model asked; the server's words alone, no tools, and only so often."""
        self._samplings += 1
        if self._samplings > SAMPLINGS:
            raise EngineError(
                ErrorCode.BUDGET_EXCEEDED, f"A call may have a model asked {SAMPLINGS} times at most."
            )
        self._pause(resting=True)
        try:
            sampled = await self.caller.sample(_sampling(params))
        finally:
            self._pause(resting=False)
        content = TextContent(type="text", text=sampled.text)
        return CreateMessageResult(
            role="assistant", content=content, model=sampled.model, stop_reason=sampled.stop_reason
        )

    def _pause(self, *, resting: bool) -> None:
        """The server's time does not run while it waits for us."""
        if self._timer is not None and not self._timer.expired():
            now = asyncio.get_running_loop().time()
            self._timer.reschedule(None if resting else now + self.link.server.timeout_seconds)

    async def _progressed(self, progress: float, total: float | None, message: str | None) -> None:
        self._pause(resting=False)
        share = f"{progress:g}" if total is None else f"{progress:g}/{total:g}"
        self.caller.progress(f"{share} {message or ''}".strip() + "\n")

    async def _run(self, state: dict[str, Any] | None, told: Told | None) -> ToolOutcome:
        seconds, name = self.link.server.timeout_seconds, self._action.server_name
        try:
            async with asyncio.timeout(seconds) as self._timer:
                return await self._called(state, told)
        except TimeoutError:
            self.failed = True
            text = f"The server {name!r} did not answer within {seconds:g} seconds."
            return ToolOutcome.error(text, reason="timeout")
        except MCPError as error:
            if self.link.forgotten:
                text = f"The server {name!r} has forgotten the session and did not take the call."
                reason = ErrorCode.MCP_CONNECTION_FAILED
                return ToolOutcome.error(text, reason=reason, failure=OutcomeClass.RETRYABLE, retry_safe=True)
            if needs_person(error.data):
                self.refused = True
                text = f"The server {name!r} wants a person to log in, and did not take the call."
                return ToolOutcome.error(text, reason=ErrorCode.MCP_TOKEN_EXPIRED)
            if error.code != CONNECTION_CLOSED:
                return ToolOutcome.error(f"The server refuses: {error.message[:_WORDS]}", reason="refused")
        except (ValueError, RuntimeError) as error:
            text = f"The server {name!r} answered with what it should not have: {str(error)[:_WORDS]}"
            return ToolOutcome.error(text, reason="invalid_answer")
        self.failed = True
        self.link.lose()
        text = (
            f"The server {name!r} ended the connection in the middle of the call; it is unknown what it has done."
        )
        return ToolOutcome.error(text, reason=ErrorCode.MCP_CONNECTION_FAILED, failure=OutcomeClass.UNKNOWN)

    async def _called(self, state: dict[str, Any] | None, told: Told | None) -> ToolOutcome:
        action = self._action
        if action.kind == "resource":
            return await self._resource()
        if action.kind == "prompt":
            return await self._prompt()
        responses, request_state = None, None
        if state is not None and told is not None:
            responses, request_state = await self._resumed(state, told)
        for _ in range(ROUNDS):
            result = await self._send(responses, request_state)
            if isinstance(result, CallToolResult):
                return results.called(result)
            responses, request_state = await self._provided(result), result.request_state
        text = f"The server {action.server_name!r} kept asking for more and never finished."
        return ToolOutcome.error(text, reason="input_required")

    async def _send(
        self, responses: "InputResponses | None", request_state: str | None
    ) -> CallToolResult | InputRequiredResult:
        session = self.link.client.session
        for again in (True, False):
            try:
                return await session.call_tool(
                    self._action.original,
                    self._given,
                    progress_callback=self._progressed,
                    input_responses=responses,
                    request_state=request_state,
                    allow_input_required=True,
                )
            except MCPError as error:
                if error.code != HEADER_MISMATCH or not again:
                    raise
                await self.link.listed()
        raise AssertionError("the second try ends it")

    async def _provided(
        self, result: InputRequiredResult, before: "InputResponses | None" = None
    ) -> "InputResponses":
        """Everything a server wants before it goes on, one after the other."""
        done: InputResponses = dict(before or {})
        requests = result.input_requests or {}
        if not requests:
            await asyncio.sleep(_BREATH)
        for key, request in requests.items():
            if key in done:
                continue
            if isinstance(request, ElicitRequest):
                done[key] = await self.ask(request.params, _kept(result, requests, done, key))
            elif isinstance(request, CreateMessageRequest):
                done[key] = await self.sample(request.params)
            else:
                done[key] = ListRootsResult(roots=[])
        return done

    async def _resumed(self, state: dict[str, Any], told: Told) -> "tuple[InputResponses, str | None]":
        """Where the call stood when the question was asked, with the answer."""
        result = InputRequiredResult.model_validate(state["result"])
        done: InputResponses = {key: _response(value) for key, value in state["done"].items()}
        done[state["asking"]] = ElicitResult(action=told.action, content=told.content)
        return await self._provided(result, done), result.request_state

    async def _resource(self) -> ToolOutcome:
        uri = self._given.get("uri")
        if not uri:
            return results.listed(await self.link.resources(), "resources")
        return results.read(await self.link.client.read_resource(str(uri)))

    async def _prompt(self) -> ToolOutcome:
        name = self._given.get("name")
        if not name:
            return results.listed(await self.link.prompts(), "prompts")
        given: dict[str, Any] = self._given.get("arguments") or {}
        arguments = {key: str(value) for key, value in given.items()}
        return results.prompted(await self.link.client.get_prompt(str(name), arguments))


def _response(kept: dict[str, Any]) -> CreateMessageResult | ListRootsResult | ElicitResult:
    """An answer as it was written down; the three kinds have no field in common."""
    kind = ElicitResult if "action" in kept else ListRootsResult if "roots" in kept else CreateMessageResult
    return kind.model_validate(kept)


def _kept(
    result: InputRequiredResult, requests: "InputRequests", done: "InputResponses", key: str
) -> dict[str, Any] | None:
    state = {
        "result": result.model_dump(mode="json", by_alias=True, exclude_none=True),
        "done": {
            name: value.model_dump(mode="json", by_alias=True, exclude_none=True) for name, value in done.items()
        },
        "asking": key,
        "of": len(requests),
    }
    return state if len(encode(state)) <= _STATE_BYTES else None


def wanted(server_name: str, params: ElicitRequestParams, state: dict[str, Any] | None) -> Wanted:
    if isinstance(params, ElicitRequestURLParams):
        return Wanted(server_name=server_name, message=params.message, url=params.url, state=state)
    schema = params.model_dump(mode="json", by_alias=True, exclude_none=True)["requestedSchema"]
    return Wanted(server_name=server_name, message=params.message, schema=schema, state=state)


def _sampling(params: CreateMessageRequestParams) -> Sampling:
    messages = tuple(
        Message(
            role=message.role,
            content=tuple(
                TextBlock(text=block.text) if isinstance(block, TextContent) else TextBlock(text=f"[{block.type}]")
                for block in message.content_as_list
            ),
        )
        for message in params.messages
    )
    return Sampling(
        messages=messages,
        system=params.system_prompt or "",
        max_tokens=min(params.max_tokens, _SAMPLED_TOKENS),
        temperature=params.temperature,
        stop=tuple(params.stop_sequences or ()),
    )
