"""What the operator does to a running engine."""

from typing import Literal

from fastapi import APIRouter
from pydantic import BaseModel, Field

from aster.contracts.errors import ErrorCode
from aster.server.errors import refusals
from aster.server.visit import KEYED, Operating, Serving

router = APIRouter(prefix="/admin", tags=["operation"], dependencies=KEYED)


class ReloadAnswer(BaseModel):
    status: Literal["reloaded"] = "reloaded"
    tools: list[str] = Field(description="The declared tools that are in force now.")
    agents: list[str] = Field(description="The agents that are in force now.")


@router.post(
    "/reload-catalog",
    summary="Read the catalog again",
    response_model=ReloadAnswer,
    responses=refusals(ErrorCode.PERMISSION_DENIED, ErrorCode.CONFIGURATION_INVALID),
)
async def reload_catalog(engine: Serving, _: Operating) -> ReloadAnswer:
    """Turns that run use it from their next model call on. If a file is wrong, the catalog before stays in force
    and `details.problems` says what is wrong, file by file."""
    await engine.reload_catalog()
    tools = [tool.definition.name for tool in engine.tools if tool.source == "catalog"]
    return ReloadAnswer(tools=tools, agents=list(engine.agents.catalog))
