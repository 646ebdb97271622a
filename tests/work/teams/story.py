"""A small feature as a team of three builds it: who says what, and what a person does meanwhile.

The repository greets. It is to greet loudly and often: `shout` and `repeat` are written beside each other, `wire` puts
them together once both are there. Everybody says what is next of what they have not said yet, so that a turn another
replica goes on with is told nothing twice.
"""

import asyncio
import json
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import httpx2

from aster.testing import Hold, ModelServer, Reply, Text, ToolCall
from aster.testing.calls import RecordedCall
from aster.testing.script import Answer
from tests.live import Stream
from tests.work.teams.drills import who
from tests.work.worktrees.forest import git

LEAD = "feature"
GO_AHEAD = "Go ahead, and keep it small."
GO_ON = "That will do as well."
SHOUT = "def shout(text):\n    return text.upper() + '!'\n"
REPEAT = "def repeat(text, times):\n    return ' '.join([text] * times)\n"
HALF = "def repeat(text, times):\n    return text  # times is not looked at yet\n"
MAIN = "from repeat import repeat\nfrom shout import shout\n\nprint(repeat(shout('hello'), 3))\n"
COMMIT = "git add -A && git -c user.name=a -c user.email=a@localhost commit -qm"
MERGE = "git -c user.name=a -c user.email=a@localhost merge -q --no-edit"
PATIENCE = 40.0

Client = Callable[[], httpx2.AsyncClient]
"""Where a person asks next: any replica will do."""


class Part(NamedTuple):
    """What somebody does once something was said: replies, each until it was made, then words."""

    when: str
    replies: Sequence[Reply]
    words: str


def call(name: str, tool: str, /, **given: Any) -> ToolCall:
    return ToolCall(tool, given, id=name)


def repository(place: Path) -> Path:
    """What there is before."""
    place.mkdir(parents=True)
    git(place, "init", "--quiet", "--initial-branch=main")
    (place / "main.py").write_text("print('hello')\n")
    (place / ".gitignore").write_text("__pycache__/\n")
    git(place, "add", ".")
    git(place, "commit", "--quiet", "-m", "Greet")
    return place


