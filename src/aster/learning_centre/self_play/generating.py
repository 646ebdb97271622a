"""Challenges that a worker model thinks up, in one cluster and of one tier: read as data, and nothing until they have
passed every check."""

from typing import Any, Final

from aster.learning_centre import replies
from aster.learning_centre.self_play.challenge import Challenge, Cluster, Tier

MOST_TOKENS: Final = 6_000
TRIES: Final = 3

INSTRUCTIONS: Final = """\
You set programming challenges. You are given a JSON object with a `cluster` (the field), a `tier` (how hard), the
`titles` of challenges that were set before, and perhaps the `problem` of your last try. Set a new one.

Reply with one JSON object:
{"title": "a few words",
 "statement": "what to do; it names solution.py (solution.sh in the cluster bash) and every file",
 "files": {"name.csv": "the text of a file that is there at the start"},
 "validator": "Python", "reference": "a solution that is right", "wrong": "a plausible solution that is wrong"}
The validator has run(*arguments, stdin="") which runs the solution and returns what it printed, source() which returns
its text, and check(condition, message). It uses fixed data, never chance, the clock or a network, compares what is
printed with texts, and ends within seconds. The solution is a program that uses the standard library alone (for sql:
the module sqlite3). Do not give the solution away in the statement."""


def read(data: dict[str, Any] | None, cluster: Cluster, tier: Tier) -> Challenge | None:
    """The challenge that a reply holds; None when it holds none."""
    if data is None:
        return None
    texts = {name: data.get(name) for name in ("title", "statement", "validator", "reference", "wrong")}
    given: Any = data.get("files") or {}
    if not all(isinstance(text, str) and text.strip() for text in texts.values()) or not isinstance(given, dict):
        return None
    files = {str(name): text for name, text in given.items() if isinstance(text, str)}  # type: ignore[misc]
    return Challenge(
        cluster=cluster,
        tier=tier,
        title=replies.words(data, "title", 120),
        statement=str(texts["statement"]),
        validator=str(texts["validator"]),
        reference=str(texts["reference"]),
        wrong=str(texts["wrong"]),
        files=files,
        solution="solution.sh" if cluster == "bash" else "solution.py",
    )
