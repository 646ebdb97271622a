"""How much of some kinds is kept at a time, and what goes when there is more."""

from aster.memory.caps import LESSONS, VALUES
from aster.memory.drafts import Draft
from aster.memory.memory import Memory


def lesson(number: int, **more: object) -> Draft:
    fields = {"trigger": f"deploy number {number}", "correct_pattern": "Read the log first", **more}
    return Draft("lesson", fields, extractor="test")


async def test_the_playbook_keeps_the_newest_the_verified_and_the_most_useful(memory: Memory) -> None:
    done = await memory.write("ada", [lesson(n, verified=n == 3, helpful=9 * (n == 5)) for n in range(LESSONS)])
    harmful = done[7].row.id
    for _ in range(3):
        await memory.mark("ada", harmful, helpful=False)
    for number in (LESSONS, LESSONS + 1):
        await memory.write("ada", [lesson(number)])
    rows = await memory.page("ada", limit=200, store="lessons")
    held = {row.id for row in rows if row.valid_until is None}
    assert len(held) == LESSONS
    assert len(rows) == LESSONS + 2, "what had to go stays in the history"
    assert {done[3].row.id, done[5].row.id} <= held
    found = await memory.search("ada", "deploy number", ["lessons"], limit=100)
    assert {match.row.id for match in found.best(100)} <= held
    await memory.write("bob", [lesson(1)])
    assert len([r for r in await memory.page("bob", limit=9) if r.valid_until is None]) == 1


async def test_a_line_of_the_profile_has_its_newest_values(memory: Memory) -> None:
    for number in range(VALUES + 2):
        draft = Draft("trait", {"category": "interests", "key": "hobby", "value": f"hobby {number}"})
        await memory.write("ada", [draft])
    await memory.write("ada", [Draft("trait", {"category": "interests", "key": "music", "value": "cello"})])
    rows = await memory.page("ada", limit=50, store="profile")
    held = [row.fields["value"] for row in rows if row.valid_until is None]
    assert held == ["cello", *(f"hobby {number}" for number in range(VALUES + 1, 1, -1))]
