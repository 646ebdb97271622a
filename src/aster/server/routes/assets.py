"""MCP servers: which there are, which a user is connected to, connecting and disconnecting.

A user sees and ends only connections of their own; credentials go in and never come out.
"""

from typing import Annotated, Any, Literal

import msgspec
from fastapi import APIRouter, Path
from pydantic import BaseModel, Field

from aster.asset_directory.vault import Kept
from aster.contracts.assets import ActionKind, Connection, ContentKind, ServerConfigPayload
from aster.contracts.errors import EngineError, ErrorCode
from aster.contracts.permissions import Behavior
from aster.server.errors import refusals
from aster.server.media import JsonObject, Part
from aster.server.visit import KEYED, Serving, Visiting

router = APIRouter(prefix="/assets", tags=["assets"], dependencies=KEYED)

RefId = Annotated[str, Path(max_length=64)]
ServerName = Annotated[str, Field(min_length=1, max_length=64)]
Secret = Annotated[str, Field(max_length=8000)]


class ServerEntry(BaseModel):
    server_name: str
    display_name: str
    transport: Literal["stdio", "http", "sse"]
    auth_method: Literal["none", "static", "oauth"]
    status: Literal["available"] = "available"
    own: bool = Field(description="Whether you brought it yourself.")
    asks: list[str] = Field(
        description="The headers (of a program: variables) to give with `auth_method` static; empty over HTTP is"
        " `Authorization` and `X-…`."
    )


class ConnectionEntry(BaseModel):
    ref_id: str
    server_name: str
    status: str
    scopes: list[str]
    expires_at: str | None
    tools: int = Field(description="How many tools the server offers.")
    reason: str | None = Field(description="Why something of it cannot be used, if so.")
    auth_url: str | None = Field(None, description="The page where you log in, with status `pending_oauth`.")
    resting: bool = Field(False, description="Whether it failed several times and is left alone for a while.")
    updated_at: str | None = Field(None, description="When it was connected or logged in to last.")

    @classmethod
    def of(cls, connection: Connection) -> "ConnectionEntry":
        return cls(
            ref_id=connection.ref_id,
            server_name=connection.server_name,
            status=connection.status,
            scopes=list(connection.scopes),
            expires_at=connection.expires_at,
            tools=connection.tools,
            reason=connection.reason,
            auth_url=connection.auth_url,
            resting=connection.resting,
            updated_at=connection.updated_at,
        )


class ActionEntry(BaseModel):
    name: str = Field(description="What models call it by.")
    action: str
    kind: ActionKind = Field(description="`resource` and `prompt`: one action for all the server has of them.")
    description: str = Field(description="In the server's own words.")
    input_schema: dict[str, Any]
    behavior: Behavior = Field(description="What the operator's `policy` for the server says.")


class ActionList(BaseModel):
    actions: list[ActionEntry]


class ContentEntry(BaseModel):
    """A resource, a template for the addresses of resources, or a prompt."""

    kind: ContentKind
    address: str = Field(description="What it is read by; of a prompt, its name.")
    title: str
    description: str = Field(description="In the server's own words.")
    arguments: list[str] = Field(description="What a prompt asks for.")


class ContentList(BaseModel):
    contents: list[ContentEntry]


class CredentialsBody(Part):
    """What the server wants to know from you; kept encrypted."""

    headers: dict[str, Secret] = Field(default_factory=dict[str, str], max_length=20)
    environment: dict[str, Secret] = Field(default_factory=dict[str, str], max_length=50)


class ConnectBody(Part):
    server_name: ServerName
    server_config: JsonObject | None = Field(
        None, description="A server of your own, where the operator allows it: `url`, `transport`, `auth_method` …"
    )
    credentials: CredentialsBody | None = None


@router.get("/servers", summary="List the servers you can connect to", response_model=list[ServerEntry])
async def servers(engine: Serving, visit: Visiting) -> list[ServerEntry]:
    """Those of the operator, and those you brought yourself."""
    return [
        ServerEntry(
            server_name=server.server_name,
            display_name=server.display_name or server.server_name,
            transport=server.transport,
            auth_method=server.auth_method,
            own=own,
            asks=list(server.asks),
        )
        for server, own in await engine.assets.servers(visit.user_id)
    ]


