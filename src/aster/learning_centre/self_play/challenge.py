"""A challenge: what is to be written, the files it starts with, a program that checks it, and a solution that passes.

It is text through and through; whether it is any good is found out before anybody is asked to solve it.
"""

import re
from hashlib import sha256
from typing import Final, Literal, TypeAlias, cast, get_args

from aster.contracts.model import Contract, encode

Cluster: TypeAlias = Literal["data_analysis", "regex_parse", "sql", "concurrency", "algo", "bash", "python_general"]
Tier: TypeAlias = Literal["basic", "intermediate", "advanced", "expert"]
CLUSTERS: Final = cast("tuple[Cluster, ...]", get_args(Cluster))
TIERS: Final = cast("tuple[Tier, ...]", get_args(Tier))
_TOKEN: Final = re.compile(r"\w+")


class Challenge(Contract):
    """`solution` is the file that has to be written; `reference` is one that is right, `wrong` one that is not."""

    cluster: Cluster
    tier: Tier
    title: str
    statement: str
    validator: str
    reference: str
    wrong: str
    files: dict[str, str] = {}
    solution: str = "solution.py"

    @property
    def digest(self) -> str:
        """The same for the same challenge."""
        said = encode((self.cluster, self.statement, sorted(self.files.items()), self.validator))
        return sha256(said).hexdigest()[:24]

    @property
    def told(self) -> str:
        """What whoever has to solve it is told."""
        given = (
            f"The directory holds: {', '.join(sorted(self.files))}." if self.files else "The directory is empty."
        )
        return f"{self.statement.strip()}\n\n{given} Write the solution to {self.solution} there."

    def copied(self, text: str, run: int = 6) -> bool:
        """Whether a text repeats so many words in a row of the challenge."""
        said = _runs(text, run)
        parts = (self.statement, self.validator, self.reference, *self.files.values())
        return any(said & _runs(part, run) for part in parts)


def _runs(text: str, length: int) -> set[tuple[str, ...]]:
    words = [word.casefold() for word in _TOKEN.findall(text)]
    return {tuple(words[at : at + length]) for at in range(len(words) - length + 1)}