class Story:
    """`items` are the ids of the work by its name."""

    def __init__(self, model: ModelServer, client: Client) -> None:
        self.model = model
        self._client = client
        self.items: dict[str, str] = {}
        self.team_id = ""
        model.script([self._answer])

    @property
    def http(self) -> httpx2.AsyncClient:
        return self._client()

    def _answer(self, asked: RecordedCall) -> Answer:
        said = json.dumps(asked.body, ensure_ascii=False)
        words = "I see."
        for part in self._parts()[who(asked)]:
            if part.when not in said:
                break
            for reply in part.replies:
                ids = [one.id for one in reply.parts if isinstance(one, ToolCall)]
                if not all(f'"{name}"' in said for name in ids):
                    return reply
            words = part.words
        return Reply([Text(words)])

    def _parts(self) -> dict[str, list[Part]]:
        shout, repeat, wire = (self.items.get(name, "?") for name in ("shout", "repeat", "wire"))
        trees = [
            call(f"lead-{name}", "worktree_create", name=name, item_id=id_) for name, id_ in self.items.items()
        ]
        members = [
            {"name": "Ada", "prompt": "Begin.", "role": "integrator", "item_id": shout, "require_plan": True},
            {"name": "Bob", "prompt": "Begin.", "item_id": repeat},
            {"name": "Cleo", "prompt": "Begin with what comes free."},
        ]
        team = call("lead-team", "spawn_team", name="greeters", board="main", members=members)
        early = call("ada-early", "write_file", path="shout.py", content=SHOUT)
        plan = call("ada-plan", "submit_plan", plan="1. Write shout.py. 2. Commit it.")
        again = call("ada-again", "submit_plan", plan="1. Merge both. 2. Write main.py. 3. Commit it.")
        return {
            "lead": [
                Part("Build it", [*(Reply([tree]) for tree in trees), Reply([team])], "They work."),
                Part(
                    "Merge it",
                    [Reply([call("lead-merge", "bash", command=f"{MERGE} wt/wire && python3 main.py")])],
                    "It is merged.",
                ),
            ],
            "Ada": [
                Part("Begin.", [Reply([early]), Reply([plan])], "I wait."),
                Part(
                    GO_AHEAD,
                    [
                        Reply([call("ada-write", "write_file", path="shout.py", content=SHOUT)]),
                        Reply([Hold("ada"), call("ada-commit", "bash", command=f"{COMMIT} 'Shout'")]),
                        Reply([call("ada-complete", "task_complete", id=shout, result="shout.py")]),
                    ],
                    "It shouts.",
                ),
                Part(f"[Auto-claimed task {wire}]", [Reply([again])], "I wait."),
                Part(
                    GO_ON,
                    [
                        Reply([call("ada-merge", "bash", command=f"{MERGE} wt/shout wt/repeat")]),
                        Reply([call("ada-main", "write_file", path="main.py", content=MAIN)]),
                        Reply([call("ada-wired", "bash", command=f"{COMMIT} 'Greet loudly and often'")]),
                        Reply([call("ada-done", "task_complete", id=wire, result="main.py")]),
                    ],
                    "It is wired.",
                ),
            ],
            "Bob": [
                Part(
                    "Begin.",
                    [
                        Reply([call("bob-half", "write_file", path="repeat.py", content=HALF)]),
                        Reply([Hold("bob"), call("bob-commit", "bash", command=f"{COMMIT} 'Half of it'")]),
                    ],
                    "It repeats.",
                )
            ],
            "Cleo": [
                Part("Begin with", [], "I am free."),
                Part(
                    f"[Auto-claimed task {repeat}]",
                    [
                        Reply([call("cleo-read", "read_file", path="repeat.py")]),
                        Reply([call("cleo-write", "write_file", path="repeat.py", content=REPEAT)]),
                        Reply([call("cleo-commit", "bash", command=f"{COMMIT} 'Repeat'")]),
                        Reply([call("cleo-complete", "task_complete", id=repeat, result="repeat.py")]),
                    ],
                    "It repeats.",
                ),
            ],
        }

    async def get(self, path: str, **params: Any) -> dict[str, Any]:
        answer = await self.http.get(path, params=params)
        assert answer.status_code == 200, answer.text
        return answer.json()

    async def post(self, path: str, **body: Any) -> dict[str, Any]:
        answer = await self.http.post(path, json=body)
        assert answer.is_success, answer.text
        return answer.json()

    async def board(self) -> None:
        """Put the work on the board."""
        drafts = [
            {"subject": "Shout", "name": "shout"},
            {"subject": "Repeat", "name": "repeat"},
            {"subject": "Wire", "name": "wire", "role": "integrator", "blocked_by": ["shout", "repeat"]},
        ]
        made = (await self.post("/work/items", items=drafts))["items"]
        self.items = {one["subject"].lower(): one["item_id"] for one in made}

    async def begun(self) -> None:
        """Have the lead propose a team, and say yes to it."""
        asked = await self.say("Build it.")
        assert (asked["kind"], asked["options"]) == ("team", ["yes", "no"])
        assert (await self.get("/teams"))["teams"] == [], "nobody begins before the person has said yes"
        await self.post("/hitl/respond", request_id=asked["request_id"], answer="yes")
        async with asyncio.timeout(PATIENCE):
            while not (teams := (await self.get("/teams"))["teams"]):
                await asyncio.sleep(0.05)
        self.team_id = teams[0]["team_id"]

    async def say(self, message: str) -> dict[str, Any]:
        """Tell the lead something; what the person is asked, if its turn waits for that."""
        body = {"message": message, "task_id": LEAD, "on_busy": "queue"}
        asked: dict[str, Any] = {}
        async with self.http.stream("POST", "/execute", json=body) as response:
            if response.status_code != 200:
                raise AssertionError(await response.aread())
            async for frame in Stream(response):
                if frame.event == "hitl_request":
                    asked = frame.data
                if frame.event == "thread_lifecycle" and frame.data["phase"] == "suspended":
                    break
        return asked

    async def planned(self) -> dict[str, Any]:
        """Ada's plan, as soon as it lies before the person."""
        async with asyncio.timeout(PATIENCE):
            while True:
                found = await self.get(f"/teams/{self.team_id}/requests", kind="plan_approval", status="pending")
                if found["requests"]:
                    return found["requests"][0]
                await asyncio.sleep(0.05)

    async def approve(self, plan: dict[str, Any], feedback: str) -> None:
        place = f"/teams/{self.team_id}/requests/{plan['request_id']}/answer"
        await self.post(place, approve=True, feedback=feedback)

    async def members(self) -> dict[str, dict[str, Any]]:
        return {one["name"]: one for one in (await self.get(f"/teams/{self.team_id}"))["members"]}

    async def item(self, name: str) -> dict[str, Any]:
        return await self.get(f"/work/items/{self.items[name]}")

    async def completed(self, name: str) -> dict[str, Any]:
        async with asyncio.timeout(PATIENCE):
            while (found := await self.item(name))["status"] != "completed":
                await asyncio.sleep(0.05)
        return found

    async def at_rest(self) -> None:
        """Wait until nobody does anything any more."""
        async with asyncio.timeout(PATIENCE):
            while True:
                sheet = await self.get(f"/teams/{self.team_id}")
                statuses = {one["status"] for one in sheet["members"]}
                lead = (await self.get(f"/tasks/{LEAD}"))["status"]
                if statuses <= {"idle", "stopped"} and lead == "idle" and not sheet["unread"]:
                    return
                await asyncio.sleep(0.05)

    async def thread(self, task_id: str) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = []
        while True:
            after = found[-1]["seq"] if found else 0
            page = await self.get(f"/tasks/{task_id}/events", after_seq=after, limit=1000)
            found += page["events"]
            if not page["events"] or found[-1]["seq"] >= page["head_seq"]:
                return found

    async def history(self, name: str) -> list[tuple[str, str]]:
        """What became of an item, and by whom."""
        changes = (await self.get(f"/work/items/{self.items[name]}/history"))["changes"]
        return [(one["action"], one["by"].rpartition("/")[2]) for one in reversed(changes)]

    async def told(self) -> list[str]:
        """The story as the lead's thread tells it, in a few words each."""
        return [words for event in await self.thread(LEAD) if (words := _words(event))]

    async def well_told(self, *happened: str) -> None:
        """All of it is on the lead's thread, in this order, and nothing of it is told twice."""
        told = await self.told()
        rest = iter(told)
        for one in happened:
            assert one in rest, f"{one!r} is not where it should be in\n" + "\n".join(told)
        changes = [one for one in told if one.split(" ")[1] in ("claimed", "released", "completed")]
        assert sorted(changes) == sorted(
            [
                *("Ada claimed Shout", "Bob claimed Repeat", "engine released Repeat", "Cleo claimed Repeat"),
                *("Cleo completed Repeat", "Ada completed Shout", "Ada claimed Wire", "Ada completed Wire"),
            ]
        )


