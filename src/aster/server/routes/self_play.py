"""Self-play: how far the agent has come, letting it meet challenges now, and ending that."""

from typing import Literal

from fastapi import APIRouter, Response
from pydantic import BaseModel, Field

from aster.brain.records import ThreadKey
from aster.contracts.errors import ErrorCode
from aster.contracts.learning import LEARNING_TASK, SELF_PLAY_TASK
from aster.infra.clock import iso_ms
from aster.learning_centre.self_play import play
from aster.learning_centre.self_play.challenge import CLUSTERS, Cluster, Tier
from aster.learning_centre.self_play.cycle import frontier_of, spent_usd
from aster.learning_centre.self_play.frontier import Frontier, Run
from aster.server.bodies import warnings
from aster.server.errors import refusals
from aster.server.learning_answers import Money, RunAnswer, RunsAnswer
from aster.server.media import Part
from aster.server.routes.memory import BODY
from aster.server.visit import KEYED, Learning, Serving, Visiting

router = APIRouter(prefix="/learning/self-play", tags=["learning"], dependencies=KEYED)


class PlayBody(Part):
    cluster: Cluster | None = Field(None, description="In which field; left out, where it is worth most.")
    cycles: int = Field(1, ge=1, le=play.MOST_CYCLES, description="How many challenges at most.")
    wait: bool = Field(
        False, description="Answer when it is done; otherwise at once, and the learning thread tells."
    )


class ClusterAnswer(BaseModel):
    """How far the agent has come in one field."""

    cluster: Cluster
    tier: Tier
    runs: int
    wins: int = Field(description="Solved at the first try.")
    best: int | None = Field(description="Its shortest solution, in thousandths of the one that came with it.")
    brittle: int = Field(description="How shaky it is: what failed or took several tries lately.")
    mastered: bool
    saturated: bool = Field(description="Won at once again and again, and nothing gets better by it.")


class PlayedAnswer(BaseModel):
    """A challenge that was met."""

    cluster: Cluster
    tier: Tier
    title: str
    at: str
    passed: bool
    attempts: int
    score: float
    delta: float = Field(description="How much shorter than the best before; -1 when it was not solved.")
    tool_errors: int
    cost_usd: float
    changeset_id: str
    task_id: str = Field(
        description="The hidden task on whose thread it was solved, from `first_seq` to `last_seq`."
    )
    first_seq: int
    last_seq: int

    @classmethod
    def of(cls, run: Run) -> "PlayedAnswer":
        named = {name: getattr(run, name) for name in cls.model_fields if name != "at"}
        return cls(**named, at=iso_ms(run.at))


class SelfPlayAnswer(BaseModel):
    enabled: bool
    problem: str | None = Field(description="Why there is none; null where there is.")
    running: bool
    budget: Money = Field(description="For everybody, today.")
    cooldown_seconds: float = Field(description="How long after the last challenge the next is met by itself.")
    clusters: list[ClusterAnswer]
    runs: list[PlayedAnswer] = Field(description="The newest first.")


class PlayStopped(BaseModel):
    status: Literal["stopped"] = "stopped"


@router.get("", summary="How far self-play has come", response_model=SelfPlayAnswer)
async def self_play(centre: Learning, engine: Serving, visit: Visiting) -> SelfPlayAnswer:
    """What it is good at, what was tried last, what it may still cost today, and why it cannot run, if so."""
    frontier = await frontier_of(centre.bench(), visit.user_id)
    thread = await engine.brain.thread(ThreadKey(visit.user_id, SELF_PLAY_TASK))
    problem = play.objection(engine.settings, engine.sandbox.report)
    return SelfPlayAnswer(
        enabled=problem is None,
        problem=problem,
        running=centre.playing(visit.user_id) or (thread is not None and thread.status != "idle"),
        budget=Money(limit_usd=engine.settings.self_play_budget_usd, spent_usd=await spent_usd(centre.bench())),
        cooldown_seconds=frontier.cooldown,
        clusters=[_cluster(frontier, cluster) for cluster in CLUSTERS],
        runs=[PlayedAnswer.of(run) for run in reversed(frontier.runs)],
    )


@router.post(
    "",
    summary="Let the agent meet challenges now",
    response_model=RunsAnswer,
    responses={
        **refusals(*BODY, ErrorCode.TASK_BUSY),
        202: {"model": RunsAnswer, "description": "It was begun."},
    },
)
async def begin_self_play(body: PlayBody, centre: Learning, visit: Visiting, response: Response) -> RunsAnswer:
    """It ends as soon as anybody writes a message. Nothing of yours is seen by it, and it has no network."""
    done = await centre.play(visit.user_id, body.cluster, body.cycles, wait=body.wait)
    response.headers.update(warnings(body))
    if not body.wait:
        response.status_code = 202
    return RunsAnswer(runs=[RunAnswer.of(ran) for ran in done], task_id=LEARNING_TASK)


@router.post("/stop", summary="End self-play", response_model=PlayStopped)
async def stop_self_play(centre: Learning, visit: Visiting) -> PlayStopped:
    """Also where it runs by itself; what was not finished has not happened."""
    await centre.stop_playing(visit.user_id)
    return PlayStopped()


def _cluster(frontier: Frontier, cluster: Cluster) -> ClusterAnswer:
    found = frontier.of(cluster)
    return ClusterAnswer(
        cluster=cluster,
        tier=found.tier,
        runs=found.runs,
        wins=found.wins,
        best=found.best,
        brittle=found.brittle,
        mastered=found.mastered,
        saturated=found.saturated,
    )
