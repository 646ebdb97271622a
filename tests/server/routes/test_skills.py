"""The routes of skills: listing, reading, and a user's own, which nobody else sees and which travel with memory."""

import time
from pathlib import Path
from typing import Any

import pytest

from aster.contracts.errors import EngineError
from aster.server import keys
from aster.skills.composed import Composed, Step
from aster.skills.drafts import Draft, checked
from aster.skills.skill import Acquired
from tests.live import Live, live

OWN: dict[str, Any] = {
    "name": "release-notes",
    "description": "Write release notes.",
    "category": "writing",
    "prompt": "Begin with a verb.",
    "capabilities": ["notes"],
    "scripts": {"scripts/list.sh": "git log"},
}


async def skills(engine: Live, **request: Any) -> dict[str, dict[str, Any]]:
    return {one["name"]: one for one in (await engine.http.get("/skills", **request)).json()["skills"]}


async def test_from_creation_to_deletion() -> None:
    async with live() as engine:
        stock = (await skills(engine))["summarizer"]
        assert stock.items() >= {"source": "platform", "category": "writing", "confidence": 1.0}.items()
        made = await engine.http.post("/skills/create", json={**OWN, "colour": "red"})
        assert made.status_code == 200
        assert "colour" in made.headers["X-Aster-Warning"]
        whole = (await engine.http.get("/skills/release-notes")).json()
        assert whole == made.json()
        assert (
            whole.items()
            >= {
                "name": "release-notes",
                "description": "Write release notes.",
                "category": "writing",
                "prompt_template": "Begin with a verb.",
                "scripts": {"scripts/list.sh": "git log"},
                "capabilities": ["notes"],
                "source": "custom",
            }.items()
        )
        changed = await engine.http.put("/skills/release-notes", json={"prompt": "End with one.", "name": "other"})
        assert changed.json() == {**whole, "prompt_template": "End with one."}
        assert "other" not in await skills(engine)
        assert (await engine.http.delete("/skills/release-notes")).json() == {
            "status": "deleted",
            "name": "release-notes",
        }
        assert (await engine.http.get("/skills/release-notes")).status_code == 404
        assert (await engine.http.delete("/skills/release-notes")).status_code == 404


async def test_what_belongs_to_everybody_cannot_be_changed_or_hidden() -> None:
    async with live() as engine:
        for answer in (
            await engine.http.delete("/skills/summarizer"),
            await engine.http.put("/skills/summarizer", json={"prompt": "Obey."}),
        ):
            assert (answer.status_code, answer.json()["error"]) == (403, "PERMISSION_DENIED")
        hidden = await engine.http.post("/skills/create", json={**OWN, "name": "summarizer"})
        assert (hidden.status_code, hidden.json()["details"]["fields"][0]["field"]) == (422, "name")
        await engine.http.post("/skills/create", json=OWN)
        assert (await engine.http.post("/skills/create", json=OWN)).status_code == 422


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"name": "../x"}, "name"),
        ({"name": "Release"}, "name"),
        ({"name": "a" * 65}, "name"),
        ({"name": ""}, "name"),
        ({"prompt": "", "scripts": {}}, "prompt"),
        ({"prompt": "x" * 100_001}, "prompt"),
        ({"description": "x" * 1025}, "description"),
        ({"category": "a\nb"}, "category"),
        ({"scripts": {"../x": ""}}, "scripts"),
        ({"scripts": {"/etc/passwd": ""}}, "scripts"),
        ({"scripts": {"a/../b": ""}}, "scripts"),
        ({"scripts": {".bashrc": ""}}, "scripts"),
        ({"scripts": {"a\x00b": ""}}, "scripts"),
        ({"scripts": {"SKILL.md": ""}}, "scripts"),
        ({"scripts": {"a": "", "a/b": ""}}, "scripts"),
        ({"scripts": {"a": "", "A": ""}}, "scripts"),
        ({"scripts": {"a": "x" * 300_000}}, "scripts"),
        ({"scripts": {f"f{number}": "" for number in range(65)}}, "scripts"),
    ],
)
async def test_what_is_wrong_is_named(engine: Live, changes: dict[str, Any], field: str) -> None:
    answer = await engine.http.post("/skills/create", json={**OWN, **changes})
    assert answer.status_code == 422
    assert field in [one["field"].split(".")[0] for one in answer.json()["details"]["fields"]]


def test_too_many_files_are_counted_and_not_compared() -> None:
    scripts = {f"f{number}": "" for number in range(6_000)} | {"../x": ""}
    began = time.monotonic()
    with pytest.raises(EngineError) as caught:
        checked(Draft(name="many", scripts=scripts))
    assert [one["field"] for one in (caught.value.details or {})["fields"]] == ["scripts"]
    assert time.monotonic() - began < 1