def _words(event: dict[str, Any]) -> str:
    match event["type"]:
        case "worktree_event":
            return f"{event['name']} is {event['action']}"
        case "hitl_request":
            return f"asked: {event['kind']}"
        case "team_update":
            return f"{event.get('member') or 'team'} is {event['action']}"
        case "team_message":
            return f"{event['sender']} to {event['recipient']}: {event['message_type']}"
        case "work_update":
            return f"{event['by'].rpartition('/')[2]} {event['action']} {event['subject']}"
        case _:
            return ""


BEGINNING = (
    *("shout is created", "repeat is created", "wire is created", "asked: team", "team is created"),
    *("Ada claimed Shout", "Ada is joined", "Bob claimed Repeat", "Bob is joined", "Cleo is joined"),
    *("Ada is working", "Ada to person: plan_approval_request", "person to Ada: plan_approval_response"),
)
KILLED = ("Bob is stopping", "engine released Repeat", "Bob is stopped", "engine to lead: error")
END = (
    *("Cleo claimed Repeat", "repeat is entered", "Cleo is working", "Cleo completed Repeat"),
    *("Cleo to lead: result", "Cleo to lead: idle_notification"),
    *("Ada completed Shout", "Ada to lead: result", "Ada to lead: idle_notification", "Ada claimed Wire"),
    *("wire is entered", "Ada to person: plan_approval_request", "person to Ada: plan_approval_response"),
    *("Ada completed Wire", "Ada is idle", "Ada to lead: result"),
)


def built(root: Path) -> None:
    """The feature is there, merged, and works; what was half done is not in it."""
    assert run(root) == "HELLO! HELLO! HELLO!"
    assert git(root, "branch", "--show-current") == "main"
    assert git(root, "status", "--porcelain") == ""
    subjects = git(root, "log", "--format=%s").splitlines()
    assert {"Greet", "Shout", "Repeat", "Greet loudly and often"} <= set(subjects)
    assert "Half of it" not in subjects


def run(root: Path) -> str:
    """What the program says."""
    done = subprocess.run(
        (sys.executable, "main.py"), cwd=root, check=True, capture_output=True, text=True, timeout=30
    )
    return done.stdout.strip()
