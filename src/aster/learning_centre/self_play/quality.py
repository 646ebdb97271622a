"""What speaks against a challenge before anything of it is run: names that do not agree, a validator that depends on
chance or on the outside world, tables that are none, a statement that gives the solution away."""

import ast
import csv
import re
from collections.abc import Iterator
from typing import Final

from aster.learning_centre.self_play.challenge import Challenge

MOST_FILES: Final = 8
MOST_CHARS: Final = 20_000
STATEMENT_CHARS: Final = (40, 6_000)
SOLUTIONS: Final = frozenset({"solution.py", "solution.sh"})
CHECKED_BY: Final = frozenset({"run", "source"})
"""What a validator calls to see what a solution does, or what it is."""
_OWN: Final = frozenset({"validator.py", "check.py", *SOLUTIONS})
_FILE: Final = re.compile(r"[a-z0-9][a-z0-9_.-]{0,63}")
_NAMED: Final = re.compile(r"[\w-]+\.(?:csv|json|jsonl|txt|log|sql|db|md|tsv|ini|toml|xml|yaml)")
_ADDRESS: Final = re.compile(r"https?://|ftp://|\blocalhost\b|\b\d{1,3}(?:\.\d{1,3}){3}:\d")
_IMPORTS: Final = frozenset(
    (
        *("ast", "bisect", "collections", "csv", "datetime", "decimal", "fractions", "functools", "heapq", "io"),
        *("itertools", "json", "math", "operator", "os", "pathlib", "re", "sqlite3", "statistics", "string"),
        *("subprocess", "sys", "tempfile", "textwrap", "time"),
    )
)
_CHANCE: Final = frozenset(
    {"random", "urandom", "uuid4", "now", "utcnow", "today", "randint", "getrandom", "time_ns"}
)


def problems(challenge: Challenge) -> Iterator[str]:
    """Everything that is wrong with it, as far as that can be read."""
    least, most = STATEMENT_CHARS
    if not least <= len(challenge.statement) <= most:
        yield f"the statement must have {least} to {most} characters"
    if challenge.solution not in SOLUTIONS or challenge.solution not in challenge.statement:
        yield f"the statement must name the solution, one of {', '.join(sorted(SOLUTIONS))}"
    if _ADDRESS.search(challenge.statement):
        yield "the statement names an address, and there is no network"
    if challenge.reference.strip() in challenge.statement:
        yield "the statement holds the solution"
    if not challenge.reference.strip() or challenge.reference.split() == challenge.wrong.split():
        yield "the right solution and the wrong one are the same, or there is none"
    texts = (challenge.validator, challenge.reference, challenge.wrong, *challenge.files.values())
    if len(challenge.files) > MOST_FILES or any(len(text) > MOST_CHARS for text in texts):
        yield f"there may be {MOST_FILES} files of {MOST_CHARS} characters"
    yield from _wrong_files(challenge)
    yield from _wrong_validator(challenge)


def _wrong_files(challenge: Challenge) -> Iterator[str]:
    for name, text in challenge.files.items():
        if _FILE.fullmatch(name) is None or name in _OWN or ".." in name:
            yield f"{name[:80]!r} is no name for a file"
        elif name not in challenge.statement:
            yield f"the statement does not name {name}"
        if name.endswith(".csv") and len({len(row) for row in csv.reader(text.splitlines()) if row}) > 1:
            yield f"the rows of {name} have different numbers of columns"


def _wrong_validator(challenge: Challenge) -> Iterator[str]:
    try:
        tree = ast.parse(challenge.validator)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        yield "the validator is no Python"
        return
    nodes = list(ast.walk(tree))
    imported = {name.split(".")[0] for node in nodes for name in _imported(node)}
    for name in sorted(imported - _IMPORTS):
        yield f"the validator imports {name}"
    used = {node.attr for node in nodes if isinstance(node, ast.Attribute)}
    used |= {node.id for node in nodes if isinstance(node, ast.Name)}
    for name in sorted(used & _CHANCE):
        yield f"the validator uses {name}, so that what it says is not the same every time"
    if not used & CHECKED_BY:
        yield "the validator does not look at the solution"
    words = [node.value for node in nodes if isinstance(node, ast.Constant) and isinstance(node.value, str)]
    known = {*challenge.files, challenge.solution}
    for word in words:
        if _NAMED.fullmatch(word) and word not in known and word not in challenge.statement:
            yield f"the validator names {word}, of which nobody is told"


def _imported(node: ast.AST) -> list[str]:
    if isinstance(node, ast.Import):
        return [name.name for name in node.names]
    if isinstance(node, ast.ImportFrom):
        return [node.module or "."]
    return []
