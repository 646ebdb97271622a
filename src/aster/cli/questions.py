"""Questions to a person: how they are put, and what a typed line means as an answer to each kind.

What is not clearly a yes is never one: free text in answer to a permission is a no, with the text as the reason.
"""

import json
import re
from typing import NamedTuple

from aster.cli.screen.clean import one_line
from aster.contracts.events import HitlRequest
from aster.contracts.permissions import ALWAYS

_YES = frozenset({"y", "yes", "ok", "allow"})
_NO = frozenset({"n", "no", "deny"})
_ALWAYS = ("always", "a")
_REACH = re.compile(r"(?:for )?(?:this )?(task|agent|everywhere)(?: |$)")
_WHILE = re.compile(r"for (\d{1,6}) ?(s|seconds?|m|min|minutes?|h|hours?|d|days?)(?: |$)")
_SECONDS = {"s": 1, "m": 60, "h": 3600, "d": 86_400}


class Reply(NamedTuple):
    answer: str
    feedback: str | None = None
    expires_in_seconds: int | None = None


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
            return "[y]es, [n]o, [a]lways (task, agent or everywhere; for 2h), or say what to do instead: "
        case "permission":
            return "[y]es, [n]o, or say what to do instead: "
        case "budget":
            return "[y]es or [n]o: "
        case "in_doubt":
            return f"{', '.join(request.options)}: "
        case "client_tool":
            return "what the tool returned: "
        case "login":
            return "[done] when you have logged in there, or [n]o: "
        case "elicitation":
            return "the answer (several fields as JSON), decline or cancel: "
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
        case "login":
            plain = word.rstrip(",.!:;").lower()
            if plain in _NO:
                return Reply("no", rest.strip() or None)
            return Reply("done") if plain in _YES | {"done"} else None
        case "elicitation" | "client_tool":
            return Reply(line)
        case "question":
            if line.isdecimal() and 1 <= int(line) <= len(request.options):
                return Reply(request.options[int(line) - 1])
            return Reply(line)


def _always(request: HitlRequest, rest: str) -> Reply | None:
    """How far it reaches may be said first, then for how long, a comment after it; asked again when it cannot be
    given at all, or when how long is not clear."""
    if request.offer is None:
        return None
    reach = _REACH.match(rest)
    rest = rest[reach.end() :].strip() if reach else rest
    while_ = _WHILE.match(rest)
    if while_ is None and rest.startswith("for "):
        return None
    seconds = int(while_[1]) * _SECONDS[while_[2][0]] if while_ else None
    comment = rest[while_.end() :].strip() if while_ else rest
    return Reply(f"{_ALWAYS[0]} {reach[1]}" if reach else ALWAYS[0], comment or None, seconds or None)


def _consent(word: str, rest: str, line: str) -> Reply:
    if word in _YES:
        return Reply("yes", rest or None)
    if word in _NO:
        return Reply("no", rest or None)
    return Reply("no", line)
