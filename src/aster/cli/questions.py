"""Questions to a person: how they are put, and what a typed line means as an answer to each kind.

What is not clearly a yes is never one: free text in answer to a permission is a no, with the text as the reason.
"""

import json
from typing import NamedTuple

from aster.cli.screen.clean import one_line
from aster.contracts.events import HitlRequest
from aster.contracts.permissions import ALWAYS

_YES = frozenset({"y", "yes", "ok", "allow"})
_NO = frozenset({"n", "no", "deny"})
_ALWAYS = ("always", "a")


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
    if request.offer is not None:
        lines.append(f"  (always: {request.offer.tool}: {one_line(request.offer.pattern, width)})")
    if request.kind == "question":
        lines += [f"  {number}. {option}" for number, option in enumerate(request.options, 1)]
    return "\n".join(lines)


def hint(request: HitlRequest) -> str:
    """What can be typed."""
    match request.kind:
        case "permission" if request.offer is not None:
            return "[y]es, [n]o, [a]lways (task, agent or everywhere), or say what to do instead: "
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
            plain = word.rstrip(",.!:;").lower()
            if plain in _ALWAYS:
                return _always(request, rest.strip())
            return _consent(plain, rest.strip(), line)
        case "budget":
            plain = word.rstrip(",.!:;").lower()
            return _consent(plain, rest.strip(), line) if plain in _YES | _NO else None
        case "in_doubt":
            return Reply(word, rest.strip() or None) if word in request.options else None
        case "question":
            if line.isdecimal() and 1 <= int(line) <= len(request.options):
                return Reply(request.options[int(line) - 1])
            return Reply(line)


def _always(request: HitlRequest, rest: str) -> Reply | None:
    """How far it reaches may be said first, a comment after it; asked again when it cannot be given at all."""
    if request.offer is None:
        return None
    scope, _, comment = rest.removeprefix("this ").partition(" ")
    answer = f"{_ALWAYS[0]} {scope}"
    return Reply(answer, comment.strip() or None) if answer in ALWAYS else Reply(ALWAYS[0], rest or None)


def _consent(word: str, rest: str, line: str) -> Reply:
    if word in _YES:
        return Reply("yes", rest or None)
    if word in _NO:
        return Reply("no", rest or None)
    return Reply("no", line)
