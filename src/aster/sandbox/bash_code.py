"""Programs in other languages on a command line: judged by what can be seen of them.

A one-liner is opaque to a shell parser. Its words are looked at one by one: those that delete, start programs or
hide code are worth a question, and so is a path it writes to outside the workspace.
"""

from collections.abc import Iterator
from itertools import pairwise

from aster.sandbox.bash_analysis import SimpleCommand
from aster.sandbox.bash_targets import Targets
from aster.sandbox.bash_words import Kind, Word, listed

# The options that are followed by code, per interpreter.
_CODE: dict[str, tuple[str, ...]] = {
    **dict.fromkeys(("python", "pypy"), ("-c",)),
    **dict.fromkeys(("perl", "ruby"), ("-e", "-E")),
    **dict.fromkeys(("node", "nodejs", "bun"), ("-e", "-p", "--eval", "--print")),
    "deno": ("eval",),
    "php": ("-r",),
    "lua": ("-e",),
    "Rscript": ("-e",),
    "osascript": ("-e",),
    **dict.fromkeys(("pwsh", "powershell"), ("-c", "-Command", "-EncodedCommand")),
    "julia": ("-e",),
    "tclsh": (),
}
_VALUED = frozenset(("-W", "-X", "-r", "--require", "-I", "-M", "--import"))
_PLAIN_FLAGS = frozenset("lnpaiw0sTtuUWXIBEOSvbdqx")
_BACKTICKS = frozenset(("perl", "ruby", "php"))
_DELETES = listed(
    """
    rmtree rmdir removedirs unlink unlinkSync rmSync rmdirSync rimraf remove_tree rm_rf rm_r rm_f delete_file
    ftruncate truncateSync file_delete emptyDirSync removeSync
    """
)
_RUNS = listed(
    """
    system popen Popen subprocess check_output check_call exec execSync execFile execFileSync spawn spawnSync spawnl
    spawnv execv execve execvp execl execlp posix_spawn child_process pty shell_exec passthru proc_open fork forkpty
    killpg ctypes eval evalScript __import__ import_module marshal runpy Invoke-Expression iex IO.popen
    """
)
_WRITES = listed(
    """
    open write writeFile writeFileSync write_text write_bytes appendFile appendFileSync file_put_contents copy
    copyfile copytree move rename replace renameSync symlink link chmod chown chmodSync createWriteStream fopen
    truncate
    """
)
_OWNERS = frozenset(("os", "fs", "shutil", "File", "FileUtils", "Path", "pathlib", "Deno", "io", "Dir"))


def language(name: str) -> str | None:
    """The interpreter behind a name such as `python3.11`."""
    bare = name.rstrip("0123456789.")
    return bare if bare in _CODE else None


def code_hazards(name: str, command: SimpleCommand, targets: Targets) -> Iterator[str]:
    """What an interpreter's own program text, or the lack of one, is worth asking about."""
    kind = language(name)
    if kind is None:
        return
    arguments = command.arguments
    code = _given(arguments, _CODE[kind])
    if code is not None:
        if code.unknown:
            yield f"{name} runs code that is only known at run time"
        yield from _judged(name, kind, code.text, targets)
        return
    operands = [word for word in arguments if not word.text.startswith("-") or word.text == "-"]
    reads = not operands or operands[0].text in ("-", "/dev/stdin")
    if operands and operands[0].kind is Kind.DYNAMIC and (operands[0].splits or operands[0].unknown):
        yield f"{name} runs {operands[0].text}, a program that is only known at run time"
    elif reads and not any(
        word.text.startswith(("-m", "-V", "-v", "--version", "-h", "--help")) for word in arguments
    ):
        if command.document is not None:
            yield from _judged(name, kind, command.document, targets)
        elif command.fed:
            yield f"{name} runs code that it reads from its input"


def given_code(command: SimpleCommand) -> Word | None:
    """The program text on an interpreter's command line, if there is one."""
    kind = language(command.program or "")
    return None if kind is None else _given(command.arguments, _CODE[kind])


