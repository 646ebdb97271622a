"""What people are asked, what they allow once and for all, and what they say of answers."""

from aster.brain.grants import GrantRow
from aster.brain.protocol import Brain
from aster.brain.records import ThreadKey
from aster.brain.signals import Said, Signal
from aster.brain.unit import Unanswered
from aster.contracts.events import HitlRequest, HitlResolved, Phase, ThreadLifecycle, ToolCallIssued
from aster.contracts.tools import Effect
from aster.infra.clock import now_ms
from tests.brain.thread import KEY, begin, ending

OTHER = ThreadKey("bob", "task-1")


async def ask(brain: Brain, request_id: str, **fields: object) -> None:
    kind = fields.pop("kind", "permission")
    request = HitlRequest(request_id=request_id, kind=kind, question="May I?", **fields)  # pyright: ignore[reportArgumentType]
    await brain.append(KEY, "turn-1", [request])


async def test_requests_are_asked_answered_and_made_void(brain: Brain) -> None:
    await begin(brain)
    await ask(
        brain, "r1", tool="bash", tool_call_id="c1", input={"a": [1, None]}, options=("yes", "no"), reason="why"
    )
    await ask(brain, "r2", kind="budget")
    await brain.append(KEY, "turn-1", [ThreadLifecycle(phase=Phase.SUSPENDED)])
    first, second = await brain.pending_requests("ada")
    assert (first.request_id, first.tool, first.input, first.options) == (
        "r1",
        "bash",
        b'{"a":[1,null]}',
        b'["yes","no"]',
    )
    assert await brain.pending_requests("ada", "task-1") == [first, second]
    assert await brain.pending_requests("ada", "task-2") == await brain.pending_requests("bob") == []
    assert await brain.budget_requests() == [second]
    assert await brain.users_asked("budget") == ["ada"]
    assert await brain.users_asked("login") == []
    assert await brain.answered_turns() == []
    assert await brain.waits("ada", "turn-1")
    assert not await brain.waits("bob", "turn-1")
    assert (await brain.counts())["pending"] == 2
    await brain.append(KEY, "turn-1", [HitlResolved(request_id="r1", answer="yes")], guard=Unanswered("r1"))
    answered = await brain.request("ada", "r1")
    assert answered is not None
    assert (answered.status, answered.answer) == ("answered", "yes")
    assert await brain.request("bob", "r1") is None
    await brain.append(KEY, "turn-1", [ending(Phase.CANCELLED)])
    void = await brain.request("ada", "r2")
    assert void is not None
    assert void.status == "void"


def grant(grant_id: str, **fields: object) -> GrantRow:
    usual = {
        "grant_id": grant_id,
        "user_id": "ada",
        "tool": "bash",
        "pattern": "ls *",
        "behavior": "allow",
        "scope": "everywhere",
        "task_id": "",
        "agent": "",
        "created_by": "ada",
        "created_at": 5,
    }
    return GrantRow(**{**usual, **fields})  # pyright: ignore[reportArgumentType]


async def test_grants_hold_where_they_were_given_until_they_end(brain: Brain) -> None:
    everywhere = grant("g1")
    here = grant("g2", scope="task", task_id="task-1", pin="p")
    by_agent = grant("g3", scope="agent", agent="main", expires_at=now_ms() + 60_000)
    over = grant("g4", expires_at=now_ms() - 1)
    await brain.put(everywhere, here, by_agent, over)
    assert await brain.grants("ada") == [by_agent, here, everywhere]
    assert await brain.grants_for(KEY, "main") == [by_agent, here, everywhere]
    assert await brain.grants_for(ThreadKey("ada", "task-2"), "other") == [everywhere]
    assert await brain.grants("bob") == []
    assert not await brain.drop_grant("bob", "g1")
    assert await brain.drop_grant("ada", "g1")
    await begin(brain)
    call = ToolCallIssued(
        tool="bash",
        tool_call_id="c1",
        input={},
        step=1,
        effect=Effect.PURE,
        idempotency_key="k",
        grant_id="g2",
    )
    await brain.append(KEY, "turn-1", [call])
    [used] = [each for each in await brain.grants("ada") if each.grant_id == "g2"]
    assert used.uses == 1
    assert used.last_used_at is not None
    [past] = await brain.past_calls("ada", 5, 10)
    assert (past.task_id, past.seq, past.type) == ("task-1", 3, "tool_call")
    assert await brain.past_calls("bob", 5, 10) == []


def signal(signal_id: str, target_id: str, rating: float | None, **fields: object) -> Signal:
    usual = {
        "signal_id": signal_id,
        "user_id": "ada",
        "target": "turn",
        "target_id": target_id,
        "task_id": "task-1",
        "turn_id": "turn-1",
        "rating": rating,
        "text": "so",
        "correction": "",
        "created_at": 1,
        "updated_at": 1,
    }
    return Signal(**{**usual, **fields})  # pyright: ignore[reportArgumentType]


async def test_the_newest_word_on_a_thing_counts(brain: Brain) -> None:
    assert await brain.keep_signal(signal("s0", "turn-1", 1.0)) is None
    await begin(brain)
    first = await brain.keep_signal(signal("s1", "turn-1", 1.0))
    second = await brain.keep_signal(signal("s2", "msg-1", None, target="message"))
    again = await brain.keep_signal(signal("s3", "turn-1", -1.0, updated_at=2))
    assert first is not None
    assert second is not None
    assert again is not None
    assert (again.signal_id, again.number, again.rating) == ("s1", first.number, -1.0)
    assert await brain.signals("ada", limit=9) == [second, again]
    assert await brain.signals("ada", limit=9, before=second.number) == [again]
    assert await brain.signals("ada", limit=9, target="message", task_id="task-1") == [second]
    assert await brain.signals("bob", limit=9) == []
    assert await brain.said(KEY, "msg-1") == Said("task-1", "turn-1")
    assert await brain.said(OTHER, "msg-1") is None
    assert not await brain.drop_signal("bob", "s1")
    assert await brain.drop_signal("ada", "s1")
    assert await brain.signals("ada", limit=9) == [second]
