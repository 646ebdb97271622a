"""The application: the routes behind the guard, living as long as its engine does."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

from fastapi import FastAPI
from fastapi.routing import APIRoute

from aster import __version__
from aster.engine_core.engine import Engine
from aster.learning_centre.centre import LearningCentre
from aster.server import errors, reference
from aster.server.auth import Doorkeeper
from aster.server.doors import chat_completions, ghost, ghost_models, models, responses
from aster.server.guard import Guard
from aster.server.origin import Origins
from aster.server.routes import (
    about,
    admin,
    agents,
    artifacts,
    assets,
    compact,
    console,
    context,
    execute,
    feedback,
    files,
    goals,
    health,
    hitl,
    judgement,
    learning,
    lessons,
    memory,
    memory_documents,
    memory_records,
    metrics,
    oauth,
    permissions,
    projects,
    replay,
    rpc,
    runtime,
    schedule_preview,
    schedules,
    self_play,
    skills,
    tasks,
    team_requests,
    teams,
    tools,
    usage,
    work,
    workflows,
    working_memory,
    worktrees,
)

DESCRIPTION = """\
Post a message, get every step back as a durable stream of typed events.

Every request but `/health` carries a key: `X-Engine-Key`, `Authorization: Bearer` or `X-Ghost-Key`. Every answer
carries `X-Request-ID`. Every answer that is not 2xx is one `ErrorAnswer`.
"""
TAGS = [
    {"name": "execute", "description": "Turns: run, follow, come back to, stop."},
    {"name": "hitl", "description": "Requests to a human, and their answers."},
    {"name": "tasks", "description": "Conversations and their threads of events."},
    {"name": "permissions", "description": "What may run: rules, grants, and what would happen with a call."},
    {"name": "tools", "description": "What models can call."},
    {"name": "agents", "description": "Who can answer: prompts, tools and limits, as data."},
    {"name": "assets", "description": "Connected servers (MCP): which there are, connecting, disconnecting."},
    {"name": "skills", "description": "Instructions for kinds of work: the engine's, and your own."},
    {"name": "memory", "description": "What is remembered, where it came from, and forgetting it."},
    {"name": "rpc", "description": "Tools, memory and skills by name, without a model in between."},
    {"name": "files", "description": "Files of workspaces, brought in and taken out."},
    {"name": "replay", "description": "Recorded turns run again, without side effects."},
    {"name": "feedback", "description": "What people think of turns, messages and memories."},
    {"name": "learning", "description": "What the engine learned from what happened, and taking it back."},
    {"name": "work", "description": "What is to be done, what waits for what, and who does it."},
    {
        "name": "projects",
        "description": "Work over many turns: its items, what came of it, how far it goes by itself.",
    },
    {"name": "schedules", "description": "What is said to a task later, again and again, or when something is so."},
    {"name": "usage", "description": "What model calls used and cost, and how much may be spent."},
    {"name": "doors", "description": "The same turns for clients that speak another dialect."},
    {"name": "operation", "description": "For whoever runs the engine."},
]

ROUTES = (  # a request is held against them in this order: what is asked most comes first
    *(execute, chat_completions, responses, ghost),
    *(hitl, tasks, replay, artifacts, files, compact, context, judgement),
    *(permissions, tools, assets, oauth, skills, agents, rpc, usage, feedback),
    *(memory, memory_records, memory_documents, working_memory, lessons, learning, self_play),
    *(work, worktrees, projects, schedule_preview, schedules),
    *(teams, team_requests),
    *(runtime, goals, workflows),
    *(models, ghost_models),
    *(health, about, metrics, admin, console),
)


def create_app(engine: Engine) -> FastAPI:
    """An application around an engine; whoever runs its lifespan starts and stops the engine with it."""
    door = Doorkeeper(engine)

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncGenerator[None, None]:
        try:
            await engine.start()
            await door.start()
            app.state.learning = centre = LearningCentre(engine)
            centre.start()
            try:
                yield
            finally:
                await centre.close()
        finally:
            await engine.stop()

    app = FastAPI(
        title="Aster",
        version=__version__,
        description=DESCRIPTION,
        openapi_tags=TAGS,
        docs_url=None,
        redoc_url=None,
        redirect_slashes=False,
        generate_unique_id_function=_name,
        # Observing is the raven's business; FastAPI would show requests to any tracer it finds in the process.
        telemetry={"tracing": False, "metrics": False, "logs": False, "operation_spans": False},
        lifespan=lifespan,
    )
    app.state.engine = engine
    app.add_middleware(Guard, engine=engine, door=door, origins=Origins(engine.settings.origins))
    errors.install(app)
    for resource in ROUTES:
        app.include_router(resource.router)
    reference.install(app)
    return app


def _name(route: APIRoute) -> str:
    return route.name
