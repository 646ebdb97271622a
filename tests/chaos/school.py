"""Something to learn, in chapters, and a model that learns it by rules: facts, twins that are to be merged, and a
lesson that helps. A chapter knows what memory has to hold when it is over, and how to see that everything happened
once.

The model takes its time, now more, now less, so that whatever is to happen meanwhile can happen anywhere.
"""

import asyncio
import json
import random
from collections import Counter
from collections.abc import Sequence
from typing import Any

import httpx2

from aster.testing import Answer, ModelServer, RecordedCall, Reply, Text

THINGS = ("packages", "fonts", "drivers", "themes", "plugins", "locales", "codecs", "shaders", "keymaps", "widgets")
PLACES = ("harbour", "attic", "garden", "cellar", "tower", "kitchen", "library", "garage", "orchard", "chapel")
QUESTIONS = 4
WORKS = ("batch", "dream", "trials")
SETTINGS = {
    "ENGINE_API_KEY": "school-key",
    "EMBEDDINGS_PROVIDER": "off",
    "TASK_TITLES": "false",
    "SANDBOX": "off",
    "VERIFIER": "off",
}
"""No model is set apart for learning, so that nothing is learned before it is asked for."""


class Chapter:
    """What is said in it, and what is to be known afterwards."""

    def __init__(self, number: int) -> None:
        self.number = number
        name = f"{THINGS[number % len(THINGS)]}{number // len(THINGS) or ''}"
        place = PLACES[number % len(PLACES)]
        self.lesson = f"use uv instead of pip to install {name}"
        self.trigger = f"install {name}"
        self.questions = [f"How do I install the {name} of project {n}?" for n in range(QUESTIONS)]
        self.facts = [f"The {place} number {number * 10 + n} is painted blue." for n in range(3)]
        opens = f"The {place} shop {number} opens"
        self.twins = [f"{opens} at 8.", f"{opens} on Monday."]
        self.merged = f"{opens} at 8 on Monday."

    @property
    def told(self) -> list[str]:
        """What the person says, beside the questions."""
        minded = [f"Mind that {text[0].lower()}{text[1:]}" for text in (*self.facts, *self.twins)]
        return [*minded, f"From now on {self.lesson} please."]


class School:
    """The model, which answers people and works at night. `asked` counts its questions by what they were about."""

    def __init__(self, chance: random.Random, slowest: float = 0.25) -> None:
        self._chance = chance
        self._slowest = slowest
        self.asked: Counter[str] = Counter()
        self.server = ModelServer([self._answer], keep=200)

    def _answer(self, call: RecordedCall) -> Answer:
        said, what = self._said(call)
        self.asked[what] += 1
        return Reply([Text(said)], first_byte_delay=self._chance.uniform(0.0, self._slowest))

    def _said(self, call: RecordedCall) -> tuple[str, str]:
        material = _material(call.text)
        if "conversations" in material:
            return json.dumps(_learned(material)), "batch"
        if "groups" in material:
            return json.dumps({"consolidations": _merged(material)}), "dream"
        if "first" in material:
            return '{"better": "same"}', "judge"
        question = call.text.splitlines()[-1]
        if not question.startswith("How do I install"):
            return "I see.", "talk"
        learned = "Use uv instead" in json.dumps(call.body)
        return ("Run uv add now." if learned else "Run pip install now."), "answer"


def _material(text: str) -> dict[str, Any]:
    try:
        found = json.loads(text)
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}


def _merged(material: dict[str, Any]) -> list[dict[str, Any]]:
    """The twins among the groups, each with one text for both."""
    shops = [group for group in material["groups"] if all(" opens " in one["text"] for one in group)]
    return [
        {
            "merged_ids": [one["id"] for one in group],
            "synthesis": f"{group[0]['text'].split(' opens ')[0]} opens at 8 on Monday.",
        }
        for group in shops
    ]


def _learned(material: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, list[dict[str, Any]]] = {"facts": [], "lessons": []}
    for story in material["conversations"]:
        for message in story["messages"]:
            said = message["person"]
            if said.startswith("Mind that the "):
                content = f"The {said.removeprefix('Mind that the ')}"
                found["facts"].append({"content": content, "quote": said, "message": message["message"]})
            elif said.startswith("From now on use uv"):
                right = said.removeprefix("From now on ").removesuffix(" please.")
                lesson = {
                    "trigger": right.split(" to ")[1],
                    "mistake": "pip",
                    "correct_pattern": right.capitalize(),
                }
                found["lessons"].append({**lesson, "quote": right, "message": message["message"]})
    return found


