"""What the programs that change files do with their arguments, one judgement each.

A judgement yields sentences about what is at stake; a program that is not listed has none.
"""

from collections.abc import Iterator
from itertools import pairwise

from aster.sandbox.bash_git import git
from aster.sandbox.bash_systems import SYSTEMS, Judgement
from aster.sandbox.bash_targets import Targets, operands
from aster.sandbox.bash_words import Kind, Word

_ENDLESS = frozenset(("/dev/zero", "/dev/urandom", "/dev/random"))


def _rm(targets: Targets, arguments: tuple[Word, ...]) -> Iterator[str]:
    given = operands(arguments)
    recursive = given.short("r", "R") or given.has("--recursive")
    for target in given.operands:
        if recursive and not targets.inside(target):
            yield f"rm deletes {target.text} and all it contains, which is not surely below a root of the workspace"
        elif target.kind is Kind.DYNAMIC and (target.splits or target.unknown):
            yield f"rm gets options or targets from {target.text}, which is only known at run time"
        elif target.kind is Kind.GLOB and not targets.inside(target):
            yield f"rm deletes whatever {target.text} matches at the top of the workspace"
        else:
            yield from targets.changes("rm", target)
            yield from targets.history("rm deletes", target)


def _rimraf(targets: Targets, arguments: tuple[Word, ...]) -> Iterator[str]:
    yield from _rm(targets, (Word("-rf"), *arguments))


def _tree_changer(verb: str) -> Judgement:
    def judge(targets: Targets, arguments: tuple[Word, ...]) -> Iterator[str]:
        given = operands(arguments)
        if given.short("R") or given.has("--recursive"):
            yield f"{verb} changes a whole directory tree"
        mode = given.operands[0].text if given.operands else ""
        if verb == "chmod" and (mode.lstrip("0") == "777" or mode in ("a+rwx", "ugo+rwx", "+rwx", "o+w", "a+w")):
            yield "chmod lets everybody write there"
        if verb == "chmod" and (("s" in mode and "+" in mode) or (len(mode) == 4 and mode[0] in "246")):
            yield "chmod makes a program run with the rights of its owner"
        for target in given.operands[1:]:
            yield from targets.changes(verb, target)

    return judge


def _toucher(verb: str) -> Judgement:
    def judge(targets: Targets, arguments: tuple[Word, ...]) -> Iterator[str]:
        for target in operands(arguments).operands:
            if target.kind is Kind.DYNAMIC and target.unknown and verb in ("unlink", "rmdir"):
                yield f"{verb} gets its targets from {target.text}, which is only known at run time"
            yield from targets.changes(verb, target)

    return judge


def _flags(script: str) -> str:
    """What follows the third delimiter of a sed `s` command."""
    if len(script) < 2 or script[0] != "s":
        return ""
    parts = script.replace(f"\\{script[1]}", "").split(script[1], 3)
    return parts[3] if len(parts) > 3 else ""


def _sed(targets: Targets, arguments: tuple[Word, ...]) -> Iterator[str]:
    given = operands(arguments)
    scripts = [after.text for flag, after in pairwise(arguments) if flag.text == "-e"]
    for script in scripts or [word.text for word in given.operands[:1]]:
        flags = _flags(script)
        command = script.lstrip("0123456789,$ ")
        if "e" in flags.partition(" ")[0] or command.startswith(("e ", "e\t")):
            yield "sed runs what it finds as a command"
        written = command.removeprefix("w ") if command.startswith("w ") else flags.partition("w ")[2]
        if written:
            yield from targets.writes("sed", Word(written.strip()))
    if given.short("i") or given.has("--in-place"):
        for target in given.operands[0 if scripts else 1 :]:
            yield from targets.changes("sed", target)


def _copier(verb: str) -> Judgement:
    def judge(targets: Targets, arguments: tuple[Word, ...]) -> Iterator[str]:
        given = operands(arguments)
        if not given.operands or given.has("--no-clobber", "--backup") or given.short("n", "b"):
            return
        into = [option.partition("=")[2] for option in given.options if option.startswith("--target-directory=")]
        sources, target = given.operands[:-1], given.operands[-1]
        if into or given.short("t"):  # `-t DIR` puts the directory first
            sources, target = (given.operands, Word(into[0])) if into else (given.operands[1:], given.operands[0])
        yield from targets.receives(verb, target, sources)
        for source in sources if verb == "mv" else ():
            if source.kind is not Kind.DYNAMIC and not targets.inside(source):
                yield f"mv takes away {source.text}, which is not below a root of the workspace"
            yield from targets.history("mv takes away", source)

    return judge


def _ln(targets: Targets, arguments: tuple[Word, ...]) -> Iterator[str]:
    given = operands(arguments)
    if given.short("f") or given.has("--force"):
        yield from _copier("ln")(targets, arguments)
    if len(given.operands) == 2 and not targets.inside(given.operands[0]):
        targets.lead_out(given.operands[1])
    for target in given.operands[-1:] if len(given.operands) > 1 else ():
        yield from targets.changes("ln", target)


def _tee(targets: Targets, arguments: tuple[Word, ...]) -> Iterator[str]:
    given = operands(arguments)
    appends = given.short("a") or given.has("--append")
    for target in given.operands:
        yield from targets.writes("tee", target, truncates=not appends)


