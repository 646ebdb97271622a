"""What a person asks to be remembered in so many words: "remember that …".

An order stands at the beginning of a sentence; "do you remember that …?" is a question. What is kept is what was said
after it, in the person's own words.
"""

import re
from typing import Final

LONGEST: Final = 2000
_LEAST_WORDS: Final = 2
_ASKED: Final = r"can you|could you|will you|would you|i want you to|i need you to|i['’]?d like you to"
_ORDER: Final = re.compile(
    rf"(?:^|[.!?;]\s+)(?:(?:please|hey|hi|hello|ok|okay|so|also|and|aster|(?P<asked>{_ASKED}))[,\s]+)*"
    r"(?:always )?(?:remember|keep in mind|don['’]?t (?:ever )?forget|do not forget|make a note|note down)"
    r"\s*,?\s*(?:that\b|this\s*:|:)\s*(?P<what>\S.*)",
    re.IGNORECASE,
)


def asked_to_remember(text: str) -> str | None:
    """What is to be remembered, if the text says so; the rest of the line it is said in."""
    for line in text.splitlines():
        order = _ORDER.search(line.strip())
        if order is None:
            continue
        what = order["what"].strip()
        if what.endswith("?"):
            if order["asked"] is None:
                continue
            what = what.rstrip("? ")
        if len(what.split()) >= _LEAST_WORDS:
            return what[:LONGEST]
    return None