class Pupil:
    """A client of whoever serves this address."""

    def __init__(self, url: str) -> None:
        self.url = url
        self._key = {"X-Engine-Key": SETTINGS["ENGINE_API_KEY"]}

    async def ask(self, method: str, path: str, body: Any = None, good: tuple[int, ...] = (200, 201, 202)) -> Any:
        async with httpx2.AsyncClient(base_url=self.url, headers=self._key, timeout=90, trust_env=False) as http:
            answer = await http.request(method, path, json=body)
        assert answer.status_code in good, answer.text
        return answer.json() if "json" in answer.headers["content-type"] else answer.text

    async def exported(self) -> str:
        """The records of memory, byte for byte."""
        text: str = await self.ask_text("/memory/export")
        return text[text.index('"records"') :]

    async def ask_text(self, path: str) -> str:
        async with httpx2.AsyncClient(base_url=self.url, headers=self._key, timeout=90, trust_env=False) as http:
            return (await http.get(path)).text

    async def attend(self, chapter: Chapter) -> None:
        """Say everything, and put every answer right."""
        for number, question in enumerate(chapter.questions):
            task_id = f"ask-{chapter.number}-{number}"
            said = await self.ask("POST", "/execute", {"message": question, "task_id": task_id})
            turn_id = said.split('"turn_id":"', 1)[1].split('"', 1)[0]
            right = {"task_id": task_id, "turn_id": turn_id, "rating": -1, "correction": "Run uv add now."}
            await self.ask("POST", "/feedback", right)
        for number, text in enumerate(chapter.told):
            await self.ask("POST", "/execute", {"message": text, "task_id": f"tell-{chapter.number}-{number}"})

    async def begin(self, works: Sequence[str]) -> None:
        await self.ask("POST", "/learning/run", {"works": list(works), "wait": False})

    async def finish(self) -> int:
        """Learn until there is nothing left to learn; how many entries had to be asked for once more."""
        again = 0
        for _ in range(40):
            ran = (await self.ask("POST", "/learning/run", {"works": list(WORKS)}))["runs"]
            assert all(run["outcome"] != "failed" for run in ran), ran
            for entry in await self.entries("set_aside"):
                assert entry["problem"]
                await self.ask("POST", f"/learning/journal/{entry['number']}/requeue")
                again += 1
            if not ran and not await self.entries("waiting"):
                return again
            if not ran:
                await asyncio.sleep(0.5)
        raise AssertionError("learning does not come to an end")

    async def entries(self, state: str) -> list[dict[str, Any]]:
        return (await self.ask("GET", f"/learning/journal?state={state}&limit=200"))["entries"]

    async def changesets(self) -> list[dict[str, Any]]:
        """All of them, the newest first, with their items."""
        found: list[dict[str, Any]] = []
        before = ""
        while True:
            page = await self.ask("GET", f"/learning/changesets?limit=100{before}")
            found += [
                await self.ask("GET", f"/learning/changesets/{one['changeset_id']}") for one in page["changesets"]
            ]
            if page["next"] is None:
                return found
            before = f"&before={page['next']}"

    async def records(self) -> list[dict[str, Any]]:
        return json.loads(await self.ask_text("/memory/export"))["records"]


async def check(pupil: Pupil, chapter: Chapter) -> None:
    """Everything was learned, once, and nothing by halves."""
    assert await pupil.entries("waiting") == []
    done = await pupil.entries("done")
    changesets = await pupil.changesets()
    ids = [one["changeset_id"] for one in changesets]
    assert len(set(ids)) == len(ids)
    assert {entry["changeset_id"] for entry in done} <= set(ids)
    items = [item for one in changesets if one["status"] == "applied" for item in one["items"]]
    assert {item["status"] for item in items} <= {"applied", "refused"}
    records = await pupil.records()
    made = [item["record_id"] for item in items if item["status"] == "applied" and item["action"] != "trial"]
    learned = [one["id"] for one in records if one["extractor"] == "learning"]
    assert sorted(learned) == sorted(set(made)), "a record without its item, or an item without its record"
    assert len(set(made)) == len(made), "the same was learned twice"
    holding = Counter(one["fields"].get("content") for one in records if "valid_until" not in one)
    for text in (*chapter.facts, chapter.merged):
        assert holding[text] == 1, (text, holding[text])
    assert holding[chapter.twins[0]] == 0, "it was merged"
    await _check_trial(pupil, chapter, records)


async def _check_trial(pupil: Pupil, chapter: Chapter, records: list[dict[str, Any]]) -> None:
    trials = (await pupil.ask("GET", "/learning/trials?limit=200"))["trials"]
    (trial,) = [one for one in trials if one["fields"]["trigger"] == chapter.trigger]
    assert trial["status"] == "promoted", trial
    runs = (await pupil.ask("GET", f"/learning/trials/{trial['trial_id']}"))["runs"]
    assert len(runs) == 2 * trial["turns"] == len({(run["turn_id"], run["arm"]) for run in runs})
    for number in range(QUESTIONS):
        replays = (await pupil.ask("GET", f"/tasks/ask-{chapter.number}-{number}/replays"))["replays"]
        assert len(replays) == 2, "an arm was replayed twice"
    lessons = [one["fields"] for one in records if one["kind"] == "lesson"]
    assert [one["frequency"] for one in lessons if one["trigger"] == chapter.trigger] == [1]
