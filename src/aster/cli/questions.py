"""Questions to a person: how they are put, and what a typed line means as an answer to each kind.

What is not clearly a yes is never one: free text in answer to a permission is a no, with the text as the reason.
"""

import json
import re
from typing import NamedTuple, cast

from aster.cli.screen.clean import clean, one_line
from aster.client.records import PendingRequest
from aster.contracts.events import HitlRequest
from aster.contracts.events.human import HitlKind
from aster.contracts.permissions import ALWAYS

_YES = frozenset({"y", "yes", "ok", "allow"})
_NO = frozenset({"n", "no", "deny"})
_ALWAYS = ("always", "a")
_REACH = re.compile(r"(?:for )?(?:this )?(task|agent|everywhere)(?: |$)")
_WHILE = re.compile(r"for (\d{1,6}) ?(s|seconds?|m|min|minutes?|h|hours?|d|days?)(?: |$)")
_SHOWN = 8_000
"""Characters of a call that are shown to whoever is asked about it."""
LASTING = frozenset("tge")
"""The keys that answer for calls to come too."""
_SECONDS = {"s": 1, "m": 60, "h": 3600, "d": 86_400}


class Reply(NamedTuple):
    answer: str
    feedback: str | None = None
    expires_in_seconds: int | None = None


def asked(pending: PendingRequest) -> HitlRequest:
    """A question from the list of those that wait, as it was asked."""
    return HitlRequest(
        request_id=pending.request_id,
        kind=cast("HitlKind", pending.kind),
        question=pending.question,
        tool=pending.tool,
        input=pending.input,
        options=pending.options or (),
        reason=pending.reason,
        offer=pending.offer,
    )


def put(request: HitlRequest) -> str:
    """The question as it is shown: nothing of what a yes would set off is left out without a word."""
    lines = [f"? {clean(request.question)}"]
    if request.input and request.kind not in ("budget", "plan_approval"):
        command = request.input.get("command")
        shown = command if isinstance(command, str) else json.dumps(request.input, ensure_ascii=False)
        lines += [f"  {line}" for line in clean(shown[:_SHOWN]).split("\n")]
        if len(shown) > _SHOWN:
            lines.append(f"  … and {len(shown) - _SHOWN:,} characters more that are not shown here")
    if request.offer is not None:
        lines.append(f"  (always: {one_line(request.offer.tool, 100)}: {one_line(request.offer.pattern, 400)})")
    if request.kind == "question":
        lines += [f"  {number}. {one_line(option, 400)}" for number, option in enumerate(request.options, 1)]
    return "\n".join(lines)


def keys(request: HitlRequest) -> dict[str, str]:
    """The keys that answer at once, and the line each stands for; none where only a line will do."""
    match request.kind:
        case "permission":
            always = {"t": ALWAYS[0], "g": ALWAYS[1], "e": ALWAYS[2]} if request.offer is not None else {}
            return {"y": "yes", "n": "no", **always}
        case "budget" | "plan_approval" | "team":
            return {"y": "yes", "n": "no"}
        case "login":
            return {"d": "done", "n": "no"}
        case "in_doubt":
            return {str(number): word for number, word in enumerate(request.options[:9], 1)}
        case "question":
            return {str(number): str(number) for number in range(1, min(len(request.options), 9) + 1)}
        case _:
            return {}


def key_hint(request: HitlRequest) -> str:
    """What each key means, and that other words can be typed."""
    match request.kind:
        case "permission" if request.offer is not None:
            return "[y]es [n]o, always (Enter) in this [t]ask, a[g]ent, [e]verywhere, or say what to do instead: "
        case "permission" | "plan_approval" | "team":
            return "[y]es [n]o, or say what to do instead: "
        case "login":
            return "[d]one when you have logged in there, [n]o, or [i] type: "
        case "in_doubt":
            named = ", ".join(
                f"[{number}] {one_line(word, 40)}" for number, word in enumerate(request.options[:9], 1)
            )
            return f"{named}, or [i] type: "
        case "question":
            return "a number, or [i] type another answer: "
        case _:
            return "[y]es [n]o, or [i] type: "


def hint(request: HitlRequest) -> str:
    """What can be typed."""
    match request.kind:
        case "permission" if request.offer is not None:
            return "[y]es, [n]o, [a]lways (task, agent or everywhere; for 2h), or say what to do instead: "
        case "permission" | "plan_approval" | "team":
            return "[y]es, [n]o, or say what to do instead: "
        case "budget":
            return "[y]es or [n]o: "
        case "in_doubt":
            return f"{', '.join(one_line(word, 40) for word in request.options)}: "
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
        case "plan_approval" | "team":
            return _consent(word.rstrip(",.!:;").lower(), rest.strip(), line)
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
