"""Which commands only look."""

import pytest

from aster.contracts.tools import Effect
from aster.sandbox.bash_effect import effect_of

LOOKS = [
    "ls -la | grep x | wc -l",
    "cat a b > /dev/null 2>&1",
    "find . -name '*.py' -type f",
    "sort -u f | uniq -c",
    "git status; git --no-pager log --oneline -5; git diff HEAD~1; git show x; git branch -a; git stash list",
    "/usr/bin/head -n 3 f",
    "echo $HOME $(pwd)",
    "test -f x && echo yes || echo no",
    "[ -f x ] && stat x",
    "if [[ -n x ]]; then cat x; fi",
    "diff <(ls a) <(ls b)",
    "cat <<EOF\nhello\nEOF",
    "rg -n pattern src 2>/dev/null",
    "command -v python3",
    "env",
    "cd sub && ls",
    "file x; date +%s; du -sh .; printf '%s' x",
]
CHANGES = [
    "",
    "touch x",
    "ls > out",
    "ls >> out",
    "echo x | tee out",
    "find . -delete",
    "find . -exec cat {} +",
    "find . $X",
    "find . -fprint out",
    "sort -o out f",
    "sort --output=out f",
    "sort * ",
    "uniq in out",
    "git commit -m x",
    "git diff --output=x",
    "git -c core.pager=evil log",
    "git branch new",
    "git stash",
    "PATH=. ls",
    "X=1; ls",
    "ls() { rm x; }; ls",
    "./ls",
    "$CMD",
    "ls & ",
    "cat $(rm x)",
    'echo "`rm x`"',
    "diff <(ls) <(rm x)",
    "bash -c ls",
    "eval ls",
    "env ls",
    "date -s now",
    "awk 1 f",
    "sed -i s/a/b/ f",
    "python3 x.py",
    'echo "',
    "for f in -delete; do find . $f; done",
    "rg --pre evil x",
    "hostname other",
]


@pytest.mark.parametrize("command", LOOKS)
def test_looking_is_pure(command: str) -> None:
    assert effect_of(command) is Effect.PURE


@pytest.mark.parametrize("command", CHANGES)
def test_anything_else_is_irreversible(command: str) -> None:
    assert effect_of(command) is Effect.IRREVERSIBLE
