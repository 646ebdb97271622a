"""What a check found, and how it is shown."""

from typing import Literal

from rich.console import Console
from rich.text import Text

from aster.cli.screen.clean import clean
from aster.contracts.model import Contract, encode


class Finding(Contract):
    """One line of the report; `fix` says what to do unless all is well."""

    check: str
    status: Literal["ok", "warn", "fail"]
    found: str
    fix: str | None = None


_STYLE = {"ok": "green", "warn": "yellow", "fail": "bold red"}


def show(findings: list[Finding], *, as_json: bool) -> None:
    if as_json:
        worst = max(findings, key=lambda finding: list(_STYLE).index(finding.status)).status
        print(encode({"status": worst, "checks": findings}).decode())
        return
    console = Console(highlight=False)
    width = max(len(finding.check) for finding in findings)
    for finding in findings:
        console.print(
            Text.assemble(
                (f"{finding.status:<5}", _STYLE[finding.status]),
                f"{finding.check:<{width}}  ",
                clean(finding.found),
            ),
            soft_wrap=True,
        )
        if finding.fix:
            console.print(Text(f"{'':<{width + 7}}{clean(finding.fix)}", "dim"), soft_wrap=True)
