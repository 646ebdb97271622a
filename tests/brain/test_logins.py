"""Logins in the brain: taken once, by whom they belong to, and credentials that nobody overwrites by accident."""

import asyncio

from msgspec.structs import replace

from aster.brain.assets import ConnectionRow, LoginRow, Sealed
from aster.brain.protocol import Brain
from aster.brain.sql.logins import MOST_OPEN


def login(word: str, user_id: str = "ada", **more: int) -> LoginRow:
    times = {"created_at": 1, "expires_at": 100, **more}
    return LoginRow(state_hash=word, user_id=user_id, server_name="fix", sealed=b"\x00sealed", **times)


def connection(ref_id: str, credentials: bytes | None, user_id: str = "ada") -> ConnectionRow:
    return ConnectionRow(
        ref_id=ref_id,
        user_id=user_id,
        server_name=ref_id,
        status="connected",
        scopes=b"[]",
        created_at=0,
        updated_at=0,
        credentials=credentials,
    )


async def test_a_login_is_taken_once_by_whom_it_belongs_to(brain: Brain) -> None:
    await brain.keep_login(login("one"), 2)
    assert await brain.logins("ada", "fix", 2) == [login("one")]
    assert await brain.logins("bob", "fix", 2) == []
    assert await brain.take_login("other", 2, None) is None
    assert await brain.take_login("one", 2, "bob") is None
    assert await brain.take_login("one", 100, "ada") is None
    taken = await asyncio.gather(*(brain.take_login("one", 2, None) for _ in range(5)))
    assert [row for row in taken if row is not None] == [login("one")]


async def test_old_logins_and_too_many_go(brain: Brain) -> None:
    for number in range(MOST_OPEN + 3):
        await brain.keep_login(login(f"{number:02}", created_at=number), 2)
    found = await brain.logins("ada", "fix", 2)
    assert [row.state_hash for row in found] == [f"{number:02}" for number in range(MOST_OPEN + 2, 2, -1)]
    await brain.keep_login(login("last", expires_at=500), 200)
    assert [row.state_hash for row in await brain.logins("ada", "fix", 2)] == ["last"]


async def test_credentials_are_changed_only_by_who_has_seen_them(brain: Brain) -> None:
    await brain.put(connection("one", None), connection("two", b"\xff1", "bob"))
    first = replace(connection("one", b"\xff2"), status="expired", expires_at=7)
    assert await brain.swap_connection(first, None)
    assert not await brain.swap_connection(connection("one", b"\xff3"), None)
    assert not await brain.swap_connection(connection("one", b"\xff3"), b"\xff9")
    assert not await brain.swap_connection(connection("two", b"\xff3", "ada"), b"\xff1")
    assert await brain.connections("ada") == [first]
    assert await brain.sealed("", 1) == [Sealed("ada", "one", b"\xff2")]
    assert await brain.sealed("one", 10) == [Sealed("bob", "two", b"\xff1")]
    assert not await brain.reseal(Sealed("bob", "two", b"\xff0"), b"\xff5")
    assert await brain.reseal(Sealed("bob", "two", b"\xff1"), b"\xff5")
    assert [row.credentials for row in await brain.connections("bob")] == [b"\xff5"]
    assert await brain.users_asked("login") == []
