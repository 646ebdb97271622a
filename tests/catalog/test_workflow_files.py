"""Workflows of the catalog: what is wrong with one is found when it is read, and refuses the whole catalog."""

import json
from pathlib import Path
from typing import Any

import pytest

from aster.catalog import workflow_files
from aster.catalog.catalog import Catalog
from aster.catalog.declaration import Wrong
from aster.contracts.errors import EngineError
from aster.infra.settings import Settings
from aster.utility_directory.platform_registry import platform_tools
from aster.utility_directory.run_workflow import NAME, RunWorkflow

AGENT = {"do": "agent", "prompt": "Do it"}


def workflow(*steps: dict[str, Any], **more: Any) -> bytes:
    return json.dumps({"name": "w", "description": "What it does.", "steps": steps or (AGENT,), **more}).encode()


def test_one_that_is_right_is_read() -> None:
    found = workflow_files.declared(
        workflow(
            {"do": "phase", "title": "One"},
            {**AGENT, "as": "x", "schema": {"type": "object"}},
            {
                "do": "pipeline",
                "over": "{{x.list}}",
                "stages": [AGENT, {**AGENT, "prompt": "{{previous}} {{item}}"}],
            },
            result="{{x}}",
            max_usd=1.0,
        ),
        "w",
    )
    assert len(list(workflow_files.every(found.steps))) == 5


@pytest.mark.parametrize(
    ("data", "says"),
    [
        (b"{", "truncated"),
        (b"[]", "object"),
        (workflow(name="other"), "same name"),
        (workflow(description=" "), "description"),
        (workflow(steps=[]), "at least one"),
        (workflow(more=1), "unknown field"),
        (workflow({"do": "shell", "command": "rm -rf /"}), "Invalid value 'shell'"),
        (workflow({"do": "agent", "prompt": " "}), "prompt"),
        (workflow({**AGENT, "code": "import os"}), "unknown field"),
        (workflow({**AGENT, "prompt": "{{later}}"}), "nothing is called 'later'"),
        (workflow({**AGENT, "schema": {"type": "nonsense"}}), "JSON Schema"),
        (workflow({**AGENT, "as": "args"}), "cannot be a name"),
        (workflow({"do": "parallel", "each": AGENT}), "either"),
        (workflow({"do": "parallel"}), "either"),
        (workflow({"do": "parallel", "over": "a, b", "each": AGENT}), "one list"),
        (workflow({"do": "pipeline", "over": "{{args.x}}", "stages": []}), "stages"),
        (workflow(args={"type": 5}), "args"),
        (workflow(result="{{nowhere}}"), "nowhere"),
        (workflow(max_agents=1001), "max_agents"),
        (workflow(max_usd=0), "max_usd"),
        (workflow(max_tokens=-1), "max_tokens"),
        (workflow(*[AGENT] * 201), "at most 200"),
    ],
)
def test_one_that_is_wrong_is_refused(data: bytes, says: str) -> None:
    with pytest.raises(Wrong, match=says):
        workflow_files.declared(data, "w")


def test_steps_are_not_nested_without_end() -> None:
    step: dict[str, Any] = AGENT
    for _ in range(12):
        step = {"do": "parallel", "branches": [step]}
    with pytest.raises(Wrong, match="deep"):
        workflow_files.declared(workflow(step), "w")


def catalog(root: Path, **workflows: list[dict[str, Any]]) -> Catalog:
    place = root / "catalog" / "workflows"
    place.mkdir(parents=True)
    for name, steps in workflows.items():
        (place / f"{name}.json").write_text(json.dumps({"name": name, "description": "d", "steps": steps}))
    settings = Settings.model_validate(
        {"catalog_dir": root / "catalog", "sqlite_db_path": root / "data" / "brain.sqlite"}
    )
    return Catalog(settings, platform_tools(settings))


def test_the_catalog_offers_a_tool_for_them(tmp_path: Path) -> None:
    registered = catalog(tmp_path, one=[AGENT], two=[{"do": "workflow", "workflow": "one"}]).load().get(NAME)
    assert registered is not None
    assert isinstance(registered.tool, RunWorkflow)
    assert list(registered.tool.workflows) == ["one", "two"]
    assert "- one: d" in registered.tool.definition.description


def test_one_level_of_nesting_is_the_most(tmp_path: Path) -> None:
    def runs(name: str) -> list[dict[str, Any]]:
        return [{"do": "workflow", "workflow": name}]

    with pytest.raises(EngineError) as refused:
        catalog(tmp_path, a=runs("b"), b=runs("c"), c=[AGENT], d=runs("d"), e=runs("none")).load()
    problems = (refused.value.details or {})["problems"]
    assert set(problems) == {"workflows/a.json", "workflows/d.json", "workflows/e.json"}


def test_a_link_out_of_the_catalog_is_refused(tmp_path: Path) -> None:
    outside = tmp_path / "evil.json"
    outside.write_bytes(workflow())
    made = catalog(tmp_path)
    (tmp_path / "catalog" / "workflows" / "w.json").symlink_to(outside)
    with pytest.raises(EngineError, match="leads out"):
        made.load()