def _given(arguments: tuple[Word, ...], flags: tuple[str, ...]) -> Word | None:
    """The code on the command line; short options may stand before its own, in the same word (`-pe`, `-lane`)."""
    for index, argument in enumerate(arguments):
        text = argument.text
        following = next(iter(arguments[index + 1 :]), None)
        if text in flags:
            return following
        if not text.startswith("-"):
            if index and arguments[index - 1].text in _VALUED:
                continue
            return None
        for flag in flags:
            if flag.startswith("--") and text.startswith(f"{flag}="):
                return Word(text.partition("=")[2])
            before, found, rest = text[1:].partition(flag[1:])
            if found and len(flag) == 2 and not text.startswith("--") and set(before) <= _PLAIN_FLAGS:
                return Word(rest) if rest else following
    return None


def _judged(name: str, kind: str, code: str, targets: Targets) -> Iterator[str]:
    words = _words(code)
    known = set(words)
    if known & _DELETES or any(_owned(words, method) for method in ("remove", "rm", "delete")):
        yield f"the {name} code deletes files"
    if "Remove-Item" in code or kind == "osascript":
        yield f"the {name} code can delete files and run anything"
    started = sorted(known & _RUNS)
    if started or (kind in _BACKTICKS and "`" in code):
        what = started[0] if started else "backticks"
        yield f"the {name} code can run anything ({what})"
    if "getattr" in known and known & {"os", "builtins", "shutil", "__builtins__"}:
        yield f"the {name} code hides what it calls (getattr)"
    if known & _WRITES - {"open"} or ("open" in known and _opens_to_write(code)):
        for literal in _strings(code):
            if literal.startswith(("/", "~", "../")) and not any(character.isspace() for character in literal):
                yield from targets.writes(f"the {name} code", Word(literal, tilde=literal.startswith("~")))


def _opens_to_write(code: str) -> bool:
    """Whether a file is opened in a mode that changes it (`w`, `a+`, `>` …)."""
    modes = [text for text in _strings(code) if len(text) <= 3 and set(text) <= set("wabxrt+")]
    return any(set(mode) & set("wax+") for mode in modes) or "'>" in code or '">' in code


def _owned(words: list[str], method: str) -> bool:
    """`os.remove`, not a list's `remove`."""
    return any(second == method and first in _OWNERS for first, second in pairwise(words))


def _words(code: str) -> list[str]:
    out: list[str] = []
    current = ""
    for character in code:
        if character.isalnum() or character == "_":
            current += character
        elif current:
            out.append(current)
            current = ""
    return [*out, current] if current else out


def _strings(code: str) -> Iterator[str]:
    """What stands between quotes."""
    quote, current = "", ""
    for character in code:
        if quote:
            if character == quote:
                yield current.lstrip(">").strip()
                quote = ""
            else:
                current += character
        elif character in "'\"`":
            quote, current = character, ""


_SQL_CLIENTS = listed("psql mysql mariadb sqlite3 sqlite clickhouse-client duckdb cockroach sqlcmd usql")
_STORES = listed("redis-cli valkey-cli mongo mongosh cqlsh influx")
_STORE_WORDS = listed("FLUSHALL FLUSHDB DROPDATABASE DROP DELETEMANY REMOVE DELETE")


def data_hazards(name: str, command: SimpleCommand) -> Iterator[str]:
    """What a database is told on the command line, or in the script itself."""
    if name not in _SQL_CLIENTS | _STORES:
        return
    said = [word.text for word in command.arguments] + ([command.document] if command.document else [])
    for text in said:
        for statement in text.split(";"):
            words = [word.upper() for word in _words(statement)]
            if name in _STORES and _STORE_WORDS & set(words):
                yield f"{name} deletes data"
            elif {"DROP", "TRUNCATE"} & set(words[:1] + words[1:2]) or ("ALTER" in words and "DROP" in words):
                yield f"{name} drops or empties something in the database"
            elif "DELETE" in words[:1] and "WHERE" not in words:
                yield f"{name} deletes every row of a table"
            elif "UPDATE" in words[:1] and "SET" in words and "WHERE" not in words:
                yield f"{name} overwrites every row of a table"
