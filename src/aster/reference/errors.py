"""The errors page: the whole table, and one section per code that says what to do."""

from aster.contracts.errors import CODES, CodeFacts, ErrorCode
from aster.reference.advice import ADVICE, RETRY
from aster.reference.markdown import code, fenced, page, table

INTRO = """\
Every answer that is not 2xx, and every `error` event, has these fields. Decide by `error`; the sentence in
`message` is for people and may change. Codes are added, never renamed."""

BODY = """\
{"error": "TASK_BUSY", "message": "...", "retry": "after", "details": {"retry_after_seconds": 1.0}}"""


def render() -> str:
    rows = [
        (f"[{code(name)}](#{name.lower()})", str(facts.status), code(facts.retry), facts.meaning)
        for name, facts in CODES.items()
    ]
    advice = [(code(retry), meaning) for retry, meaning in RETRY.items()]
    return page(
        "Errors",
        INTRO,
        fenced(BODY, "json"),
        table(("retry", "what it asks of a client"), advice),
        "## All codes",
        table(("code", "status", "retry", "meaning"), rows),
        *(_section(name, facts) for name, facts in CODES.items()),
    )


def _section(name: ErrorCode, facts: CodeFacts) -> str:
    return f"## {name}\n\nStatus {facts.status}, retry {code(facts.retry)}. {facts.meaning}\n\n{ADVICE[name]}"
