"""A live session with one server for one user: opened when it is first needed, shared by the user's calls.

It belongs to a task of its own, so that it is opened and closed in one place whatever becomes of those who use it.
A session that has ended says so; the next call opens another.
"""

import asyncio
import contextlib
import logging
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from types import TracebackType
from typing import TYPE_CHECKING, Any, Final, Self, cast

import anyio
import mcp_types as types
from mcp.client.client import Client
from mcp.client.session import ClientRequestContext, IncomingMessage
from mcp.client.subscriptions import ListenNotSupportedError, SubscriptionLost
from mcp.shared.exceptions import MCPError

from aster import __version__
from aster.asset_directory.actions import DESCRIPTION_CHARS, Said
from aster.asset_directory.exchange import Exchange
from aster.asset_directory.limits import CONNECT_SECONDS, PAGES
from aster.asset_directory.sieve import MOST_TOLD, sifted
from aster.contracts.assets import ContentDef, ContentKind, ServerConfigPayload
from aster.contracts.errors import EngineError
from aster.herald.breaker import Breaker

if TYPE_CHECKING:
    from mcp.client._transport import ReadStream, TransportStreams
    from mcp.shared.message import SessionMessage

log = logging.getLogger("aster.connectors")

_LISTED: Final = 200
_RESOURCE: Final = {
    "type": "object",
    "properties": {"uri": {"type": "string", "description": "Which resource; leave it out to list them."}},
}
_PROMPT: Final = {
    "type": "object",
    "properties": {
        "name": {"type": "string", "description": "Which prompt; leave it out to list them."},
        "arguments": {"type": "object", "description": "What the prompt asks for, as texts."},
    },
}
_CHANGES = (
    types.ToolListChangedNotification,
    types.ResourceListChangedNotification,
    types.PromptListChangedNotification,
)


class Link:
    """`open` it, make exchanges over its `client`, `close` it. `changed` is called when the server offers something
    else than before; `forgotten`: the server knows nothing of the session any more; `left_out` are the tools of its
    newest list that are none."""

    client: Client

    def __init__(
        self,
        server: ServerConfigPayload,
        transport: "Callable[[], AbstractAsyncContextManager[TransportStreams]]",
        changed: Callable[[], None],
        breaker: Breaker,
    ) -> None:
        self.server = server
        self.breaker = breaker
        self.used = asyncio.get_running_loop().time()
        self.exchanges: dict[str, Exchange] = {}
        self.forgotten = False
        self.left_out: list[str] = []
        self._transport = transport
        self._changed = changed
        self._closing = asyncio.Event()
        self._ready: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._owner: asyncio.Task[None] | None = None

    @property
    def alive(self) -> bool:
        return self._owner is not None and not self._owner.done() and not self._closing.is_set()

    @property
    def busy(self) -> bool:
        return any(not exchange.over for exchange in self.exchanges.values())

    async def open(self) -> None:
        """Connect and agree on a version; raises what went wrong."""
        self._owner = asyncio.create_task(self._live(), name=f"mcp link {self.server.server_name}")
        try:
            async with asyncio.timeout(min(CONNECT_SECONDS, self.server.timeout_seconds)):
                await asyncio.shield(self._ready)
        except BaseException:
            await self.close()
            raise

    async def close(self) -> None:
        self._closing.set()
        for exchange in self.exchanges.values():
            await exchange.cancel()
        if self._owner is not None:
            if not self._ready.done():
                self._owner.cancel()
            await asyncio.gather(self._owner, return_exceptions=True)
        if self._ready.done() and not self._ready.cancelled():
            self._ready.exception()

    def lose(self) -> None:
        """The session is of no use any more."""
        self._closing.set()

    async def _live(self) -> None:
        """From the first byte to the last; what goes wrong before it is ready is told to whoever waits for that."""
        try:
            async with self._connected() as self.client:
                self._ready.set_result(None)
                await self._until_closed()
        except BaseException as error:
            if self._ready.done():
                if not isinstance(error, Exception):
                    raise
                log.info("the session with %s broke: %s", self.server.server_name, type(_first(error)).__name__)
            else:
                self._ready.set_exception(_first(error))
        finally:
            self._closing.set()

    def _connected(self) -> Client:
        return Client(
            _watched(self._transport(), self.lose, self._sifted),
            mode="auto",
            client_info=types.Implementation(name="aster", version=__version__),
            read_timeout_seconds=self.server.timeout_seconds,
            elicitation_callback=self._elicited,
            sampling_callback=self._sampled if self.server.sampling else None,
            message_handler=self._heard,
            cache=None,
        )

    def _sifted(self, message: "SessionMessage | Exception") -> None:
        """Take out of a list what would make all of it useless."""
        said = None if isinstance(message, Exception) else message.message
        if isinstance(said, types.JSONRPCResponse) and "tools" in said.result:
            said.result, left_out = sifted(said.result, self.client.protocol_version)
            self.left_out = [*self.left_out, *left_out][:MOST_TOLD]

    async def _until_closed(self) -> None:
        capabilities = self.client.server_capabilities
        watched = {
            "tools_list_changed": bool(capabilities.tools and capabilities.tools.list_changed),
            "prompts_list_changed": bool(capabilities.prompts and capabilities.prompts.list_changed),
            "resources_list_changed": bool(capabilities.resources and capabilities.resources.list_changed),
        }
        listening = asyncio.create_task(self._listen(watched)) if any(watched.values()) else None
        await self._closing.wait()
        if listening is not None:
            listening.cancel()
            await asyncio.gather(listening, return_exceptions=True)

    async def _listen(self, watched: dict[str, bool]) -> None:
        """Servers of the newer kind tell of changes on a stream that is asked for."""
        with contextlib.suppress(ListenNotSupportedError, SubscriptionLost, MCPError, TimeoutError):
            async with self.client.listen(**watched) as changes:  # pyright: ignore[reportArgumentType]
                async for _ in changes:
                    self._changed()

    async def _heard(self, message: IncomingMessage) -> None:
        if isinstance(message, _CHANGES):
            self._changed()

    async def _elicited(
        self, context: ClientRequestContext, params: types.ElicitRequestParams
    ) -> types.ElicitResult | types.ErrorData:
        del context
        exchange = self._meant()
        return types.ElicitResult(action="cancel") if exchange is None else await exchange.ask(params)

    async def _sampled(
        self, context: ClientRequestContext, params: types.CreateMessageRequestParams
    ) -> types.CreateMessageResult | types.ErrorData:
        del context
        exchange = self._meant()
        if exchange is None:
            return types.ErrorData(code=types.INVALID_REQUEST, message="No call is there that this could be for.")
        try:
            return await exchange.sample(params)
        except EngineError as error:
            return types.ErrorData(code=types.INVALID_REQUEST, message=error.message)

    def _meant(self) -> Exchange | None:
        """The call a server asks something for; none when it could be of one task as well as of another."""
        open_calls = [exchange for exchange in self.exchanges.values() if not exchange.over]
        tasks = {exchange.caller.task for exchange in open_calls}
        return open_calls[-1] if len(tasks) == 1 else None

    async def listed(self) -> list[Said]:
        """Everything the server offers now; its resources and prompts are actions too."""
        capabilities = self.client.server_capabilities
        said: list[Said] = []
        self.left_out = []
        if capabilities.tools:
            said += [
                Said(tool.name, tool.description or tool.title or "", tool.input_schema)
                async for tool in _pages(self.client.list_tools, "tools")
            ]
        names = {one.name for one in said}
        if capabilities.resources and "read_resource" not in names:
            text = "Reads a resource of this server, or lists what it has."
            said.append(Said("read_resource", text, _RESOURCE, "resource"))
        if capabilities.prompts and "get_prompt" not in names:
            text = "Gets a prompt that this server has ready, or lists them."
            said.append(Said("get_prompt", text, _PROMPT, "prompt"))
        return said

    async def resources(self) -> list[ContentDef]:
        resources = _pages(self.client.list_resources, "resources")
        found = [_content("resource", str(one.uri), one.name, one.description) async for one in resources]
        templates = _pages(self.client.list_resource_templates, "resource_templates")
        with contextlib.suppress(MCPError):
            found += [_content("template", one.uri_template, one.name, one.description) async for one in templates]
        return found[:_LISTED]

    async def prompts(self) -> list[ContentDef]:
        found: list[ContentDef] = []
        async for one in _pages(self.client.list_prompts, "prompts"):
            wants = tuple(argument.name for argument in one.arguments or ())
            found.append(_content("prompt", one.name, one.title, one.description, wants))
        return found[:_LISTED]

    async def contents(self) -> list[ContentDef]:
        """Everything the server has ready to be read."""
        capabilities = self.client.server_capabilities
        resources = await self.resources() if capabilities.resources else []
        return resources + (await self.prompts() if capabilities.prompts else [])


