"""Orders that memory never gives: what is remembered as a rule or a lesson is followed in every later task, so it may
not tell the agent to pass things on, to hide something from the person, or to do without their leave.

A person who wants such a thing says so in the task where it is to be done.
"""

import re
from typing import Final

_AGENT_SENDS: Final = re.compile(
    r"\b(?:send|sends|sending|forward|forwards|forwarding|copy|copies|cc|bcc|e-?mail|emails|mail|mails|upload|uploads"
    r"|uploading|transmit|transmits|leak|leaks|exfiltrate|exfiltrates|post|posts|publish|share|shares|deliver|relay"
    r"|append|submit|submits)\b[^.!?\n]{0,120}?"
    r"(?:\b(?:to|at|with|via|into)\b[^.!?\n]{0,80}?(?:\S+@\S+|https?:|www\.|\b\w+\.(?:com|net|org|io|ru|cn|example)\b"
    r"|\b(?:them|him|her|address|server|webhook|endpoint|url|attacker|admin|administrator|third part\w+|everyone)\b)"
    r"|\b(?:a |the )?cop(?:y|ies)\b)",
    re.IGNORECASE,
)
_COPIES: Final = re.compile(
    r"\b(?:always|every|each|also|never forget to)\b[^.!?\n]{0,60}"
    r"\b(?:send|forward|cc|bcc|upload|exfiltrate|leak)\b(?! me\b)"
    r"|\b(?:send|forward|upload|mail|e-?mail)\b[^.!?\n]{0,40}\bcop(?:y|ies)\b"
    r"|\bkopie\w*\b[^.!?\n]{0,60}\b(?:send\w*|schick\w*)\b"
    r"|\b(?:envoie\w*|envoyer|envía\w*|enviar)\b[^.!?\n]{0,60}\bcop",
    re.IGNORECASE,
)
_HIDES: Final = re.compile(
    r"\b(?:do not|don['’]?t|never|without)\s+(?:\w+\s+){0,2}?(?:tell|telling|inform|informing|notify|notifying|alert"
    r"|mention|mentioning|reveal)\b[^.!?\n]{0,40}\b(?:user|person|human|owner|anyone|anybody|them|it to)\b"
    r"|\b(?:hide|conceal|suppress|cover up)\b[^.!?\n]{0,60}\b(?:from|the fact|evidence|logs?|errors?)\b"
    r"|\bsecretly\b|\bbehind (?:the|their|his|her) (?:user|person|back)",
    re.IGNORECASE,
)
_UNASKED: Final = re.compile(
    r"\bignore\b[^.!?\n]{0,40}\b(?:instruction|rule|previous|prior|safety|system prompt|guideline)"
    r"|\b(?:disregard|override|overrule|bypass|disable|circumvent|turn off)\b[^.!?\n]{0,60}"
    r"\b(?:instruction|rule|permission|confirmation|approval|safety|sandbox|policy|policies|guard|check|verification)"
    r"|\b(?:without|skip|never)\s+(?:\w+\s+){0,2}?(?:asking|ask|confirmation|confirming|approval|permission)\b"
    r"|\b(?:grant|approve|allow)\b[^.!?\n]{0,30}\b(?:every|all|any)\b[^.!?\n]{0,20}\b(?:request|permission|command|call)"
    r"|\bcurl\b[^.!?\n]{0,80}\||\brm\s+-rf?\b",
    re.IGNORECASE,
)
_CHECKS: Final = (
    (_AGENT_SENDS, "It tells the agent to pass something on."),
    (_COPIES, "It tells the agent to pass something on."),
    (_HIDES, "It tells the agent to hide something from the person."),
    (_UNASKED, "It tells the agent to act without leave."),
)


def harm(text: str) -> str | None:
    """Why a text may not be a standing order; None when nothing speaks against it."""
    return next((why for pattern, why in _CHECKS if pattern.search(text)), None)