def _truncate(targets: Targets, arguments: tuple[Word, ...]) -> Iterator[str]:
    texts = [word.text for word in arguments]
    empties = (
        "-s0" in texts
        or "--size=0" in texts
        or ("0", True) in [(t, "-s" in texts[:i]) for i, t in enumerate(texts)]
    )
    for target in operands(arguments).operands:
        if target.literal and target.text.lstrip("+-<>").isdigit():
            continue
        if empties and not targets.exists(target):
            yield f"truncate empties {target.text}"
        yield from targets.writes("truncate", target)


def _dd(targets: Targets, arguments: tuple[Word, ...]) -> Iterator[str]:
    endless = any(word.text.removeprefix("if=") in _ENDLESS for word in arguments if word.text.startswith("if="))
    for argument in arguments:
        if argument.text.startswith("of=") or argument.kind is Kind.DYNAMIC:
            yield from targets.writes("dd", Word(argument.text[3:], argument.kind))
            if endless and not any(word.text.startswith("count=") for word in arguments):
                yield "dd writes until the disk is full"


def _rsync(targets: Targets, arguments: tuple[Word, ...]) -> Iterator[str]:
    if any(argument.text.startswith(("--del", "--remove-source")) for argument in arguments):
        yield "rsync deletes files"
    if not any(":" in word.text for word in operands(arguments).operands[-1:]):
        yield from _copier("rsync")(targets, operands(arguments).operands)


def _download(verb: str, flags: tuple[str, ...]) -> Judgement:
    def judge(targets: Targets, arguments: tuple[Word, ...]) -> Iterator[str]:
        for before, after in pairwise(arguments):
            if before.text in flags:
                yield from targets.writes(verb, after)
        for word in arguments:
            name, _, value = word.text.partition("=")
            if value and name in flags:
                yield from targets.writes(verb, Word(value, word.kind))

    return judge


def _curl(targets: Targets, arguments: tuple[Word, ...]) -> Iterator[str]:
    yield from _download("curl", ("-o", "--output"))(targets, arguments)
    words = [word.text for word in arguments]
    deletes = "DELETE" in words or "-XDELETE" in words or "--request=DELETE" in words
    if deletes and not any(host in word for word in words for host in ("localhost", "127.0.0.1", "[::1]")):
        yield "curl deletes something on a server"
    for before, word in pairwise(words):
        _, at, path = word.partition("@")
        sent = path if at and before.startswith(("-d", "--data", "-F", "--form", "--json")) else ""
        sent = word if before in ("-T", "--upload-file") else sent
        if sent.startswith(("/", "~", "../")) and not targets.inside(Word(sent, tilde=sent.startswith("~"))):
            yield f"curl sends {sent}, which is outside the workspace"


def _awk(targets: Targets, arguments: tuple[Word, ...]) -> Iterator[str]:
    for word in arguments:
        text = word.text
        if "system(" in text or "system (" in text or '| "' in text or '|"' in text or '" |' in text:
            yield "the awk program runs commands"
        _, arrow, after = text.partition('> "')
        target = after.partition('"')[0]
        if arrow and target:
            yield from targets.writes("the awk program", Word(target))


def _editor(targets: Targets, arguments: tuple[Word, ...]) -> Iterator[str]:
    for word in arguments:
        if word.text.startswith(("!", ":!", "+!", "+:!")) or "!" in word.text.partition("%")[2]:
            yield "the editor is told to run a command"


def _scheduled(targets: Targets, arguments: tuple[Word, ...]) -> Iterator[str]:
    if not operands(arguments).short("l", "V"):
        yield "it runs commands later, when nobody looks"


def _svn(targets: Targets, arguments: tuple[Word, ...]) -> Iterator[str]:
    told = [word.text for word in operands(arguments).operands[:1]]
    if told in (["revert"], ["purge"], ["strip"]) or (told == ["update"] and operands(arguments).short("C")):
        yield "it discards changes that were not committed"


JUDGEMENTS: dict[str, Judgement] = {
    **SYSTEMS,
    "rm": _rm,
    "rimraf": _rimraf,
    "chmod": _tree_changer("chmod"),
    "chown": _tree_changer("chown"),
    "chgrp": _tree_changer("chgrp"),
    "cp": _copier("cp"),
    "mv": _copier("mv"),
    "install": _copier("install"),
    "rsync": _rsync,
    "ln": _ln,
    "tee": _tee,
    "sponge": _tee,
    "truncate": _truncate,
    "dd": _dd,
    "dcfldd": _dd,
    "git": git,
    "svn": _svn,
    "hg": _svn,
    "sed": _sed,
    "gsed": _sed,
    "curl": _curl,
    "wget": _download("wget", ("-O", "--output-document")),
    "sort": _download("sort", ("-o", "--output")),
    **{verb: _toucher(verb) for verb in ("mkdir", "rmdir", "touch", "unlink", "mkfifo", "mknod", "fallocate")},
    **dict.fromkeys(("awk", "gawk", "mawk", "nawk"), _awk),
    **dict.fromkeys(("vi", "vim", "nvim", "ex", "ed", "emacs"), _editor),
    **dict.fromkeys(("at", "batch"), _scheduled),
}
