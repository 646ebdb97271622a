"""The OpenAPI document: complete, self-contained, true."""

import json
from typing import Any

import pytest

from aster.contracts.errors import CODES
from aster.contracts.events import EVENT_TYPES
from aster.engine_core.engine import Engine
from aster.infra.settings import Settings
from aster.server.app import create_app
from tests.live import Live


@pytest.fixture(scope="module")
def document() -> dict[str, Any]:
    return create_app(Engine(Settings.model_validate({}))).openapi()


OPEN = {"GET /health", "GET /assets/oauth/callback", "GET /assets/oauth/client.json"}
"""What is answered without a key."""


def operations(document: dict[str, Any]) -> dict[str, dict[str, Any]]:
    return {
        f"{method.upper()} {path}": operation
        for path, item in document["paths"].items()
        for method, operation in item.items()
    }


async def test_it_is_served(engine: Live, document: dict[str, Any]) -> None:
    assert (await engine.http.get("/openapi.json")).json() == json.loads(json.dumps(document))


@pytest.mark.parametrize("path", ["/docs", "/redoc"])
async def test_no_page_that_loads_scripts_from_elsewhere(engine: Live, path: str) -> None:
    assert (await engine.http.get(path)).status_code == 404


def test_every_route_is_there(document: dict[str, Any]) -> None:
    assert set(operations(document)) == {
        "POST /execute",
        "GET /about",
        "GET /execute/replay",
        "POST /execute/cancel",
        "POST /hitl/respond",
        "GET /hitl/pending",
        "GET /tasks",
        "GET /tasks/{task_id}/artifacts",
        "GET /tasks/{task_id}/artifacts/{artifact_id}",
        "POST /tasks/{task_id}/undo",
        "GET /tasks/{task_id}/plan",
        "GET /tasks/{task_id}/uncertainties",
        "GET /uncertainties",
        "POST /tasks/{task_id}/compact",
        "GET /tasks/{task_id}/context",
        "GET /tasks/{task_id}/context/diff",
        "GET /tasks/{task_id}/context/{call}",
        "GET /tasks/{task_id}",
        "PATCH /tasks/{task_id}",
        "DELETE /tasks/{task_id}",
        "GET /tasks/{task_id}/events",
        "POST /tasks/{task_id}/fork",
        "GET /tasks/{task_id}/turns/{turn_id}/trajectory",
        "POST /tasks/{task_id}/replay",
        "GET /tasks/{task_id}/replays",
        "GET /tasks/{task_id}/replays/{replay_task_id}",
        "GET /tasks/{task_id}/recording",
        "GET /learning",
        "POST /learning/run",
        "GET /learning/events",
        "GET /learning/changesets",
        "GET /learning/changesets/{changeset_id}",
        "POST /learning/changesets/{changeset_id}/{decision}",
        "POST /learning/revert",
        "GET /learning/trials",
        "GET /learning/trials/{trial_id}",
        "GET /learning/learned",
        "GET /learning/utility",
        "GET /learning/journal",
        "POST /learning/journal/{number}/requeue",
        "GET /work/boards",
        "POST /teams",
        "GET /teams",
        "GET /teams/{team_id}",
        "POST /teams/{team_id}/members",
        "GET /teams/{team_id}/mail",
        "POST /teams/{team_id}/mail",
        "POST /teams/{team_id}/stop",
        "POST /teams/{team_id}/members/{name}/stop",
        "GET /teams/{team_id}/requests",
        "GET /teams/{team_id}/requests/{request_id}",
        "POST /teams/{team_id}/requests/{request_id}/answer",
        "GET /teams/{team_id}/plans",
        "POST /teams/{team_id}/members/{name}/plan",
        "POST /teams/{team_id}/members/{name}/shutdown",
        "POST /work/items",
        "GET /work/items",
        "POST /work/edges",
        "POST /work/claim",
        "GET /work/items/{item_id}",
        "PATCH /work/items/{item_id}",
        "DELETE /work/items/{item_id}",
        "POST /work/items/{item_id}/claim",
        "POST /work/items/{item_id}/complete",
        "POST /work/items/{item_id}/release",
        "POST /work/items/{item_id}/reopen",
        "GET /work/items/{item_id}/history",
        "POST /worktrees",
        "GET /worktrees",
        "GET /worktrees/{worktree_id}",
        "POST /worktrees/{worktree_id}/keep",
        "POST /worktrees/{worktree_id}/remove",
        "POST /projects",
        "GET /projects",
        "GET /projects/{project_id}",
        "PATCH /projects/{project_id}",
        "DELETE /projects/{project_id}",
        "POST /projects/{project_id}/switch",
        "POST /projects/{project_id}/exit",
        "POST /projects/{project_id}/pause",
        "POST /projects/{project_id}/resume",
        "POST /projects/{project_id}/advance",
        "GET /projects/{project_id}/advances",
        "GET /projects/{project_id}/items",
        "POST /projects/{project_id}/items",
        "GET /projects/{project_id}/artifacts",
        "POST /projects/{project_id}/artifacts",
        "GET /projects/{project_id}/events",
        "POST /projects/{project_id}/events",
        "GET /runtime",
        "GET /runtime/{runtime_id}",
        "GET /runtime/{runtime_id}/output",
        "GET /runtime/{runtime_id}/stream",
        "POST /runtime/{runtime_id}/kill",
        "GET /workflows",
        "POST /workflows/{name}/runs",
        "GET /workflows/runs",
        "GET /workflows/runs/{run_id}",
        "POST /workflows/runs/{run_id}/resume",
        "POST /workflows/runs/{run_id}/cancel",
        "GET /tasks/{task_id}/goal",
        "PUT /tasks/{task_id}/goal",
        "DELETE /tasks/{task_id}/goal",
        "GET /permissions",
        "POST /permissions",
        "DELETE /permissions/{grant_id}",
        "POST /permissions/test",
        "POST /permissions/backtest",
        "POST /memory/search",
        "POST /memory/{store}/search",
        "GET /memory/soul",
        "PUT /memory/soul",
        "GET /memory/soul/full",
        "GET /memory/statistics",
        "GET /memory/contradictions",
        "GET /memory/social/paths",
        "GET /memory/export",
        "POST /memory/import",
        "GET /memory/records",
        "POST /memory/records",
        "POST /memory/documents",
        "GET /memory/documents",
        "GET /memory/working",
        "POST /memory/lessons/{record_id}/mark",
        "GET /assets/servers",
        "GET /assets/connections",
        "POST /assets/connect",
        "GET /assets/connections/{ref_id}/actions",
        "DELETE /assets/connections/{ref_id}",
        "POST /assets/connections/{ref_id}/login",
        "POST /assets/callback",
        "GET /assets/oauth/callback",
        "GET /assets/oauth/client.json",
        "POST /assets/rotate-key",
        "GET /memory/records/{record_id}",
        "PATCH /memory/records/{record_id}",
        "GET /memory/records/{record_id}/receipt",
        "GET /memory/records/{record_id}/history",
        "POST /memory/forget/preview",
        "POST /memory/forget",
        "DELETE /memory",
        "GET /usage",
        "GET /usage/budgets",
        "PUT /usage/budgets/{scope}",
        "DELETE /usage/budgets/{scope}",
        "GET /health",
        "GET /metrics",
        "GET /tools",
        "GET /agents",
        "PUT /agents/{name}",
        "DELETE /agents/{name}",
        "POST /feedback",
        "GET /feedback",
        "DELETE /feedback/{signal_id}",
        "POST /rpc",
        "GET /skills",
        "POST /skills/create",
        "GET /skills/{name}",
        "PUT /skills/{name}",
        "DELETE /skills/{name}",
        "POST /skills/{name}/approve",
        "POST /api/upload",
        "GET /api/download/{path}",
        "POST /api/workspace/save",
        "POST /api/workspace/load",
        "GET /tasks/{task_id}/workspace",
        "POST /tasks/{task_id}/workspace",
        "POST /api/chat",
        "POST /api/turn/cancel",
        "POST /api/generate",
        "POST /api/show",
        "GET /api/tags",
        "GET /api/version",
        "POST /v1/chat/completions",
        "POST /v1/responses",
        "GET /v1/responses/{response_id}",
        "DELETE /v1/responses/{response_id}",
        "GET /v1/responses/{response_id}/input_items",
        "POST /v1/responses/{response_id}/cancel",
        "GET /v1/models",
        "GET /v1/models/{name}",
        "POST /admin/reload-catalog",
        "GET /assets/connections/{ref_id}/contents",
        "GET /learning/self-play",
        "POST /learning/self-play",
        "POST /learning/self-play/stop",
        "POST /schedules",
        "POST /schedules/preview",
        "GET /schedules",
        "GET /schedules/{schedule_id}",
        "PATCH /schedules/{schedule_id}",
        "DELETE /schedules/{schedule_id}",
        "POST /schedules/{schedule_id}/pause",
        "POST /schedules/{schedule_id}/resume",
        "POST /schedules/{schedule_id}/run",
        "GET /schedules/{schedule_id}/occurrences",
        "GET /replicas",
    }


