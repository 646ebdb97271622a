"""What tests of learning ask an engine over HTTP."""

from typing import Any

from tests.live import Live, Seen


async def got(aster: Live, path: str, **params: Any) -> dict[str, Any]:
    answer = await aster.http.get(path, params=params)
    assert answer.status_code == 200, answer.text
    return answer.json()


async def posted(aster: Live, path: str, status: int = 200, **body: Any) -> dict[str, Any]:
    answer = await aster.http.post(path, json=body)
    assert answer.status_code == status, answer.text
    return answer.json()


async def exported(aster: Live) -> str:
    """The records of memory as they travel, byte for byte."""
    text = (await aster.http.get("/memory/export")).text
    return text[text.index('"records"') :]


async def records(aster: Live) -> list[dict[str, Any]]:
    return (await got(aster, "/memory/records", limit=200))["records"]


async def talked(aster: Live, *messages: str) -> dict[str, list[Seen]]:
    return {f"talk-{n}": await aster.execute(message, f"talk-{n}") for n, message in enumerate(messages)}


async def learned(aster: Live) -> dict[str, Any]:
    """Run a batch, and the one changeset it came to."""
    (ran,) = (await posted(aster, "/learning/run", works=["batch"]))["runs"]
    return await got(aster, f"/learning/changesets/{ran['changeset_id']}")
