"""Questions to a person: how they are put, and what a typed line means as an answer to each kind.

What is not clearly a yes is never one: free text in answer to a permission is a no, with the text as the reason.
"""

import json
from typing import NamedTuple

from aster.cli.screen.clean import one_line
from aster.contracts.events import HitlRequest

_YES = frozenset({"y", "yes", "ok", "allow"})
_NO = frozenset({"n", "no", "deny"})


class Reply(NamedTuple):
    answer: str
    feedback: str | None = None


def put(request: HitlRequest, width: int = 100) -> str:
    """The question as it is shown."""
    lines = [f"? {request.question}"]
    if request.input and request.kind != "budget":
        shown = json.dumps(request.input, ensure_ascii=False)
        command = request.input.get("command")
        lines.append("  " + one_line(command if isinstance(command, str) else shown, width * 4))
    if request.kind == "question":
        lines += [f"  {number}. {option}" for number, option in enumerate(request.options, 1)]
    return "\n".join(lines)


def hint(request: HitlRequest) -> str:
    """What can be typed."""
    match request.kind:
        case "permission":
            return "[y]es, [n]o, or say what to do instead: "
        case "budget":
            return "[y]es or [n]o: "
        case "in_doubt":
            return f"{', '.join(request.options)}: "
        case "question":
            return "number or answer: " if request.options else "answer: "


def understand(request: HitlRequest, line: str) -> Reply | None:
    """The answer a line means; None when it means none and has to be asked for again."""
    line = line.strip()
    word, _, rest = line.partition(" ")
    if not line:
        return None
    match request.kind:
        case "permission":
            return _consent(word.rstrip(",.!:;").lower(), rest.strip(), line)
        case "budget":
            plain = word.rstrip(",.!:;").lower()
            return _consent(plain, rest.strip(), line) if plain in _YES | _NO else None
        case "in_doubt":
            return Reply(word, rest.strip() or None) if word in request.options else None
        case "question":
            if line.isdecimal() and 1 <= int(line) <= len(request.options):
                return Reply(request.options[int(line) - 1])
            return Reply(line)


def _consent(word: str, rest: str, line: str) -> Reply:
    if word in _YES:
        return Reply("yes", rest or None)
    if word in _NO:
        return Reply("no", rest or None)
    return Reply("no", line)
