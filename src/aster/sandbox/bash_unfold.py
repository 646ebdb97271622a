"""Every command that a script may come to run, also those inside other commands.

Wrappers (`env`, `sudo`, `timeout`), shells (`bash -c`), `eval`, `find -exec`, `xargs` and their like are opened;
what cannot be opened because it is only known at run time becomes a sentence that says so. The result is flat: who
judges it need not know how a command was hidden.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import lru_cache
from itertools import takewhile

from aster.sandbox.bash_analysis import Redirect, Script, SimpleCommand, parse
from aster.sandbox.bash_values import Variables
from aster.sandbox.bash_words import Kind, Word, listed

_DEPTH = 5
_MOST_STEPS = 2000
_MOST_WORDS = 500
SHELLS = frozenset(("ash", "bash", "dash", "fish", "ksh", "mksh", "rbash", "sh", "zsh"))
# Programs that run the rest of their arguments, and how many operands of their own come before that.
WRAPPERS: dict[str, int] = dict.fromkeys(
    listed("""
    bunx busybox builtin caffeinate command coproc doas entr env exec fakeroot firejail ionice ltrace nice nohup npx
    nsenter parallel pkexec prlimit proot pseudo rlwrap setpriv setsid stdbuf strace sudo systemd-run time toybox
    torsocks unbuffer unshare uvx watch winpty xargs xvfb-run
    """),
    0,
) | dict.fromkeys(listed("chroot chrt flock gosu runuser script setarch ssh su sudo-rs taskset timeout"), 1)
FEEDERS = frozenset(("xargs", "parallel", "find", "fd", "fdfind", "entr"))
_SUPERUSER = frozenset(("sudo", "sudo-rs", "doas", "pkexec", "su", "runuser", "gosu"))
_FIND_RUNS = frozenset(("-exec", "-execdir", "-ok", "-okdir", "-x", "-X", "--exec", "--exec-batch"))
_RUN_WORDS = frozenset(("run", "exec", "dlx", "--", "foreach", "x"))
# Programs that run what follows one of the words above.
_RUNNERS = listed(
    "bundle conda direnv docker dotenv hatch kubectl mamba mise nix-shell pdm pipenv pipx podman pnpm poetry rtx uv"
    " yarn npm"
)
# Programs with arguments that may be scripts, or whose targets are on another machine or under another root.
_STRINGS = listed(
    "tmux screen nix-shell expect gdb man xterm gnome-terminal konsole tar rsync scp sort dbus-run-session zellij"
    " ansible salt pssh clush"
)
_ELSEWHERE = listed("ssh chroot nsenter proot docker podman kubectl su runuser env")
_SPOKEN = listed(
    "PAGER GIT_PAGER MANPAGER EDITOR VISUAL GIT_EDITOR GIT_SSH_COMMAND GIT_EXTERNAL_DIFF LESSOPEN BROWSER"
    " GIT_ASKPASS"
)
_TOO_DEEP = "it nests commands too deeply to be analysed"
_STDIN = frozenset(("-", "/dev/stdin", "/dev/fd/0", "/proc/self/fd/0"))
_NOT_A_PROGRAM = frozenset(("{}", "{", "}", "--", ":::", "!"))
_LOADERS = frozenset(("BASH_ENV", "ENV", "LD_PRELOAD", "LD_LIBRARY_PATH", "PROMPT_COMMAND", "SHELLOPTS", "PS4"))


@dataclass(slots=True)
class Unfolded:
    """Commands and redirections in the order they were found, and sentences about what could not be opened."""

    commands: list[SimpleCommand] = field(default_factory=list[SimpleCommand])
    redirects: list[Redirect] = field(default_factory=list[Redirect])
    notes: list[str] = field(default_factory=list[str])


@lru_cache(maxsize=64)
def unfold(text: str) -> Unfolded:
    """What a script may come to run. The result is shared: do not change it."""
    unfolder = _Unfolder()
    unfolder.script(text, Variables(), 0)
    return unfolder.found


class _Unfolder:
    def __init__(self) -> None:
        self.found = Unfolded()
        self._written: set[str] = set()
        self._steps = 0

    def _worn_out(self, depth: int) -> bool:
        """Whether it has gone too deep or too far; then what is left counts as unknown."""
        self._steps += 1
        if depth <= _DEPTH and self._steps <= _MOST_STEPS:
            return False
        if _TOO_DEEP not in self.found.notes:
            self._note(_TOO_DEEP)
        return True

    def script(self, text: str, around: Variables, depth: int) -> None:
        if self._worn_out(depth):
            return
        script, variables = parse(text), around.inner()
        variables.learn(script)
        self._note_script(script)
        self._note_values(script, variables, depth)
        for redirect in script.redirects:
            self._redirect(redirect, variables)
        for command in script.commands:
            for settled in variables.settle(command):
                self.command(settled, variables, depth)

    def _note_script(self, script: Script) -> None:
        if not script.understood:
            self._note("it contains shell syntax that could not be analysed")
        for name in script.recursive:
            self._note(f"{name} is a function that calls itself, which may never end")
        for name in _LOADERS & set(script.assignments):
            self._note(f"{name} decides what else the programs load and run")

    def _note_values(self, script: Script, variables: Variables, depth: int) -> None:
        """Variables that other programs run as commands."""
        for binding in script.bindings:
            if binding.name in _SPOKEN and binding.value is not None and binding.value.literal:
                self.script(binding.value.text, variables, depth + 1)

    def _redirect(self, redirect: Redirect, variables: Variables) -> None:
        if redirect.target is None:
            return
        for alternative in variables.alternatives(redirect.target):
            for target in alternative:
                self.found.redirects.append(Redirect(redirect.operator, target))
                if ">" in redirect.operator and target.literal:
                    self._written.add(target.text.removeprefix("./"))

    def _note(self, sentence: str) -> None:
        self.found.notes.append(sentence)

    def command(self, command: SimpleCommand, variables: Variables, depth: int) -> None:
        command = _opened(command)
        if len(command.words) > _MOST_WORDS:
            self._note("it has more arguments than can be analysed")
            command = replace(command, words=command.words[:_MOST_WORDS])
        name, arguments = command.program, command.arguments
        if self._worn_out(depth):
            return
        self.found.commands.append(command)
        if name is None or name == "{}":
            self._nameless(command)
        elif name in WRAPPERS:
            self._wrapper(name, command, variables, depth)
        elif name in SHELLS:
            self._shell(name, command, variables, depth)
        elif name in ("eval", "trap"):
            self._nested(name, arguments if name == "eval" else arguments[:1], variables, depth)
        elif name == "alias":
            for argument in arguments:
                self._nested(name, (Word(argument.text.partition("=")[2], argument.kind),), variables, depth)
        elif name in ("source", "."):
            self._sourced(name, command, variables, depth)
        elif name in ("find", "fd", "fdfind"):
            self._find(name, arguments, variables, depth)
        elif name in _RUNNERS or name == "git":
            self._runner(name, command, variables, depth)
        elif name in _STRINGS:
            for argument in arguments:
                self._string(argument, variables, depth)
        elif name.startswith("python") and "-m" in [word.text for word in arguments[:-1]]:
            at = [word.text for word in arguments].index("-m")
            self.command(SimpleCommand(arguments[at + 1 :], command.fed, command.document), variables, depth + 1)
        elif command.words[0].literal and command.words[0].text.removeprefix("./") in self._written:
            self._note(f"it runs {command.words[0].text}, which it has just written")
        self._writes(name, arguments)

    def _writes(self, name: str | None, arguments: tuple[Word, ...]) -> None:
        """Files that a later command of the script may run."""
        if name in ("tee", "curl", "wget", "cp", "mv", "install"):
            self._written |= {word.text.removeprefix("./") for word in arguments if word.literal}
            self._written |= {word.text.rpartition("/")[2] for word in arguments if "://" in word.text}

    def _nameless(self, command: SimpleCommand) -> None:
        first = command.words[0]
        if first.literal or first.splits or first.unknown or any(map(_destructive, command.arguments)):
            self._note(f"it runs {first.text}, a command that is only known at run time")

    def _wrapper(self, name: str, command: SimpleCommand, variables: Variables, depth: int) -> None:
        """All wrappers in a row are taken together, or their number would multiply the work."""
        words, at, leading = command.words, 1, WRAPPERS[name]
        self._note_wrapper(name)
        if name == "command" and any(word.text in ("-v", "-V") for word in command.arguments[:1]):
            return
        while at < len(words):
            word, before = words[at], words[at - 1]
            inner = SimpleCommand(words[at:], command.fed or name in FEEDERS, command.document)
            at += 1
            program = inner.program
            self._string(word, variables, depth)
            if program is not None and not _names_a_program(program):
                continue
            if program in WRAPPERS:
                name, leading = program, WRAPPERS[program]
                self._note_wrapper(name)
                continue
            self.command(inner, variables, depth + 1)
            self._removes(name, program)
            if not _option(before):
                if leading <= 0:
                    return
                leading -= 1

    def _note_wrapper(self, name: str) -> None:
        if name in _SUPERUSER:
            self._note(f"{name} asks for the rights of another user")

    def _string(self, word: Word, variables: Variables, depth: int) -> None:
        """A word with spaces in it may be a script of its own, also as the value of an option."""
        if word.literal and any(character.isspace() for character in word.text):
            self.script(
                word.text.removeprefix("-S").removeprefix("shell ").removeprefix("spawn ").lstrip(),
                variables,
                depth + 1,
            )
            if "=" in word.text:
                self.script(word.text.partition("=")[2], variables, depth + 1)

    def _removes(self, name: str, program: str | None) -> None:
        """`xargs rm` gets its targets from elsewhere, `ssh host rm` has them elsewhere."""
        if program in REMOVERS and name in FEEDERS:
            self._note(f"{name} gives {program} targets that are only known at run time")
        elif program in REMOVERS and name in _ELSEWHERE:
            self._note(f"{program} runs through {name}, where nothing is known of its targets")

    def _find(self, name: str, arguments: tuple[Word, ...], variables: Variables, depth: int) -> None:
        rest = iter(arguments)
        for argument in rest:
            if argument.text in _FIND_RUNS:
                run = tuple(takewhile(lambda word: word.text not in (";", "+"), rest))
                if run:
                    inner = SimpleCommand(run, fed=True)
                    self._removes(name, inner.program)
                    self.command(inner, variables, depth + 1)

    def _runner(self, name: str, command: SimpleCommand, variables: Variables, depth: int) -> None:
        """`poetry run rm`, `docker exec box sh -c …`, `git submodule foreach …`."""
        words = [word.text for word in command.arguments]
        start = next((index for index, text in enumerate(words) if text in _RUN_WORDS), None)
        if name == "git":
            self._git(command, variables, depth)
        elif start is not None and words[start] != "x" and not (name == "npm" and words[start] == "run"):
            for at in range(start + 1, len(words)):
                self._string(command.arguments[at], variables, depth)
                inner = SimpleCommand(command.arguments[at:], command.fed)
                if inner.program is None and _option(command.arguments[at - 1]):
                    continue
                shell = inner.program in SHELLS and not inner.arguments and not inner.fed
                if _names_a_program(words[at]) and not shell:
                    self.command(inner, variables, depth + 1)
                    self._removes(name, inner.program)

    def _git(self, command: SimpleCommand, variables: Variables, depth: int) -> None:
        words = [word.text for word in command.arguments]
        for at, text in enumerate(words):
            runs = text in ("--exec", "-x") and "rebase" in words[:at]
            foreach = text == "foreach" and "submodule" in words[:at]
            bisect = text == "run" and "bisect" in words[:at]
            if runs:
                self._nested("git rebase", command.arguments[at + 1 : at + 2], variables, depth)
            elif foreach or bisect:
                self._nested(f"git {text}", command.arguments[at + 1 :], variables, depth)
            elif text.partition("=")[2].startswith("!") or (text.startswith("!") and "config" in words[:at]):
                self.script(text.partition("!")[2], variables, depth + 1)

    def _shell(self, name: str, command: SimpleCommand, variables: Variables, depth: int) -> None:
        arguments = command.arguments
        for index, argument in enumerate(arguments):
            if _option(argument) and not argument.text.startswith("--") and "c" in argument.text:
                given = [word for word in arguments[index + 1 :] if not word.text.startswith(("-", "+"))]
                if not given and command.fed:
                    self._note(f"{name} -c runs a script that is only known at run time")
                self._nested(f"{name} -c", tuple(given[:1]), variables, depth)
                return
        operands = [word for word in _operands(arguments) if word.text not in _STDIN]
        asked = any(word.text in ("--version", "--help") for word in arguments)
        reads = (
            not operands
            or any(word.text == "-s" for word in arguments)
            or len(operands) < len(_operands(arguments))
        )
        if reads and not asked:
            if command.document is not None and not command.fed:
                self.script(command.document, variables, depth + 1)
            else:
                self._note(f"{name} runs commands that it reads from its input")
        elif operands:
            self._file(name, operands[0])

    def _sourced(self, name: str, command: SimpleCommand, variables: Variables, depth: int) -> None:
        if command.arguments and command.arguments[0].text in _STDIN:
            self._shell(name, SimpleCommand(command.words[:1], command.fed, command.document), variables, depth)
        elif command.arguments:
            self._file(name, command.arguments[0])

    def _file(self, name: str, script: Word) -> None:
        if script.kind is Kind.DYNAMIC:
            self._note(f"{name} runs {script.text}, a script that is only known at run time")
        elif script.text.removeprefix("./") in self._written:
            self._note(f"{name} runs {script.text}, which the command has just written")

    def _nested(self, name: str, words: tuple[Word, ...], variables: Variables, depth: int) -> None:
        if all(word.kind is not Kind.DYNAMIC and word.text.strip() != "{}" for word in words):
            self.script(" ".join(word.text for word in words), variables, depth + 1)
        else:
            self._note(f"{name} runs a script that is only known at run time")


REMOVERS = listed("rm rmdir unlink shred truncate mv dd rimraf srm wipe scrub chattr")
"""Programs that must not get their targets from somewhere else unseen."""


def _operands(arguments: tuple[Word, ...]) -> list[Word]:
    """Of a shell: what is neither an option nor the name that follows `-o` or `+O`."""
    out: list[Word] = []
    skip = False
    for argument in arguments:
        if skip:
            skip = False
        elif argument.literal and argument.text in ("-o", "+o", "-O", "+O", "--rcfile", "--init-file"):
            skip = True
        elif not (argument.literal and argument.text.startswith(("-", "+")) and argument.text not in _STDIN):
            out.append(argument)
    return out


def _opened(command: SimpleCommand) -> SimpleCommand:
    """`{}` stands for whatever `find` or `xargs` put there, which matters to a program that removes."""
    if command.program not in REMOVERS or not any("{}" in word.text for word in command.words):
        return command
    words = tuple(
        Word(word.text, Kind.DYNAMIC, unknown=True) if "{}" in word.text and word.literal else word
        for word in command.words
    )
    return SimpleCommand(words, command.fed, command.document)


def _option(word: Word) -> bool:
    return word.literal and word.text.startswith("-") and len(word.text) > 1 and word.text != "--"


def _names_a_program(text: str) -> bool:
    assignment = text.partition("=")[0].isidentifier() and "=" in text
    return not (text.startswith("-") or text[:1].isdigit() or text in _NOT_A_PROGRAM or assignment or not text)


def _destructive(argument: Word) -> bool:
    text = argument.text
    cluster = text.startswith("-") and not text.startswith("--") and any(letter in text for letter in "rRf")
    return argument.splits or argument.unknown or cluster or text in _DESTRUCTIVE


_DESTRUCTIVE = frozenset(("--recursive", "--force", "--delete", "--hard", "-delete"))


def spoken(command: str) -> Iterator[str]:
    """Every command of a script as one line, also with its program's bare name: what rules are compared with."""
    for found in unfold(command).commands:
        words = [word.text for word in found.words]
        yield " ".join(words)
        if found.program is not None and found.program != words[0]:
            yield " ".join([found.program, *words[1:]])
