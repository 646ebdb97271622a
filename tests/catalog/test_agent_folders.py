"""Agents in folders: the stock ones, the operator's over them, and everything that can be wrong with one."""

import json
from pathlib import Path
from typing import Any

import pytest

from aster.catalog import agent_folders
from aster.contracts.errors import EngineError, ErrorCode
from aster.infra.settings import Settings
from aster.utility_directory.platform_registry import platform_tools
from tests.live import Live, live


def folder(root: Path, name: str, /, prompt: str = "You plumb.", **more: Any) -> Path:
    place = root / "agents" / name
    place.mkdir(parents=True)
    place.joinpath("agent.json").write_text(json.dumps({"name": name, "description": "Plumbs.", **more}))
    place.joinpath("system-prompt.md").write_text(prompt)
    return place


def test_the_stock_agents_name_tools_there_are_and_say_who_they_are() -> None:
    found = agent_folders.read(Settings.model_validate({}))
    assert list(found) == ["analyst", "coder", "researcher", "writer"]
    known = set(platform_tools(Settings.model_validate({"content_ingestion_enabled": True})).names)
    for kept in found.values():
        assert kept.source == "stock"
        assert {name for name in kept.agent.tools or () if "*" not in name} <= known
        assert 200 <= len(kept.agent.system_prompt.split()) <= 800


def test_an_operators_agent_takes_the_place_of_a_stock_one(tmp_path: Path) -> None:
    folder(tmp_path, "coder", "You are ours.", tools=["read_file"], max_turns=5)
    folder(tmp_path, "plumber")
    found = agent_folders.read(Settings.model_validate({"catalog_dir": tmp_path}))
    assert {name: kept.source for name, kept in found.items()} == {
        "analyst": "stock",
        "coder": "catalog",
        "researcher": "stock",
        "writer": "stock",
        "plumber": "catalog",
    }
    assert (found["coder"].agent.system_prompt, found["coder"].agent.max_turns) == ("You are ours.", 5)


@pytest.mark.parametrize(
    ("given", "problem"),
    [
        ({"name": "other"}, "give the folder that name"),
        ({"description": " "}, "`description`"),
        ({"permission_mode": "root"}, "permission_mode"),
        ({"max_turns": 0}, "`max_turns`"),
        ({"colour": "red"}, "unknown field"),
        ({"tools": [""]}, "`tools`"),
        ({"skills": ["../x"]}, "`skills`"),
        ({"system_prompt_path": "../../../secret"}, "it leads out of the catalog"),
        ({"system_prompt_path": "missing.md"}, "it cannot be read"),
    ],
)
def test_what_is_wrong_is_said_and_nothing_is_taken(tmp_path: Path, given: dict[str, Any], problem: str) -> None:
    tmp_path.joinpath("secret").write_text("x")
    folder(tmp_path / "catalog", "plumber", **given)
    with pytest.raises(EngineError) as caught:
        agent_folders.read(Settings.model_validate({"catalog_dir": tmp_path / "catalog"}))
    assert caught.value.code is ErrorCode.CONFIGURATION_INVALID
    assert problem in caught.value.message


async def test_reloading_brings_new_agents_and_a_wrong_one_changes_nothing(tmp_path: Path) -> None:
    folder(tmp_path, "plumber")

    async def names(engine: Live) -> list[str]:
        return [agent["name"] for agent in (await engine.http.get("/agents")).json()["agents"]]

    async with live(catalog_dir=tmp_path) as engine:
        assert "plumber" in await names(engine)
        folder(tmp_path, "painter")
        answer = (await engine.http.post("/admin/reload-catalog")).json()
        assert "painter" in answer["agents"]
        bad = folder(tmp_path, "bad", max_turns=0)
        refused = await engine.http.post("/admin/reload-catalog")
        assert "agents/bad" in refused.json()["details"]["problems"]
        assert "painter" in await names(engine)
        assert "bad" not in await names(engine)
        assert bad.is_dir()
