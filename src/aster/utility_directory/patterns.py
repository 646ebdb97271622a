"""File name patterns as models write them: `*`, `?`, `[…]`, `**` for any depth, `{a,b}` for alternatives."""

import re
from fnmatch import translate

_MOST = 64


def alternatives(pattern: str) -> list[str]:
    """The pattern once for each combination of its braces; braces without a comma stay as they are."""
    found = [pattern]
    out: list[str] = []
    while found and len(out) + len(found) <= _MOST:
        current = found.pop()
        group = re.search(r"\{([^{}]*,[^{}]*)\}", current)
        if group is None:
            out.append(current)
            continue
        found += [current[: group.start()] + choice + current[group.end() :] for choice in group[1].split(",")]
    return out + found


def segments(pattern: str) -> list[str]:
    """The parts between slashes, runs of `**` taken together."""
    out: list[str] = []
    for part in pattern.split("/"):
        if part not in ("", ".") and not (part == "**" and out[-1:] == ["**"]):
            out.append(part)
    return out


def magic(segment: str) -> bool:
    return any(character in segment for character in "*?[")


def matcher(segment: str, *, hidden: bool = False, ignore_case: bool = False) -> re.Pattern[str]:
    """One segment as an expression; unless `hidden`, a wildcard does not match a leading dot, as in a shell."""
    guard = "" if hidden or segment.startswith(".") else r"(?!\.)"
    return re.compile(guard + translate(segment), re.IGNORECASE if ignore_case else 0)
