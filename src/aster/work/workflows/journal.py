"""The keys of a journal, and the values in it. A call is found again by what it asks, never by when it was made or
ended; two calls that ask the same are one."""

import json
import re
from hashlib import sha256
from typing import Any, Final

from aster.contracts.model import Contract, writable
from aster.utility_directory.schema import compiled

_FENCE: Final = re.compile(r"```[a-z]*\s*\n(.*?)\n?```", re.DOTALL)


class AgentCall(Contract):
    """What an agent is asked for."""

    prompt: str
    label: str = ""
    agent: str | None = None
    output: dict[str, Any] | None = None

    @property
    def key(self) -> str:
        """The hash of what is asked."""
        return digest(["agent", self.agent, self.label, self.prompt, self.output])

    @property
    def words(self) -> str:
        """The prompt, with what the answer has to look like."""
        if self.output is None:
            return self.prompt
        schema = json.dumps(self.output, ensure_ascii=False, sort_keys=True)
        rule = "Your last message has to be one JSON value that fits this schema, and nothing else:"
        return f"{self.prompt}\n\n{rule}\n{schema}"


def digest(value: Any) -> str:
    return sha256(canonical(value)).hexdigest()


def canonical(value: Any) -> bytes:
    """The same bytes for the same value, whatever the order of its keys."""
    return json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ":")).encode()


def read(call: AgentCall, text: str) -> tuple[Any, str]:
    """The value of an agent's answer, and what is wrong with it; nothing is, when that is empty."""
    if call.output is None:
        return text, ""
    try:
        value = writable(json.loads(_bare(text)))
    except (ValueError, RecursionError) as error:
        return None, f"It is not JSON: {error}."
    problems = compiled("the answer", call.output, at_once=False)(value)
    return value, " ".join(problems)


def again(problem: str) -> str:
    """What an agent is told whose answer does not fit."""
    return (
        f"Your answer does not fit what was asked for. {problem} Answer again, with one JSON value that fits the schema"
        " and nothing else."
    )


def _bare(text: str) -> str:
    """An answer without the fence around it, or the last one in it."""
    fenced = _FENCE.findall(text)
    return fenced[-1] if fenced else text.strip()