async def test_too_many_files_are_refused_at_every_way_in(engine: Live) -> None:
    many = {f"f{number}": "" for number in range(65)}
    await engine.http.post("/skills/create", json={**OWN, "name": "few"})
    changed = await engine.http.put("/skills/few", json={"scripts": many})
    bundle = (await engine.http.get("/memory/export")).json()
    taken = await engine.http.post("/memory/import", json={**bundle, "skills": [{**OWN, "scripts": many}]})
    assert (changed.status_code, taken.status_code) == (422, 422)


async def test_they_travel_with_memory_and_what_is_here_stays() -> None:
    async with live() as engine:
        await engine.http.post("/skills/create", json=OWN)
        bundle = (await engine.http.get("/memory/export")).json()
        assert [skill["name"] for skill in bundle["skills"]] == ["release-notes"]
    async with live() as engine:
        taken = (await engine.http.post("/memory/import", json=bundle)).json()
        assert taken["skills"] == 1
        assert (await engine.http.get("/skills/release-notes")).json()["scripts"] == OWN["scripts"]
        await engine.http.put("/skills/release-notes", json={"prompt": "Mine."})
        assert (await engine.http.post("/memory/import", json=bundle)).json()["skills"] == 0
        assert (await engine.http.get("/skills/release-notes")).json()["prompt_template"] == "Mine."
        for hostile in (
            {**OWN, "name": "../x"},
            {**OWN, "name": "x", "scripts": {"../../x": ""}},
            {"prompt": 7},
            3,
        ):
            answer = await engine.http.post("/memory/import", json={**bundle, "skills": [hostile]})
            assert answer.status_code == 422
        taken = await engine.http.post("/memory/import", json={**bundle, "skills": [{**OWN, "name": "summarizer"}]})
        assert taken.json()["skills"] == 0


SELF = {"tool": "use_skill", "input": {"name": "loop", "input": {}}}


async def test_what_the_agent_made_travels_too_and_has_to_prove_itself_anew() -> None:
    code = Acquired(code="print(1)", parameters={"type": "object"}, test_payload={"n": 1}, uses=9)
    calls = Composed(parameters=(), steps=(Step(tool="glob", input={"pattern": "*"}),))
    async with live() as engine:
        await engine.engine.skills.learn("default", "counts", "Counts.", code)
        await engine.engine.skills.propose("default", "looks", "Looks.", calls)
        await engine.http.post("/skills/looks/approve")
        bundle = (await engine.http.get("/memory/export")).json()
        assert {skill["name"] for skill in bundle["skills"]} == {"counts", "looks"}
    async with live() as engine:
        assert (await engine.http.post("/memory/import", json=bundle)).json()["skills"] == 2
        counts = (await engine.http.get("/skills/counts")).json()
        assert counts["scripts"] == {"skill.py": "print(1)"}
        assert (counts["acquired"]["status"], counts["acquired"]["uses"]) == ("degraded", 0)
        assert counts["acquired"]["test_payload"] == {"n": 1}
        looks = (await engine.http.get("/skills/looks")).json()
        assert looks["composed"]["status"] == "proposed"
        listed = await skills(engine)
        assert (listed["looks"]["status"], listed["summarizer"]["status"]) == ("proposed", None)
        again = next(skill for skill in bundle["skills"] if skill["name"] == "looks")
        for hostile in (
            {**again, "name": "../x"},
            {**again, "name": "loop", "composed": {**again["composed"], "steps": [SELF]}},
            {**again, "name": "both", "prompt": "Obey."},
            {"name": "big", "acquired": {"code": "x" * 60_001, "parameters": {}, "test_payload": {}}},
        ):
            answer = await engine.http.post("/memory/import", json={**bundle, "skills": [hostile]})
            assert answer.status_code == 422, hostile


async def test_they_are_kept_over_a_restart(tmp_path: Path) -> None:
    path = tmp_path / "brain.sqlite"
    async with live(sqlite_db_path=path) as engine:
        await engine.http.post("/skills/create", json=OWN)
    async with live(sqlite_db_path=path) as engine:
        assert "release-notes" in await skills(engine)


async def test_nobody_else_sees_them(tmp_path: Path) -> None:
    brain = tmp_path / "brain.sqlite"
    ada, bob = ({"X-Engine-Key": keys.create(brain, name, name).key} for name in ("ada", "bob"))
    async with live(sqlite_db_path=brain) as engine:
        await engine.http.post("/skills/create", json=OWN, headers=ada)
        assert "release-notes" in await skills(engine, headers=ada)
        assert "release-notes" not in await skills(engine, headers=bob)
        for method, body in (("GET", None), ("PUT", {"prompt": "x"}), ("DELETE", None)):
            answer = await engine.http.request(method, "/skills/release-notes", json=body, headers=bob)
            assert answer.status_code == 404
        assert (await engine.http.post("/skills/create", json=OWN, headers=bob)).status_code == 200
        assert (await engine.http.get("/memory/export", headers=ada)).json()["skills"][0]["name"] == "release-notes"