def test_every_route_says_what_it_does_and_how_it_refuses(document: dict[str, Any]) -> None:
    for name, operation in operations(document).items():
        assert operation["summary"], name
        assert operation["description"], name
        for status, answer in operation["responses"].items():
            assert answer["description"], (name, status)
            if int(status) >= 400 and name != "GET /health":
                assert answer["content"]["application/json"]["schema"]["$ref"].endswith("/ErrorAnswer"), (
                    name,
                    status,
                )
        assert operation["operationId"].isidentifier()
        secured = operation.get("security", [])
        assert bool(secured) is (name not in OPEN), name


def test_every_event_has_its_schema(document: dict[str, Any]) -> None:
    mapping = document["components"]["schemas"]["Event"]["discriminator"]["mapping"]
    assert set(mapping) == set(EVENT_TYPES)


def test_every_code_is_in_the_envelope(document: dict[str, Any]) -> None:
    assert set(document["components"]["schemas"]["ErrorCode"]["enum"]) == set(CODES)


def test_every_reference_leads_somewhere(document: dict[str, Any]) -> None:
    schemas = document["components"]["schemas"]

    def references(value: Any) -> list[str]:
        if isinstance(value, dict):
            here = [value["$ref"]] if isinstance(value.get("$ref"), str) else []
            return here + [found for item in value.values() for found in references(item)]
        if isinstance(value, list):
            return [found for item in value for found in references(item)]
        return []

    wanted = {reference.removeprefix("#/components/schemas/") for reference in references(document)}
    assert wanted <= set(schemas)
    assert "HTTPValidationError" not in schemas
