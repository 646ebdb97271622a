"""Git as the engine itself runs it: in the sandbox, and deaf to what a repository would have it run.

A repository is somebody else's: its configuration may name hooks, filters, helpers and programs of all kinds. What can
run something is overridden by name, after its configuration was listed as git will see it; nothing goes over a network,
nothing asks, and everything ends in time.
"""

import re
from pathlib import Path
from typing import Final

from aster.brain.worktrees import refusal
from aster.sandbox.backend import Command, Completed, Sandbox
from aster.sandbox.paths import Workspace

SECONDS: Final = 120.0
_LISTED_BYTES: Final = 1_000_000
_SAID_CHARS: Final = 500
UNREADABLE: Final = "\ufffd"
"""What stands for a byte that is no text in what a command has said."""
_ENVIRONMENT: Final = {
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_CONFIG_GLOBAL": "/dev/null",
    "GIT_ATTR_NOSYSTEM": "1",
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_LITERAL_PATHSPECS": "1",
    "GIT_ALLOW_PROTOCOL": "none",
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_PAGER": "cat",
    "GIT_EDITOR": "false",
    "GIT_SEQUENCE_EDITOR": "false",
    "GIT_ASKPASS": "false",
    "GIT_SSH_COMMAND": "false",
    "LC_ALL": "C",
}
_SETTLED: Final = {
    "safe.directory": "*",
    "core.hooksPath": "/dev/null",
    "core.fsmonitor": "false",
    "core.untrackedCache": "false",
    "core.attributesFile": "/dev/null",
    "core.checkStat": "default",
    "core.trustctime": "true",
    "core.ignoreStat": "false",
    "core.pager": "cat",
    "core.sshCommand": "false",
    "credential.helper": "",
    "diff.external": "",
    "submodule.recurse": "false",
    "branch.autoSetupMerge": "false",
    "worktree.guessRemote": "false",
    "worktree.useRelativePaths": "false",
    "gc.auto": "0",
    "maintenance.auto": "false",
}
_RUNS: Final = re.compile(
    r"(filter\..*\.(clean|smudge|process)|diff\..*\.(command|textconv)|merge\..*\.driver|credential\..*\.?helper"
    r"|gpg\..*\.?program|core\.(gitproxy|askpass|editor|alternaterefscommand)|uploadpack\..*hook)",
    re.DOTALL,
)
_REQUIRED: Final = re.compile(r"filter\..*\.required", re.DOTALL)


class Git:
    """Git in a repository, or in one of its worktrees (`git_dir` is that one's)."""

    def __init__(
        self, sandbox: Sandbox, workspace: Workspace, work_tree: Path, git_dir: Path | None = None
    ) -> None:
        self._sandbox = sandbox
        self._workspace = workspace
        self._tree = work_tree
        self._dir = git_dir or work_tree / ".git"
        self.settled: dict[str, str] = dict(_SETTLED)

    async def look(self) -> None:
        """List what the repository configures, and override what of it could run something. A name that cannot be read
        could not be overridden either."""
        listed = await self.run("config", "--list", "--includes", "--name-only", most=_LISTED_BYTES)
        if listed.exit_code != 0 or listed.truncated or UNREADABLE in listed.stdout:
            raise refusal("git_failed", f"The configuration of {self._tree} cannot be read: {said(listed)}")
        for name in listed.stdout.split("\n"):
            lowered = name.lower()
            if _RUNS.fullmatch(lowered):
                self.settled[name] = ""
            elif _REQUIRED.fullmatch(lowered):
                self.settled[name] = "false"

    async def run(self, *arguments: str, most: int = 40_000) -> Completed:
        command = Command(
            ("/usr/bin/env", "git", *arguments),
            self._workspace,
            SECONDS,
            stdout_bytes=most,
            environment=tuple(self._environment().items()),
        )
        return await self._sandbox.run(command)

    async def must(self, *arguments: str, most: int = 40_000) -> str:
        """What a command that has to go well says."""
        done = await self.run(*arguments, most=most)
        if done.timed_out:
            raise refusal("git_failed", f"git {arguments[0]} took longer than {SECONDS:g} seconds and was stopped.")
        if done.exit_code != 0:
            raise refusal("git_failed", f"git {' '.join(arguments[:2])} failed: {said(done)}")
        return done.stdout

    def _environment(self) -> dict[str, str]:
        pairs = enumerate(self.settled.items())
        numbered = {
            key: value
            for at, (name, setting) in pairs
            for key, value in ((f"GIT_CONFIG_KEY_{at}", name), (f"GIT_CONFIG_VALUE_{at}", setting))
        }
        return {
            **_ENVIRONMENT,
            "GIT_DIR": str(self._dir),
            "GIT_WORK_TREE": str(self._tree),
            "GIT_CONFIG_COUNT": str(len(self.settled)),
            **numbered,
        }


def said(done: Completed) -> str:
    """The last of what git said, for whoever has to put it right."""
    return " ".join((done.stderr or done.stdout).split())[-_SAID_CHARS:] or f"exit status {done.exit_code}"
