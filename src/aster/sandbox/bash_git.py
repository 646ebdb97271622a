"""What in git cannot be taken back: changes that were never committed, and what others already have."""

from collections.abc import Iterator

from aster.sandbox.bash_targets import Operands, Targets, operands
from aster.sandbox.bash_words import Word

_VALUED = frozenset(("-C", "-c", "--git-dir", "--work-tree", "--namespace", "--exec-path"))
_RUNS = ("core.sshcommand", "core.editor", "core.pager", "core.hookspath", "core.fsmonitor", "diff.external")


def git(targets: Targets, arguments: tuple[Word, ...]) -> Iterator[str]:
    words = [argument.text for argument in arguments]
    for text in words:
        if text.lower().startswith(_RUNS) and "=" in text:
            yield f"git is told to run a program of its own choice ({text.partition('=')[0]})"
    while words and words[0].startswith("-"):
        words = words[2:] if words[0] in _VALUED else words[1:]
    if not words:
        return
    given = operands(tuple(arguments[len(arguments) - len(words) + 1 :]))
    rest = {word.text for word in given.operands}
    if words[0] == "checkout" and _names_paths(given, targets):
        yield "git checkout of a path discards changes that were not committed"
        return
    yield from _subcommand(words[0], given, rest)


def _names_paths(given: Operands, targets: Targets) -> bool:
    """Whether a checkout is of files: of something that is there, or of what another revision has."""
    if given.short("b", "B", "t") or given.has("--orphan", "--track", "--detach"):
        return False
    return len(given.operands) > 1 or any(targets.there(word) for word in given.operands)


def _subcommand(name: str, given: Operands, rest: set[str]) -> Iterator[str]:
    match name:
        case "push" if (
            given.has("--force", "--force-with-lease", "--mirror", "--delete", "--prune")
            or given.short("f", "d")
            or any(refspec.startswith(("+", ":")) for refspec in rest)
        ):
            yield "git push rewrites or deletes what is on the remote"
        case "reset" if given.has("--hard", "--merge"):
            yield "git reset --hard discards changes that were not committed"
        case "clean" if (given.has("--force") or given.short("f")) and not (
            given.has("--dry-run") or given.short("n")
        ):
            yield "git clean deletes files that are not tracked"
        case "checkout" | "switch" if given.has("--force", "--discard-changes") or given.short("f"):
            yield f"git {name} discards changes that were not committed"
        case "checkout" if given.dashes or "." in rest or any(path.startswith(":/") for path in rest):
            yield "git checkout of a path discards changes that were not committed"
        case "restore" if not given.has("--staged") or given.has("--worktree") or given.short("W"):
            yield "git restore discards changes that were not committed"
        case "rm" if given.short("f", "r") or given.has("--force"):
            yield "git rm deletes files"
        case _:
            yield from _bookkeeping(name, given, rest)


def _bookkeeping(name: str, given: Operands, rest: set[str]) -> Iterator[str]:
    match name:
        case "branch" if given.short("D") or (given.has("--delete") and given.has("--force")):
            yield "git branch -D deletes a branch that was not merged"
        case "tag" if given.short("d") or given.has("--delete"):
            yield "git tag -d deletes a tag"
        case "stash" if rest & {"drop", "clear"}:
            yield "git stash discards what was stashed"
        case "reflog" if rest & {"expire", "delete"}:
            yield "git reflog forgets what commits could be found by"
        case "gc" | "prune" if name == "prune" or given.has("--prune"):
            yield f"git {name} deletes commits that nothing points to"
        case "filter-branch" | "filter-repo":
            yield f"git {name} rewrites history"
        case "update-ref" if given.short("d") or given.has("--stdin"):
            yield "git update-ref deletes a reference"
        case "worktree" if "remove" in rest and (given.has("--force") or given.short("f")):
            yield "git worktree remove discards changes that were not committed"
        case "submodule" if "deinit" in rest and (given.has("--force") or given.short("f")):
            yield "git submodule deinit discards changes that were not committed"
        case _:
            pass
