"""Whether a background command waits for an answer that nobody can give: it is silent, and the last it said is a
question.

Silence alone says nothing, so it is the words that decide; they are only looked at when there was silence for long.
"""

import re
from typing import Final

END_CHARS: Final = 400
"""So much of the end of what a command said is looked at."""

_ESCAPES: Final = re.compile(r"\x1b(?:\[[0-9;?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[@-Z\\-_])")
_ASKED: Final = re.compile(
    r"""
      [\[(<] \s* (?: y(?:es)? \s* [/|,] \s* n(?:o)? | n(?:o)? \s* [/|,] \s* y(?:es)? ) (?: [^\])>]{0,20} ) [\])>]
      \s* [?:]? \s* \Z
    | (?: pass(?:word|phrase|code) | \bpin | user(?:name)? | login | \botp ) \b [^\n]{0,60} [:?] \s* \Z
    | \b (?: press | hit ) \b [^\n]{0,20} \b (?: key | enter | return | space ) \b [^\n]{0,60} \Z
    | \? \s* \Z
    """,
    re.IGNORECASE | re.VERBOSE,
)
"""The end of a line that asks something, whether or not the line is closed."""

_OPEN: Final = re.compile(
    r"""
      (?: \A | \s ) (?: >>> | \.\.\. | [>$#:] ) [ ]? \Z
    | [\w)\]'"] : [ ]? \Z
    | \w [>$#] [ ]? \Z
    | \b \w+ \[ \d+ \] : [ ]? \Z
    """,
    re.VERBOSE,
)
"""The end of a line that is left open for somebody to go on with."""


def asks(end: str) -> bool:
    """Whether a text ends as one does that waits for an answer."""
    end = _ESCAPES.sub("", end[-END_CHARS:]).replace("\r", "\n")
    line = end.rstrip().rsplit("\n", 1)[-1]
    if not line.strip():
        return False
    if _ASKED.search(line):
        return True
    return not end.endswith("\n") and _OPEN.search(end.rsplit("\n", 1)[-1]) is not None
