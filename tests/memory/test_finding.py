"""Searching several stores, for several users, with and without the library that vectors need."""

import subprocess
import sys
from pathlib import Path

from aster.memory.drafts import Draft
from aster.memory.memory import Memory
from tests.memory.conftest import edge, episode, fact

LATER = 1_900_000_000_000
WITHOUT_NUMPY = """
import asyncio, sys
from pathlib import Path
sys.modules["numpy"] = None

from aster.brain.sqlite.brain import SqliteBrain
from aster.infra.secrets import Secrets
from aster.memory.drafts import Draft
from aster.memory.memory import Memory

async def main():
    brain = SqliteBrain(Path(sys.argv[1]))
    await brain.start()
    memory = Memory(brain.memory, Secrets(), "numpy is not installed", lambda _: None)
    await memory.start()
    await memory.write("ada", [Draft("fact", {"content": text}) for text in ("the dog sleeps", "the cat eats")])
    await memory.write("ada", [Draft("fact", {"content": "dogs bark", "subject": "d", "predicate": "p"})])
    await memory.write("ada", [Draft("fact", {"content": "dogs are quiet", "subject": "d", "predicate": "p"})])
    found = await memory.search("ada", "what do dogs do?")
    print([match.row.text for match in found.best(5)], found.notice)
    await memory.close()
    await brain.close()

asyncio.run(main())
"""


async def test_the_stores_that_answer_come_first(memory: Memory) -> None:
    await memory.write(
        "ada",
        [
            fact("The dog is called Max"),
            episode("We went sailing", "Ada"),
            edge("Ada", "likes", "tea"),
            Draft("trait", {"category": "assets", "key": "car", "value": "blue"}),
        ],
    )
    await memory.embedded()
    found = await memory.search("ada", "what is the dog called?")
    assert found.best(9)[0].row.text == "The dog is called Max"
    assert len(found.best(2)) == 2
    assert found.failed == ()


async def test_a_blank_question_finds_nothing(memory: Memory) -> None:
    await memory.write("ada", [fact("something")])
    assert (await memory.search("ada", "  \n ")).best(9) == []


async def test_the_words_of_one_user_do_not_weigh_for_another(memory: Memory) -> None:
    """How rare a word is depends on the user's own texts: not even a score tells of somebody else's."""
    await memory.write("ada", [fact("tea with Zoe"), fact("coffee with Max")])
    await memory.embedded()
    before = [(m.row.id, m.score, m.reasons) for m in (await memory.search("ada", "tea Zoe", now=LATER)).best(9)]
    await memory.write("bob", [fact(f"tea with Zoe number {n}") for n in range(50)])
    await memory.embedded()
    after = [(m.row.id, m.score, m.reasons) for m in (await memory.search("ada", "tea Zoe", now=LATER)).best(9)]
    assert after == before != []


def test_without_numpy_words_decide(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", WITHOUT_NUMPY, str(tmp_path / "brain.sqlite")],
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout == "['the dog sleeps', 'dogs are quiet'] found by words alone: numpy is not installed\n"
