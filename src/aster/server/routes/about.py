"""What the engine runs with, and who asks: what a person has to know before they let an agent work.

No secret and no path beyond the folders that tools may see is told. What concerns everybody (the providers'
limits) is the operator's.
"""

import platform
from typing import Literal

from fastapi import APIRouter
from pydantic import BaseModel, Field

from aster import __version__
from aster.contracts.errors import ErrorCode
from aster.engine_core.engine import Engine
from aster.engine_core.runner import Alive
from aster.infra.clock import iso_ms
from aster.server.errors import refusals
from aster.server.visit import KEYED, Operating, Serving, Visiting

router = APIRouter(tags=["operation"], dependencies=KEYED)


class QuotaWindow(BaseModel):
    """A limit of a model provider as it was last told."""

    endpoint: str
    model: str
    name: str
    limit: int
    remaining: int
    seen_at: str
    resets_at: str


class About(BaseModel):
    user_id: str = Field(description="Whose key it is.")
    operator: bool
    version: str
    python: str
    replica: str = Field(description="Which process answered.")
    provider: str
    model: str
    allowed_models: list[str] = Field(description="Models a message may ask for in place of the usual one.")
    workspace: Literal["folders", "task", "user"] = Field(
        description="Where tools work: in `folders`, or in a directory of each task's or user's own."
    )
    folders: list[str]
    sandbox: str
    permission_mode: Literal["default", "plan", "auto", "bypass"]
    memory_enabled: bool
    own_servers: bool = Field(description="Whether you may connect servers of your own.")
    max_turns: int
    quotas: list[QuotaWindow] = Field(description="Told to the operator alone; empty for anybody else.")


@router.get("/about", summary="What the engine runs with", response_model=About, responses=refusals())
async def about(engine: Serving, visit: Visiting) -> About:
    """Who the key belongs to, who answers, and what agents may see."""
    settings = engine.settings
    return About(
        user_id=visit.user_id,
        operator=visit.caller.operator,
        version=__version__,
        python=platform.python_version(),
        replica=engine.brain.replica,
        provider=settings.llm_provider,
        model=engine.local.model if engine.local is not None else engine.herald.endpoint.model,
        allowed_models=list(settings.allowed_models),
        workspace="folders" if settings.roots else settings.workspace,
        folders=[str(root) for root in settings.roots],
        sandbox=engine.sandbox.report.backend,
        permission_mode=settings.permission_mode,
        memory_enabled=settings.memory_enabled,
        own_servers=settings.mcp_user_servers,
        max_turns=settings.max_turns,
        quotas=_quotas(engine) if visit.caller.operator else [],
    )


class ReplicaEntry(BaseModel):
    """An engine process that the others know to be alive."""

    replica: str
    since: str = Field(description="When it joined the others; of an engine that works alone, when it started.")
    leads: bool = Field(description="Whether it looks after turns that nobody has.")
    answers: bool = Field(description="Whether it is the one that answered.")


class ReplicaList(BaseModel):
    replicas: list[ReplicaEntry] = Field(description="The oldest first.")


@router.get(
    "/replicas",
    summary="Which processes share the work",
    response_model=ReplicaList,
    responses=refusals(ErrorCode.PERMISSION_DENIED, ErrorCode.STORAGE_UNAVAILABLE),
)
async def replicas(engine: Serving, _: Operating) -> ReplicaList:
    """Needs the engine's key, or a key of the user `default`. An engine that works alone is the only one listed."""
    this = engine.brain.replica
    alive = await engine.coordinator.alive() or [Alive(this, engine.started_at_ms, leads=True)]
    listed = [
        ReplicaEntry(replica=one.replica, since=iso_ms(one.since_ms), leads=one.leads, answers=one.replica == this)
        for one in alive
    ]
    return ReplicaList(replicas=listed)


def _quotas(engine: Engine) -> list[QuotaWindow]:
    return [
        QuotaWindow(
            endpoint=node.endpoint.name,
            model=node.model,
            name=window.name,
            limit=window.limit,
            remaining=window.remaining,
            seen_at=iso_ms(window.seen_ms),
            resets_at=iso_ms(window.resets_ms),
        )
        for node in engine.herald.nodes
        for window in node.quota.windows.values()
    ]
