"""The program that searches file contents, in a process of its own: an expression that never ends is ended with it.

It uses the standard library alone, so that it starts at once, and gives up the engine's rights before it looks at
the expression. It is handed an open directory and never follows a link, so it cannot leave it. Where ripgrep works
it says first which files are worth opening; what is found in them is decided here alone, so answers are the same.
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
_DEPTH = 100
_SKIPPED = (".git", ".hg", ".svn", ".venv", "__pycache__", "node_modules")
_WORKTREES = ".aster/worktrees"
_FLAGS = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK
_RIPGREP = (
    *("--no-config", "--no-ignore", "--hidden", "--no-follow", "--text", "--encoding=none", "--no-mmap"),
    *("--no-messages", "--color=never", "--threads=2", "--files-with-matches", "--null", "--case-sensitive"),
)
# What Python takes for the same letter, beside the other case.
TWINS = {"i": "\u0130\u0131", "k": "\u212a", "s": "\u017f"}


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
    worth = _worth_opening(request)
    answer: dict[str, Any] = {"found": [], "matches": 0, "more": False, "too_large": []}
    answer["narrowed"] = worth is not None
    for name, fd in _files(request, worth):
        text = _text(fd, request["file_bytes"])
        if text is None:
            answer["too_large"].append(name)
            continue
        room = request["most"] - answer["matches"]
        hits = _hits(pattern, text, room + 1)
        if not hits:
            continue
        answer["found"].append((name, _shown(text.split("\n"), hits[:room], request["context"])))
        answer["matches"] += len(hits[:room])
        if answer["matches"] >= request["most"]:
            answer["more"] = True
            break
    return answer


def _worth_opening(request: dict[str, Any]) -> set[str] | None:
    """The files in which ripgrep finds one of the needles; None when every file has to be opened."""
    if not request["needles"] or request["ripgrep"] is None or not _is_directory(request["fd"]):
        return None
    left_out = [f"--glob=!{name}/" for name in (*_SKIPPED, f"**/{_WORKTREES}")]
    left_out += [f"--glob=!/{_literal_glob(place)}/" for place in request["hidden"]]
    sought = [f"--regexp={_expression(needle, request['ignore_case'])}" for needle in request["needles"]]
    argv = [request["ripgrep"], *_RIPGREP, f"--max-filesize={request['file_bytes']}", *left_out, *sought, "./"]
    os.fchdir(request["fd"])
    try:
        code, output = _output_of(argv)
    except OSError:
        return None
    if code not in (0, 1):  # there was something it could not look at, so it cannot be relied upon
        return None
    return {os.path.normpath(os.fsdecode(name)) for name in output.split(b"\x00") if name}


def _output_of(argv: list[str]) -> tuple[int, bytes]:
    """Run a program without environment; the module for that would have to be loaded, and may not be readable."""
    reading, writing = os.pipe()
    with os.fdopen(reading, "rb") as pipe:
        try:
            pid = os.posix_spawn(argv[0], argv, {}, file_actions=[(os.POSIX_SPAWN_DUP2, writing, 1)])
        finally:
            os.close(writing)
        output = pipe.read()
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), output


def _expression(needle: str, ignore_case: bool) -> str:
    return "".join(_either_case(letter) if ignore_case else f"\\x{{{ord(letter):x}}}" for letter in needle)


def _either_case(letter: str) -> str:
    letters = letter.lower() + letter.upper() + TWINS.get(letter.lower(), "")
    return "[" + "".join(f"\\x{{{ord(one):x}}}" for one in letters) + "]"


def _literal_glob(path: str) -> str:
    return re.sub(r"([*?\[\]{}\\!])", r"\\\1", path)


def _is_directory(fd: int) -> bool:
    return stat.S_ISDIR(os.fstat(fd).st_mode)


def _files(request: dict[str, Any], worth: set[str] | None) -> Iterator[tuple[str, int]]:
    """Each file with its path below the directory; the path of a file that was given itself is empty."""
    fd: int = request["fd"]
    if not _is_directory(fd):
        yield "", fd
        return
    for directory, below, names, at in os.fwalk(".", dir_fd=fd, follow_symlinks=False):
        below[:] = sorted(name for name in below if _entered(f"{directory}/{name}", request["hidden"]))
        for name in sorted(names):
            path = os.path.normpath(f"{directory}/{name}")
            if request["globs"] and not any(_selected(path, glob) for glob in request["globs"]):
                continue
            try:
                if worth is not None and path not in worth and not _is_large(name, at, request["file_bytes"]):
                    continue
                opened = os.open(name, _FLAGS, dir_fd=at)
            except OSError:
                continue
            try:
                if stat.S_ISREG(os.fstat(opened).st_mode):
                    yield path, opened
            finally:
                os.close(opened)


def _entered(path: str, hidden: list[str]) -> bool:
    if path.count("/") > _DEPTH or path.rpartition("/")[2] in _SKIPPED or path.endswith(f"/{_WORKTREES}"):
        return False
    return os.path.normpath(path) not in hidden


def _selected(path: str, glob: str) -> bool:
    if "/" not in glob:
        return fnmatch.fnmatchcase(path.rpartition("/")[2], glob)
    return fnmatch.fnmatchcase(path, glob) or fnmatch.fnmatchcase(path, glob.removeprefix("**/"))


def _is_large(name: str, directory: int, most: int) -> bool:
    return os.stat(name, dir_fd=directory, follow_symlinks=False).st_size > most


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


def _shown(lines: list[str], hits: list[int], context: int) -> list[tuple[int, bool, str]]:
    """Lines to show: their number, whether they match, and their text."""
    out: list[tuple[int, bool, str]] = []
    shown_to = -1
    wanted = set(hits)
    for hit in hits:
        for number in range(max(hit - context, shown_to + 1), min(hit + context + 1, len(lines))):
            line = lines[number].rstrip("\r")
            out.append((number + 1, number in wanted, line if len(line) <= _LINE else line[:_LINE] + " …"))
            shown_to = number
    return out


if __name__ == "__main__":
    main()
