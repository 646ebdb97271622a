"""Budgets: every rung of the ladder, who may climb it, and that calls side by side cannot overrun it together.

The model costs 2.50 USD for a million input tokens; one call with the default output limit may cost about 0.05 USD.
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from aster.brain.records import ThreadKey
from aster.brain.sqlite.brain import SqliteBrain
from aster.contracts.budgets import BudgetCase
from aster.contracts.events import BudgetEvent, Event, HitlRequest, HitlResolved, Phase, ThreadLifecycle
from aster.contracts.model import encode, to_builtins
from aster.engine_core.budget import Day
from aster.engine_core.fold import fold, restore
from aster.infra.clock import now_ms
from aster.server import keys
from aster.testing import Failure, Hold, ModelServer, Reply, Text, ToolCall, Usage
from tests.engine_core.frames import events, last
from tests.engine_core.test_fold import OPENING, records, usage
from tests.live import Live, live, text_of

KEY = "the-operators-key"
LOOK = ToolCall("glob", {"pattern": "*"}, id="look")
CASE = BudgetCase(
    scope="user",
    owner="operator",
    rung="exceeded",
    limit_usd=1.0,
    spent_usd=0.9,
    estimate_usd=0.2,
    up_to_usd=2.1,
    day="2026-11-03",
)


def paid(usd: float, *parts: Any) -> Reply:
    """An answer that costs so much."""
    return Reply(parts or [Text("done")], usage=Usage(input=round(usd / 2.5 * 1_000_000)))


@asynccontextmanager
async def priced(model: ModelServer, **settings: Any) -> AsyncIterator[Live]:
    async with live(model, llm_model="gpt-4o", task_titles=False, **settings) as engine:
        yield engine


class Calendar:
    """A time of day that a test turns by hand."""

    def __init__(self, moment: str) -> None:
        self.turn_to(moment)

    def turn_to(self, moment: str) -> None:
        self.ms = int(datetime.fromisoformat(moment).replace(tzinfo=UTC).timestamp() * 1000)

    def __call__(self) -> int:
        return self.ms


def models(model: ModelServer) -> list[str]:
    return [call.body["model"] for call in model.calls]


async def test_below_the_ladder_nothing_is_said(model: ModelServer) -> None:
    async with priced(model, budget_task_usd=1.0, light_model="gpt-4o-mini") as aster:
        model.enqueue(paid(0.5))
        frames = await aster.execute("go")
    assert (last(frames)["phase"], events(frames, "budget_event")) == ("completed", [])
    assert models(model) == ["gpt-4o"]


async def test_from_80_percent_on_the_light_model_is_asked(model: ModelServer) -> None:
    async with priced(model, budget_task_usd=1.0, light_model="gpt-4o-mini") as aster:
        model.enqueue(paid(0.8, LOOK), Reply([LOOK]), Reply([Text("done")]))
        frames = await aster.execute("go")
    assert last(frames)["phase"] == "completed"
    assert models(model) == ["gpt-4o", "gpt-4o-mini", "gpt-4o-mini"]
    (warning,) = events(frames, "budget_event")
    assert (warning["scope"], warning["status"], warning["limit"]) == ("task", "warning", 1.0)
    assert warning["spent"] == pytest.approx(0.8)
    assert [data["model"] for data in events(frames, "usage")][1:] == ["gpt-4o-mini", "gpt-4o-mini"]


async def test_what_the_light_model_cannot_see_stays_with_the_usual_one(model: ModelServer) -> None:
    image = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "AAAA"}}
    async with priced(model, budget_task_usd=1.0, light_model="blind-model") as aster:
        model.enqueue(paid(0.8, LOOK), paid(0.01))
        await aster.execute("look at this", media=[image])
    assert models(model) == ["gpt-4o", "gpt-4o"]


async def test_at_95_percent_a_person_is_asked_once(model: ModelServer) -> None:
    async with priced(model, budget_task_usd=1.0) as aster:
        model.enqueue(paid(0.92), paid(0.001, LOOK), paid(0.001))
        await aster.execute("spend")
        async with aster.executing("go") as stream:
            request = (await stream.until("hitl_request")).data
            assert (request["kind"], request["options"]) == ("budget", ["yes", "no"])
            assert (request["input"]["scope"], request["input"]["rung"]) == ("task", "ask")
            await stream.until("thread_lifecycle", phase="suspended")
            assert len(model.calls) == 1
            (pending,) = (await aster.http.get("/hitl/pending")).json()["pending"]
            assert pending["input"] == request["input"]
            unfit = await aster.http.post("/hitl/respond", json={"task_id": "t1", "answer": "perhaps"})
            assert unfit.status_code == 422
            await aster.http.post("/hitl/respond", json={"task_id": "t1", "answer": "yes"})
            frames = await stream.rest()
    assert last(frames)["phase"] == "completed"
    assert len(events(frames, "hitl_request")) == 1
    assert [data["status"] for data in events(frames, "budget_event")] == ["warning"]
    assert len(model.calls) == 3


async def test_a_no_ends_the_turn_and_costs_nothing(model: ModelServer) -> None:
    async with priced(model, budget_task_usd=1.0) as aster:
        model.enqueue(paid(0.92), paid(0.01))
        await aster.execute("spend")
        async with aster.executing("go") as stream:
            await stream.until("hitl_request")
            await aster.http.post("/hitl/respond", json={"task_id": "t1", "answer": "no"})
            frames = await stream.rest()
        assert last(frames)["phase"] == "errored"
        (error,) = events(frames, "error")
        assert (error["error"], error["retry"]) == ("BUDGET_EXCEEDED", "ask")
        assert len(model.calls) == 1
        assert text_of(await aster.execute("elsewhere", "t2")) == "done"


async def test_at_100_percent_the_turn_is_parked_until_more_is_allowed(model: ModelServer) -> None:
    async with priced(model, budget_task_usd=1.0) as aster:
        model.enqueue(paid(0.98, LOOK), paid(0.01, LOOK), paid(1.02, LOOK), paid(0.01))
        async with aster.executing("go") as stream:
            request = (await stream.until("hitl_request")).data
            assert request["input"]["rung"] == "exceeded"
            assert stream.seen[-2].data["status"] == "exceeded"
            await stream.until("thread_lifecycle", phase="suspended")
            assert len(model.calls) == 1
            await aster.http.post("/hitl/respond", json={"request_id": request["request_id"], "answer": "yes"})
            again = (await stream.until("hitl_request")).data
            assert again["input"]["limit_usd"] == request["input"]["up_to_usd"] > 2.0
            assert again["input"]["spent_usd"] == pytest.approx(2.01)
            await stream.until("thread_lifecycle", phase="suspended")
            assert len(model.calls) == 3
            await aster.http.post("/hitl/respond", json={"request_id": again["request_id"], "answer": "yes"})
            frames = await stream.rest()
    assert last(frames)["phase"] == "completed"
    assert [data["phase"] for data in events(frames, "thread_lifecycle")] == [
        "started",
        *("suspended", "resumed") * 2,
        "completed",
    ]


async def test_an_exhausted_task_takes_no_more_messages(model: ModelServer) -> None:
    async with priced(model, budget_task_usd=1.0) as aster:
        model.enqueue(paid(1.0), paid(0.1))
        await aster.execute("spend")
        refused = await aster.http.post("/execute", json={"message": "more", "task_id": "t1"})
        assert (refused.status_code, refused.json()["error"]) == (402, "BUDGET_EXCEEDED")
        assert refused.json()["details"] == {"scope": "task", "limit_usd": 1.0, "spent_usd": 1.0}
        assert (await aster.http.delete("/tasks/t1")).status_code == 200
        again = await aster.http.post("/execute", json={"message": "more", "task_id": "t1"})
        assert again.status_code == 402
        assert last(await aster.execute("elsewhere", "t2"))["phase"] == "completed"
        assert len(model.calls) == 2


async def test_a_raise_lets_parked_turns_go_on(model: ModelServer) -> None:
    async with priced(model, budget_task_usd=1.0) as aster:
        model.enqueue(paid(0.98, LOOK), paid(0.01))
        async with aster.executing("go") as stream:
            await stream.until("thread_lifecycle", phase="suspended")
            lower = await aster.http.put("/usage/budgets/task:t1", json={"limit_usd": 0.5})
            assert lower.status_code == 200
            assert len((await aster.http.get("/hitl/pending")).json()["pending"]) == 1
            await aster.http.put("/usage/budgets/task:t1", json={"limit_usd": 5.0})
            frames = await stream.rest()
    assert last(frames)["phase"] == "completed"
    (resolved,) = events(frames, "hitl_resolved")
    assert resolved["answer"] == "raised"
    assert "approved" not in resolved


async def test_a_small_raise_is_not_a_yes_to_more(model: ModelServer) -> None:
    async with priced(model, budget_task_usd=1.0) as aster:
        model.enqueue(paid(0.98, LOOK), paid(0.01))
        async with aster.executing("go") as stream:
            first = (await stream.until("hitl_request")).data
            await stream.until("thread_lifecycle", phase="suspended")
            await aster.http.put("/usage/budgets/task:t1", json={"limit_usd": 1.01})
            second = (await stream.until("hitl_request")).data
            assert (first["input"]["limit_usd"], second["input"]["limit_usd"]) == (1.0, 1.01)
            await stream.until("thread_lifecycle", phase="suspended")
            assert len(model.calls) == 1


class People(NamedTuple):
    brain: Path
    ada: str
    bob: str


@pytest.fixture
def people(tmp_path: Path) -> People:
    brain = tmp_path / "brain.sqlite"
    return People(brain, keys.create(brain, "laptop", "ada").key, keys.create(brain, "phone", "bob").key)


async def test_a_user_cannot_go_beyond_the_operators_budget(model: ModelServer, people: People) -> None:
    ada = {"X-Engine-Key": people.ada}
    async with priced(model, sqlite_db_path=people.brain, engine_api_key=KEY, budget_user_day_usd=1.0) as aster:
        model.enqueue(paid(0.98, LOOK), paid(0.01), paid(0.4), paid(0.6))
        async with aster.executing("go", key=people.ada) as stream:
            request = (await stream.until("hitl_request")).data
            assert (request["input"]["scope"], request["input"]["rung"]) == ("user", "exceeded")
            body = {"request_id": request["request_id"], "answer": "yes"}
            refused = await aster.http.post("/hitl/respond", json=body, headers=ada)
            assert (refused.status_code, refused.json()["error"]) == (403, "PERMISSION_DENIED")
            body = {"limit_usd": 5.0}
            raised = await aster.http.put("/usage/budgets/user", json=body, headers=ada)
            assert (raised.status_code, raised.json()["error"]) == (403, "PERMISSION_DENIED")
            assert len(model.calls) == 1
            await aster.http.put("/usage/budgets/user", params={"user": "ada"}, json={"limit_usd": 1.3})
            assert last(await stream.rest())["phase"] == "completed"
        frames = await aster.execute("and bob?", key=people.bob)
        assert (last(frames)["phase"], events(frames, "budget_event")) == ("completed", [])
        await aster.execute("bob again", key=people.bob)
        refused = await aster.http.post(
            "/execute", json={"message": "x", "task_id": "t9"}, headers={"X-Engine-Key": people.bob}
        )
        assert refused.status_code == 402
        assert refused.json()["details"]["resets_at"].endswith("T00:00:00.000Z")


async def test_a_users_own_limit_is_theirs_to_pass(model: ModelServer, people: People) -> None:
    ada = {"X-Engine-Key": people.ada}
    async with priced(model, sqlite_db_path=people.brain, engine_api_key=KEY, budget_task_usd=1.0) as aster:
        put = await aster.http.put("/usage/budgets/task:t1", json={"limit_usd": 0.1}, headers=ada)
        assert (put.json()["owner"], put.json()["limit_usd"]) == ("user", 0.1)
        model.enqueue(paid(0.09, LOOK), paid(0.01))
        async with aster.executing("go", key=people.ada) as stream:
            request = (await stream.until("hitl_request")).data
            assert (request["input"]["owner"], request["input"]["limit_usd"]) == ("user", 0.1)
            body = {"request_id": request["request_id"], "answer": "yes"}
            assert (await aster.http.post("/hitl/respond", json=body, headers=ada)).status_code == 200
            assert last(await stream.rest())["phase"] == "completed"


async def test_a_turn_budget_asks_whoever_runs_the_turn(model: ModelServer, people: People) -> None:
    ada = {"X-Engine-Key": people.ada}
    async with priced(model, sqlite_db_path=people.brain, engine_api_key=KEY, budget_turn_usd=0.5) as aster:
        model.enqueue(paid(0.6, LOOK), paid(0.01), paid(0.3))
        async with aster.executing("go", key=people.ada) as stream:
            request = (await stream.until("hitl_request")).data
            assert (request["input"]["scope"], request["input"]["rung"]) == ("turn", "exceeded")
            body = {"request_id": request["request_id"], "answer": "yes"}
            assert (await aster.http.post("/hitl/respond", json=body, headers=ada)).status_code == 200
            assert last(await stream.rest())["phase"] == "completed"
        frames = await aster.execute("a new turn begins anew", key=people.ada)
        assert events(frames, "budget_event") == []


@pytest.mark.parametrize("by", ["answer", "put", "setting"])
async def test_a_parked_turn_outlives_the_engine(model: ModelServer, tmp_path: Path, by: str) -> None:
    brain = tmp_path / "brain.sqlite"
    model.enqueue(paid(0.98, LOOK), paid(0.01))
    async with (
        priced(model, sqlite_db_path=brain, budget_task_usd=1.0) as aster,
        aster.executing("go") as stream,
    ):
        suspended = await stream.until("thread_lifecycle", phase="suspended")
    limit = 5.0 if by == "setting" else 1.0
    async with priced(model, sqlite_db_path=brain, budget_task_usd=limit) as aster:
        if by != "setting":
            assert len((await aster.http.get("/hitl/pending")).json()["pending"]) == 1
            assert len(model.calls) == 1
        if by == "answer":
            await aster.http.post("/hitl/respond", json={"task_id": "t1", "answer": "yes"})
        if by == "put":
            await aster.http.put("/usage/budgets/task:t1", json={"limit_usd": 2.0})
        frames = await aster.replay(task_id="t1", after_seq=suspended.id)
    assert last(frames)["phase"] == "completed"
    assert len(model.calls) == 2


async def test_a_question_that_was_put_before_a_crash_is_not_put_twice(model: ModelServer, tmp_path: Path) -> None:
    brain = SqliteBrain(tmp_path / "brain.sqlite")
    await brain.start()
    asked = HitlRequest(request_id="hitl-1", kind="budget", question="?", input=to_builtins(CASE))
    await brain.append(ThreadKey("default", "t1"), "turn-1", [*OPENING, asked])
    await brain.close()
    model.enqueue(paid(0.01))
    same_day = Calendar(f"{CASE.day}T12:00:00")
    async with (
        priced(model, sqlite_db_path=tmp_path / "brain.sqlite", budget_user_day_usd=1.0, now=same_day) as aster,
        aster.replaying(task_id="t1", after_seq=3) as stream,
    ):
        await stream.until("thread_lifecycle", phase="suspended")
        (pending,) = (await aster.http.get("/hitl/pending")).json()["pending"]
        assert (pending["request_id"], len(model.calls)) == ("hitl-1", 0)
        await aster.http.post("/hitl/respond", json={"task_id": "t1", "answer": "yes"})
        frames = await stream.rest()
    assert last(frames)["phase"] == "completed"
    assert events(frames, "hitl_request") == []


async def test_a_call_cut_by_a_restart_leaves_nothing_set_aside(model: ModelServer, tmp_path: Path) -> None:
    brain = tmp_path / "brain.sqlite"
    settings = {"sqlite_db_path": brain, "budget_user_day_usd": 0.2, "max_tokens": 12_000}
    model.enqueue(Reply([Hold("cut"), Text("never")]), paid(0.01))
    async with priced(model, **settings) as aster, aster.executing("go") as stream:
        await stream.until("user_message")
        await model.wait_calls(1)
    async with priced(model, **settings) as aster:
        frames = await aster.replay(task_id="t1")
    assert last(frames)["phase"] == "completed"
    assert len(model.calls) == 2


async def test_calls_side_by_side_wait_for_each_other_rather_than_overrun(model: ModelServer) -> None:
    """Each may cost 0.13 of the 0.20 USD; neither needs a person, they only cannot both be under way."""
    async with priced(model, budget_user_day_usd=0.2, max_tokens=12_000) as aster:
        model.enqueue(Reply([Hold("first"), Text("one")], usage=Usage(input=4000)), paid(0.01, Text("two")))
        first = asyncio.create_task(aster.execute("a", "t1"))
        await model.wait_calls(1)
        async with aster.executing("b", "t2") as stream:
            await stream.until("user_message")
            second = asyncio.create_task(stream.rest())
            with pytest.raises(TimeoutError):
                await asyncio.wait_for(model.wait_calls(2), 0.3)
            model.release("first")
            assert text_of(await first) == "one"
            frames = await second
    assert text_of(frames) == "two"
    assert events(frames, "hitl_request") == []


async def test_many_turns_at_once_stay_within_the_budget(model: ModelServer) -> None:
    async with priced(model, budget_user_day_usd=0.5, max_tokens=4096) as aster:
        model.enqueue(*[paid(0.04) for _ in range(30)])

        async def ask(number: int) -> str:
            async with aster.executing("go", f"t{number}") as stream:
                if stream.response.status_code != 200:
                    assert stream.response.status_code == 402
                    return "refused"
                async for frame in stream:
                    if frame.event == "thread_lifecycle" and frame.data["phase"] in ("suspended", "completed"):
                        return str(frame.data["phase"])
            raise AssertionError

        ends = await asyncio.gather(*(ask(number) for number in range(30)))
        total = (await aster.http.get("/usage")).json()["total"]
    assert ends.count("completed") == len(model.calls) == total["calls"]
    assert 0.4 <= total["cost_usd"] <= 0.5
    assert "suspended" in ends


async def test_a_failed_call_gives_back_what_was_set_aside(model: ModelServer) -> None:
    async with priced(model, budget_user_day_usd=0.2, max_tokens=12_000) as aster:
        model.enqueue(Failure(503, retry_after=0.0), paid(0.01))
        frames = await asyncio.wait_for(aster.execute("go"), 20)
    assert last(frames)["phase"] == "completed"
    assert len(model.calls) == 2


async def test_a_model_without_a_price_counts_for_nothing(model: ModelServer) -> None:
    async with live(model, llm_model="somebodys-model", budget_task_usd=0.01) as aster:
        model.enqueue(paid(5.0, LOOK), paid(5.0))
        frames = await aster.execute("go")
    assert last(frames)["phase"] == "completed"
    assert events(frames, "hitl_request") == []


async def test_a_turn_parked_by_the_day_goes_on_in_the_next(model: ModelServer) -> None:
    today = Day.at(now_ms())
    calendar = Calendar(today.end[:19])
    calendar.ms = today.end_ms - 50
    async with priced(model, budget_user_day_usd=1.0, now=calendar) as aster:
        model.enqueue(paid(0.98, LOOK), paid(0.01))
        async with aster.executing("go") as stream:
            assert (await stream.until("hitl_request")).data["input"]["scope"] == "user"
            await stream.until("thread_lifecycle", phase="suspended")
            assert (await aster.http.get("/usage/budgets")).json()["resets_at"] == today.end
            calendar.ms = today.end_ms
            assert (await stream.until("hitl_resolved")).data["answer"] == "new_day"
            frames = await stream.rest()
        assert (last(frames)["phase"], text_of(frames)) == ("completed", "done")
        assert len(model.calls) == 2
        assert (await aster.http.get("/hitl/pending")).json()["pending"] == []


async def test_a_turn_parked_yesterday_goes_on_at_the_next_start(model: ModelServer, tmp_path: Path) -> None:
    today, brain = Day.at(now_ms()), tmp_path / "brain.sqlite"
    settings: dict[str, Any] = {"budget_user_day_usd": 1.0, "sqlite_db_path": brain}
    model.enqueue(paid(0.98, LOOK), paid(0.01))
    async with priced(model, **settings, now=lambda: today.start_ms) as aster, aster.executing("go") as stream:
        await stream.until("thread_lifecycle", phase="suspended")
    async with priced(model, **settings, now=lambda: today.end_ms) as aster:
        assert last(await aster.replay(task_id="t1"))["phase"] == "completed"


async def test_a_new_day_without_room_changes_nothing(model: ModelServer, tmp_path: Path) -> None:
    """The one call may cost more than a whole day: only a person can let it go on."""
    today, brain = Day.at(now_ms()), tmp_path / "brain.sqlite"
    settings: dict[str, Any] = {"budget_user_day_usd": 0.01, "sqlite_db_path": brain}
    async with priced(model, **settings, now=lambda: today.start_ms) as aster, aster.executing("go") as stream:
        asked = (await stream.until("hitl_request")).data["request_id"]
        await stream.until("thread_lifecycle", phase="suspended")
    async with priced(model, **settings, now=lambda: today.end_ms) as aster:
        (pending,) = (await aster.http.get("/hitl/pending")).json()["pending"]
        assert pending["request_id"] == asked
    assert model.calls == []


async def test_the_price_of_the_day_counts(model: ModelServer, tmp_path: Path) -> None:
    facts = tmp_path / "facts.json"
    facts.write_text(
        '{"house": {"price": [{"input": 1, "output": 1}, {"input": 3, "output": 1, "since": "2027-02-01"}]}}'
    )
    days = {"gemini-4-argon": ("2026-11-30", "2026-12-01"), "house": ("2027-01-31", "2027-02-01")}
    costs: list[float] = []
    for name, (before, after) in days.items():
        calendar = Calendar(f"{before}T23:59:59")
        async with live(model, llm_model=name, now=calendar, model_facts_path=facts) as aster:
            for moment in (f"{before}T23:59:59", f"{after}T00:00:00"):
                calendar.turn_to(moment)
                model.enqueue(Reply([Text("done")], usage=Usage(input=1_000_000)))
                costs += [data["cost_usd"] for data in events(await aster.execute("go"), "usage")]
            total = (await aster.http.get("/usage")).json()["total"]
        assert total["cost_usd"] == pytest.approx(sum(costs[-2:]))
    assert costs == [2.0, 4.0, 1.0, 3.0]


async def test_a_parked_turn_can_be_cancelled_and_forked(model: ModelServer) -> None:
    async with priced(model, budget_task_usd=1.0) as aster:
        model.enqueue(paid(0.98, LOOK), paid(0.01))
        async with aster.executing("go") as stream:
            suspended = await stream.until("thread_lifecycle", phase="suspended")
            fork = await aster.http.post("/tasks/t1/fork", json={"seq": suspended.id, "task_id": "copy"})
            assert fork.status_code == 201
            await aster.http.post("/execute/cancel", json={"task_id": "t1"})
            assert last(await stream.rest())["phase"] == "cancelled"
        assert (await aster.http.get("/hitl/pending")).json()["pending"] == []
        assert last(await aster.execute("on the copy", "copy"))["phase"] == "completed"


PARKED: list[Event] = [
    *OPENING,
    BudgetEvent(scope="user", status="warning", limit=1.0, spent=0.9),
    BudgetEvent(scope="user", status="exceeded", limit=1.0, spent=0.9),
    HitlRequest(request_id="hitl-1", kind="budget", question="?", input=to_builtins(CASE)),
    ThreadLifecycle(phase=Phase.SUSPENDED),
    HitlResolved(request_id="hitl-1", answer="yes", approved=True),
    ThreadLifecycle(phase=Phase.RESUMED, segment=1),
    usage(1),
    ThreadLifecycle(phase=Phase.COMPLETED, segment=1, stop_reason="end_turn"),
]


@pytest.mark.parametrize("cut", range(len(PARKED) + 1))
def test_the_fold_keeps_questions_about_budgets(cut: int) -> None:
    rows = records(PARKED)
    whole = fold("turn-1", rows)
    kept = encode(fold("turn-1", rows[:cut]))
    assert encode(fold("turn-1", rows[cut:], restore(kept))) == encode(whole)
    (question,) = whole.budget_questions
    assert question.case == CASE
    assert question.answer is not None
    assert question.answer.approved
    assert whole.budget_warned == {"user": 1.0}
