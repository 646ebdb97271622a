"""The program that searches file contents, in a process of its own: an expression that never ends is ended with it.

It uses the standard library alone, so that it starts at once, and gives up the engine's rights before it looks at
the expression. It is handed an open directory and never follows a link, so it cannot leave it.
"""

import fnmatch
import json
import os
import re
import resource
import stat
import sys
from collections.abc import Iterator
from typing import Any

_SAMPLE = 8192
_LINE = 300
_MEMORY = 1 << 30
_SKIPPED = (".git", ".hg", ".svn", ".venv", "__pycache__", "node_modules")
_FLAGS = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK


def main() -> None:
    request: dict[str, Any] = json.loads(sys.argv[1])
    if request["uid"] is not None:
        os.setgroups([])
        os.setgid(request["gid"])
        os.setuid(request["uid"])
    resource.setrlimit(resource.RLIMIT_DATA, (_MEMORY, _MEMORY))
    resource.setrlimit(resource.RLIMIT_CPU, (request["seconds"], request["seconds"]))
    try:
        pattern = re.compile(request["pattern"], re.MULTILINE | (re.IGNORECASE if request["ignore_case"] else 0))
    except (re.error, OverflowError, RecursionError) as error:
        answer: dict[str, Any] = {"invalid": str(error)}
    else:
        answer = search(request, pattern)
    sys.stdout.write(json.dumps(answer))


def search(request: dict[str, Any], pattern: re.Pattern[str]) -> dict[str, Any]:
    """Matching lines in the order of their paths, up to the most that are wanted."""
    lines: list[str] = []
    matches = files = 0
    too_large: list[str] = []
    for name, fd in _files(request):
        text = _text(fd, request["file_bytes"])
        if text is None:
            too_large.append(name)
            continue
        hits = _hits(pattern, text, request["most"] - matches + 1)
        if not hits:
            continue
        files += 1
        hits = hits[: request["most"] - matches]
        matches += len(hits)
        lines += _shown(name, text.split("\n"), hits, request["context"])
        if matches >= request["most"]:
            return {"lines": lines, "matches": matches, "files": files, "more": True, "too_large": too_large}
    return {"lines": lines, "matches": matches, "files": files, "more": False, "too_large": too_large}


def _files(request: dict[str, Any]) -> Iterator[tuple[str, int]]:
    fd: int = request["fd"]
    if not stat.S_ISDIR(os.fstat(fd).st_mode):
        yield request["name"], fd
        return
    prefix = "" if request["name"] == "." else request["name"] + "/"
    for directory, below, names, at in os.fwalk(".", dir_fd=fd, follow_symlinks=False):
        below[:] = sorted(name for name in below if _entered(f"{directory}/{name}", request["hidden"]))
        for name in sorted(names):
            path = os.path.normpath(f"{directory}/{name}")
            if request["globs"] and not any(_selected(path, glob) for glob in request["globs"]):
                continue
            try:
                opened = os.open(name, _FLAGS, dir_fd=at)
            except OSError:
                continue
            try:
                if stat.S_ISREG(os.fstat(opened).st_mode):
                    yield prefix + path, opened
            finally:
                os.close(opened)


def _entered(path: str, hidden: list[str]) -> bool:
    return path.rpartition("/")[2] not in _SKIPPED and os.path.normpath(path) not in hidden


def _selected(path: str, glob: str) -> bool:
    if "/" not in glob:
        return fnmatch.fnmatchcase(path.rpartition("/")[2], glob)
    return fnmatch.fnmatchcase(path, glob) or fnmatch.fnmatchcase(path, glob.removeprefix("**/"))


def _text(fd: int, most: int) -> str | None:
    """The text of a file; nothing of a binary one, None when it is too large to search."""
    if os.fstat(fd).st_size > most:
        return None
    with open(fd, "rb", closefd=False) as file:
        sample = file.read(_SAMPLE)
        if b"\x00" in sample:
            return ""
        return (sample + file.read(most)).decode("utf-8", "replace")


def _hits(pattern: re.Pattern[str], text: str, most: int) -> list[int]:
    """The lines, counted from 0, in which a match begins; the end of a text that ends with a line is none."""
    out: list[int] = []
    line = counted = 0
    end = len(text) - 1 if text.endswith("\n") else len(text)
    for match in pattern.finditer(text):
        if match.start() > end or not text:
            break
        line += text.count("\n", counted, match.start())
        counted = match.start()
        if out[-1:] != [line]:
            out.append(line)
        if len(out) >= most:
            break
    return out


def _shown(name: str, lines: list[str], hits: list[int], context: int) -> list[str]:
    out: list[str] = []
    shown_to = -1
    wanted = set(hits)
    for hit in hits:
        first = max(hit - context, shown_to + 1)
        if context and shown_to >= 0 and first > shown_to + 1:
            out.append("--")
        for number in range(first, min(hit + context + 1, len(lines))):
            mark = ":" if number in wanted else "-"
            line = lines[number].rstrip("\r")
            out.append(f"{name}{mark}{number + 1}{mark} {line if len(line) <= _LINE else line[:_LINE] + ' …'}")
            shown_to = number
    return out


if __name__ == "__main__":
    main()