@asynccontextmanager
async def _watched(
    transport: "AbstractAsyncContextManager[TransportStreams]",
    ended: Callable[[], None],
    heard: "Callable[[SessionMessage | Exception], None]",
) -> "AsyncGenerator[TransportStreams]":
    """A transport that says when nothing can be heard over it any more, also while nobody waits for an answer, and
    shows what is heard before anybody else sees it."""
    async with transport as (read, write):
        yield _Heard(read, ended, heard), write


class _Heard:
    """A stream of messages that tells of each of them and of its end."""

    def __init__(
        self,
        stream: "ReadStream[SessionMessage | Exception]",
        ended: Callable[[], None],
        heard: "Callable[[SessionMessage | Exception], None]",
    ) -> None:
        self._stream = stream
        self._ended = ended
        self._heard = heard

    async def receive(self) -> "SessionMessage | Exception":
        try:
            message = await self._stream.receive()
        except (anyio.EndOfStream, anyio.ClosedResourceError):
            self._ended()
            raise
        self._heard(message)
        return message

    async def aclose(self) -> None:
        await self._stream.aclose()

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> "SessionMessage | Exception":
        try:
            return await self.receive()
        except anyio.EndOfStream:
            raise StopAsyncIteration from None

    async def __aenter__(self) -> Self:
        await self._stream.__aenter__()
        return self

    async def __aexit__(
        self, exc_type: type[BaseException] | None, exc_val: BaseException | None, exc_tb: TracebackType | None
    ) -> bool | None:
        return await self._stream.__aexit__(exc_type, exc_val, exc_tb)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


def _content(
    kind: ContentKind, address: str, title: str | None, description: str | None, arguments: tuple[str, ...] = ()
) -> ContentDef:
    about = (description or "")[:DESCRIPTION_CHARS]
    return ContentDef(kind=kind, address=address, title=title or "", description=about, arguments=arguments)


async def _pages(method: Callable[..., Any], field: str) -> AsyncIterator[Any]:
    cursor: str | None = None
    for _ in range(PAGES):
        page = await method(cursor=cursor)
        for item in getattr(page, field):
            yield item
        cursor = page.next_cursor
        if cursor is None:
            return


def _first(error: BaseException) -> BaseException:
    """The cause in what task groups wrap."""
    while isinstance(error, BaseExceptionGroup):
        error = cast("BaseExceptionGroup[BaseException]", error).exceptions[0]
    return error if isinstance(error, Exception) else ConnectionError("The connection was given up.")
