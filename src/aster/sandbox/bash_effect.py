"""Whether a script only looks. It does when every command in it is known to be read-only with the arguments it is
given and nothing is written by redirection; anything else counts as irreversible.

The list errs on one side: a harmless script taken for a harmful one runs alone and is not repeated after a crash.
"""

from collections.abc import Callable

from aster.contracts.tools import Effect
from aster.sandbox.bash_analysis import Redirect, Script, SimpleCommand, parse

# Read-only whatever their arguments are.
_READERS = """
    : [ basename cat cd cksum cmp comm cut df diff dirname du echo egrep expand expr false fgrep fmt fold
    getconf grep head hexdump id join jq less ls lsblk md5sum more nl nproc od paste pathchk pgrep
    pr printenv printf ps pwd readlink realpath rev seq sha1sum sha224sum sha256sum sha384sum sha512sum sleep
    stat strings sum tac tail test tr true tty type uname unexpand uptime wc which whoami zcat zgrep
"""
_ALWAYS = frozenset(_READERS.split())
# Read-only unless one of these options is given (`*` stands for any ending).
_EXCEPT: dict[str, tuple[str, ...]] = {
    "date": ("-s*", "--s*"),
    "file": ("-C*", "--compile*"),
    "find": ("-delete", "-exec*", "-ok*", "-fprint*", "-fls"),
    "rg": ("--pre*", "--hostname-bin*"),
    "sort": ("-o*", "--o*", "--compress-program*", "-T*"),
    "tree": ("-o*", "--output*"),
}
_GIT_READERS = "blame cat-file describe diff log ls-files ls-tree rev-list rev-parse shortlog show status"
_GIT = frozenset(_GIT_READERS.split())
_GIT_WRITES = ("--output*", "--ext-diff", "--textconv", "-O*", "--open-files-in-pager*")
_HARMLESS_TARGETS = frozenset(("/dev/null", "/dev/stdout", "/dev/stderr", "/dev/tty"))


def effect_of(command: str) -> Effect:
    """What running this shell command does to the world."""
    return Effect.PURE if read_only(parse(command)) else Effect.IRREVERSIBLE


def read_only(script: Script) -> bool:
    return (
        script.understood
        and bool(script.commands)
        and not script.assignments  # PATH=… or LD_PRELOAD=… would change what the names below mean
        and not script.functions
        and not script.background
        and all(map(_looks, script.commands))
        and all(map(harmless, script.redirects))
    )


def harmless(redirect: Redirect) -> bool:
    """Whether a redirection reads, joins descriptors, or writes where nothing is kept."""
    target = redirect.target
    if redirect.operator in ("<", "<<", "<&", "<&-", ">&-") or target is None:
        return True
    if not target.literal:
        return False
    return (redirect.operator == ">&" and target.text.isdigit()) or target.text in _HARMLESS_TARGETS


def _looks(command: SimpleCommand) -> bool:
    name = command.name
    if name is None:
        return False
    if name in _ALWAYS:
        return True
    judge = _JUDGES.get(name)
    literal = all(argument.literal for argument in command.arguments)
    return judge is not None and literal and judge([argument.text for argument in command.arguments])


def _without(options: tuple[str, ...]) -> Callable[[list[str]], bool]:
    return lambda arguments: not any(_is(argument, option) for argument in arguments for option in options)


def _is(argument: str, option: str) -> bool:
    return argument.startswith(option[:-1]) if option.endswith("*") else argument == option


def _git(arguments: list[str]) -> bool:
    """Only plain subcommands: options before them can name programs to run."""
    while arguments[:1] == ["--no-pager"] or arguments[:1] == ["-P"]:
        arguments = arguments[1:]
    if not arguments:
        return False
    subcommand, rest = arguments[0], arguments[1:]
    if subcommand in ("branch", "remote", "tag", "stash"):
        lists = {"branch": ["", "-a", "-v", "-vv", "--list"], "remote": ["", "-v"], "tag": ["", "-l", "--list"]}
        return " ".join(rest) in lists.get(subcommand, ["list"])
    return subcommand in _GIT and _without(_GIT_WRITES)(rest)


def _at_most_one_operand(arguments: list[str]) -> bool:
    return sum(not argument.startswith("-") for argument in arguments) <= 1


def _no_arguments(arguments: list[str]) -> bool:
    return not arguments


def _query(arguments: list[str]) -> bool:
    return arguments[:1] in (["-v"], ["-V"])


_JUDGES: dict[str, Callable[[list[str]], bool]] = {
    **{name: _without(options) for name, options in _EXCEPT.items()},
    "git": _git,
    "uniq": _at_most_one_operand,
    "env": _no_arguments,
    "hostname": _no_arguments,
    "command": _query,
}