@router.get("/connections", summary="List your connections", response_model=list[ConnectionEntry])
async def connections(engine: Serving, visit: Visiting) -> list[ConnectionEntry]:
    """Each with its status, and with why something of it cannot be used, if so."""
    return [ConnectionEntry.of(connection) for connection in await engine.assets.connections(visit.user_id)]


@router.get(
    "/connections/{ref_id}/actions",
    summary="What a connected server offers",
    response_model=ActionList,
    responses=refusals(ErrorCode.INVALID_REQUEST, ErrorCode.NOT_FOUND),
)
async def actions(engine: Serving, visit: Visiting, ref_id: RefId) -> ActionList:
    """As it was when the server was last asked; also where models see `find_tools` in place of all of them."""
    held = await engine.assets.find(visit.user_id, ref_id)
    return ActionList(
        actions=[
            ActionEntry(
                name=action.name,
                action=action.action,
                kind=action.kind,
                description=action.description,
                input_schema=action.input_schema,
                behavior=held.server.behavior(action.action),
            )
            for action in held.actions
        ]
    )


@router.get(
    "/connections/{ref_id}/contents",
    summary="What a connected server has to read",
    response_model=ContentList,
    responses=refusals(
        ErrorCode.INVALID_REQUEST,
        ErrorCode.NOT_FOUND,
        ErrorCode.MCP_CONNECTION_FAILED,
        ErrorCode.MCP_TOKEN_EXPIRED,
    ),
)
async def contents(engine: Serving, visit: Visiting, ref_id: RefId) -> ContentList:
    """Its resources and prompts, one by one; the server is asked for them."""
    found = await engine.assets.contents(visit.user_id, ref_id)
    return ContentList(contents=[ContentEntry.model_validate(msgspec.structs.asdict(one)) for one in found])


@router.post(
    "/connect",
    summary="Connect a server",
    response_model=ConnectionEntry,
    responses=refusals(
        ErrorCode.MALFORMED_REQUEST,
        ErrorCode.INVALID_REQUEST,
        ErrorCode.UNSUPPORTED_MEDIA_TYPE,
        ErrorCode.PERMISSION_DENIED,
        ErrorCode.NOT_FOUND,
        ErrorCode.MCP_CONNECTION_FAILED,
        ErrorCode.CONFIGURATION_INVALID,
    ),
)
async def connect(engine: Serving, visit: Visiting, body: ConnectBody) -> ConnectionEntry:
    """Its tools can be called from the next model call on. Connecting again replaces the credentials. A server with
    `auth_method` oauth answers with `auth_url`: open it in a browser and log in."""
    given = body.credentials
    kept = None if given is None else Kept(headers=given.headers, environment=given.environment)
    config = None if body.server_config is None else _config(body.server_name, body.server_config)
    connection = await engine.assets.connect(visit.user_id, body.server_name, config, kept)
    if connection.auth_url is None:
        engine.raven.note("asset_connected", "info", "a server was connected", server=body.server_name)
    return ConnectionEntry.of(connection)


@router.delete(
    "/connections/{ref_id}",
    summary="End a connection",
    response_model=ConnectionEntry,
    responses=refusals(ErrorCode.INVALID_REQUEST, ErrorCode.NOT_FOUND),
)
async def disconnect(engine: Serving, visit: Visiting, ref_id: RefId) -> ConnectionEntry:
    """The credentials are deleted, and the server's tools cannot be called any more."""
    connection = await engine.assets.disconnect(visit.user_id, ref_id)
    engine.raven.note("asset_disconnected", "info", "a server was disconnected", server=connection.server_name)
    return ConnectionEntry.of(connection)


def _config(server_name: str, given: dict[str, Any]) -> ServerConfigPayload:
    try:
        return msgspec.convert({"server_name": server_name, **given}, ServerConfigPayload)
    except msgspec.ValidationError as error:
        raise EngineError(
            ErrorCode.INVALID_REQUEST,
            f"`server_config`: {error}.",
            {"fields": [{"field": "server_config", "problem": str(error)}]},
        ) from None
