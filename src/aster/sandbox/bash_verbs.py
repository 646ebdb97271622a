"""What the programs that destroy things do with their arguments, one judgement each.

A judgement yields sentences about what is at stake; a program that is not listed has none.
"""

from collections.abc import Callable, Iterator
from typing import TypeAlias

from aster.sandbox.bash_analysis import Kind, Word
from aster.sandbox.bash_targets import Targets, operands

Judgement: TypeAlias = Callable[[Targets, tuple[Word, ...]], Iterator[str]]

REMOVERS = frozenset(("rm", "rmdir", "unlink", "shred", "truncate", "mv", "dd"))
"""Programs that must not get their targets from somewhere else unseen."""

_GIT_VALUED = frozenset(("-C", "-c", "--git-dir", "--work-tree", "--namespace", "--exec-path"))


def _rm(targets: Targets, arguments: tuple[Word, ...]) -> Iterator[str]:
    given = operands(arguments)
    recursive = given.short("r", "R") or given.has("--recursive")
    for target in given.operands:
        if recursive and not targets.inside(target):
            yield f"rm deletes {target.text} and all it contains, which is not surely below a root of the workspace"
        elif target.kind is Kind.DYNAMIC and target.splits:
            yield f"rm gets options or targets from {target.text}, which is only known at run time"
        elif target.kind is Kind.GLOB and not targets.inside(target):
            yield f"rm deletes whatever {target.text} matches at the top of the workspace"
        else:
            yield from targets.changes("rm", target)


def _shred(targets: Targets, arguments: tuple[Word, ...]) -> Iterator[str]:
    del targets, arguments
    yield "shred destroys files beyond recovery"


def _tree_changer(verb: str) -> Judgement:
    def judge(targets: Targets, arguments: tuple[Word, ...]) -> Iterator[str]:
        given = operands(arguments)
        if given.short("R") or given.has("--recursive"):
            yield f"{verb} changes a whole directory tree"
        for target in given.operands[1:]:
            yield from targets.changes(verb, target)

    return judge


def _toucher(verb: str, skip: int = 0) -> Judgement:
    def judge(targets: Targets, arguments: tuple[Word, ...]) -> Iterator[str]:
        for target in operands(arguments).operands[skip:]:
            yield from targets.changes(verb, target)

    return judge


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
            if source.literal and not targets.inside(source):
                yield f"mv takes away {source.text}, which is not below a root of the workspace"

    return judge


def _tee(targets: Targets, arguments: tuple[Word, ...]) -> Iterator[str]:
    given = operands(arguments)
    appends = given.short("a") or given.has("--append")
    for target in given.operands:
        yield from targets.writes("tee", target, truncates=not appends)


def _truncate(targets: Targets, arguments: tuple[Word, ...]) -> Iterator[str]:
    for target in operands(arguments).operands:
        yield from targets.writes("truncate", target)


def _dd(targets: Targets, arguments: tuple[Word, ...]) -> Iterator[str]:
    for argument in arguments:
        if argument.text.startswith("of="):
            yield from targets.writes("dd", Word(argument.text[3:], argument.kind))


def _rsync(targets: Targets, arguments: tuple[Word, ...]) -> Iterator[str]:
    if any(argument.text.startswith(("--del", "--remove-source")) for argument in arguments):
        yield "rsync deletes files"
    yield from _copier("rsync")(targets, operands(arguments).operands)


def _git(targets: Targets, arguments: tuple[Word, ...]) -> Iterator[str]:
    del targets
    words = [argument.text for argument in arguments]
    while words and words[0].startswith("-"):
        words = words[2:] if words[0] in _GIT_VALUED else words[1:]
    if not words:
        return
    given = operands(tuple(Word(text) for text in words[1:]))
    rest = {word.text for word in given.operands}
    match words[0]:
        case "push" if (
            given.has("--force", "--force-with-lease", "--mirror", "--delete", "--prune")
            or given.short("f", "d")
            or any(refspec.startswith(("+", ":")) for refspec in rest)
        ):
            yield "git push rewrites or deletes what is on the remote"
        case "reset" if given.has("--hard"):
            yield "git reset --hard discards changes that were not committed"
        case "clean" if given.has("--force") or given.short("f"):
            yield "git clean deletes files that are not tracked"
        case "checkout" | "switch" if given.has("--force", "--discard-changes") or given.short("f"):
            yield f"git {words[0]} discards changes that were not committed"
        case "branch" if given.short("D"):
            yield "git branch -D deletes a branch that was not merged"
        case "stash" if rest & {"drop", "clear"}:
            yield "git stash discards what was stashed"
        case _:
            pass


JUDGEMENTS: dict[str, Judgement] = {
    "rm": _rm,
    "shred": _shred,
    "chmod": _tree_changer("chmod"),
    "chown": _tree_changer("chown"),
    "chgrp": _tree_changer("chgrp"),
    "cp": _copier("cp"),
    "mv": _copier("mv"),
    "install": _copier("install"),
    "rsync": _rsync,
    "tee": _tee,
    "truncate": _truncate,
    "dd": _dd,
    "git": _git,
    "sed": _toucher("sed", skip=1),
    **{verb: _toucher(verb) for verb in ("ln", "mkdir", "rmdir", "touch", "unlink")},
}
