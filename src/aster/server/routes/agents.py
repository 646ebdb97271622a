"""Agents: those of the catalog, and a user's own."""

from typing import Annotated

from fastapi import APIRouter, Path, Response
from pydantic import BaseModel, Field

from aster.catalog.agent_folders import DESCRIPTION_CHARS, MOST_PATTERNS, PROMPT_CHARS, Kept, Source, unfit
from aster.contracts.agents import Agent
from aster.contracts.errors import EngineError, ErrorCode
from aster.contracts.model import to_builtins
from aster.contracts.permissions import PermissionMode
from aster.server.bodies import OtherId, warnings
from aster.server.errors import refusals
from aster.server.media import Part, Text
from aster.server.visit import KEYED, Serving, Visiting

router = APIRouter(prefix="/agents", tags=["agents"], dependencies=KEYED)

Name = Annotated[str, Path(description="The agent's name.")]
Names = Annotated[list[OtherId], Field(max_length=MOST_PATTERNS)]


class AgentEntry(BaseModel):
    """An agent."""

    name: str
    description: str
    source: Source = Field(description="`stock`, `catalog` for the operator's, `user` for your own.")
    system_prompt: str
    model: str | None = Field(None, description="The model it asks for; left out, the usual one.")
    tools: list[str] | None = Field(None, description="What it may call: names, or patterns; null is everything.")
    disallowed_tools: list[str] = Field(default=[], description="What is taken away from that.")
    permission_mode: PermissionMode | None = Field(None, description="Never wider than that of the message.")
    max_turns: int | None = Field(None, description="Most model calls of one of its turns.")
    skills: list[str] = Field(default=[], description="Skills it is told to load first.")

    @classmethod
    def of(cls, kept: Kept) -> "AgentEntry":
        return cls.model_validate({**to_builtins(kept.agent), "source": kept.source})


class AgentList(BaseModel):
    agents: list[AgentEntry] = Field(description="Those of the catalog first.")


class AgentBody(Part):
    """An agent of your own."""

    description: Text = Field(min_length=1, max_length=DESCRIPTION_CHARS, description="What it is for.")
    system_prompt: Text = Field(min_length=1, max_length=PROMPT_CHARS, description="Who it is and how it works.")
    model: OtherId | None = Field(None, description="One of `LLM_ALLOWED_MODELS`; left out, the usual one.")
    tools: Names | None = Field(None, description="What it may call: names, or patterns; left out is everything.")
    disallowed_tools: Names = Field(default_factory=list[str], description="What is taken away from that.")
    permission_mode: PermissionMode | None = Field(None, description="Never wider than that of the message.")
    max_turns: int | None = Field(None, ge=1, le=10_000, description="Most model calls of one of its turns.")
    skills: Names = Field(default_factory=list[str], description="Skills it is told to load first.")

    def agent(self, name: str) -> Agent:
        found = Agent(
            name=name,
            description=self.description,
            system_prompt=self.system_prompt,
            model=self.model,
            tools=None if self.tools is None else tuple(self.tools),
            disallowed_tools=tuple(self.disallowed_tools),
            permission_mode=self.permission_mode,
            max_turns=self.max_turns,
            skills=tuple(self.skills),
        )
        fields = [{"field": field, "problem": problem} for field, problem in unfit(found)]
        if fields:
            listed = "; ".join(f"`{item['field']}` {item['problem']}" for item in fields)
            message = f"Correct this and send it again: {listed}."
            raise EngineError(ErrorCode.INVALID_REQUEST, message, {"fields": fields})
        return found


@router.get(
    "",
    summary="List the agents there are",
    response_model=AgentList,
    response_model_exclude_none=True,
    responses=refusals(),
)
async def agents(engine: Serving, visit: Visiting) -> AgentList:
    """Any of them can be named as `agent` in `/execute`."""
    return AgentList(agents=[AgentEntry.of(kept) for kept in await engine.agents.listed(visit.user_id)])


@router.put(
    "/{name}",
    summary="Keep an agent of your own",
    response_model=AgentEntry,
    response_model_exclude_none=True,
    responses=refusals(ErrorCode.MALFORMED_REQUEST, ErrorCode.INVALID_REQUEST, ErrorCode.UNSUPPORTED_MEDIA_TYPE),
)
async def keep_agent(
    name: Name, body: AgentBody, engine: Serving, visit: Visiting, response: Response
) -> AgentEntry:
    """In place of the one of the same name, if there is one. It holds for turns that begin from now on."""
    agent = body.agent(name)
    await engine.agents.put(visit.user_id, agent)
    response.headers.update(warnings(body))
    return AgentEntry.of(Kept(agent, "user"))


@router.delete(
    "/{name}",
    summary="Delete an agent of your own",
    status_code=204,
    responses=refusals(ErrorCode.NOT_FOUND, ErrorCode.INVALID_REQUEST),
)
async def drop_agent(name: Name, engine: Serving, visit: Visiting) -> None:
    """Turns that have begun with it go on with it."""
    await engine.agents.drop(visit.user_id, name)
