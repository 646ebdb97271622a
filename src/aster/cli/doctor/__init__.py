"""`aster doctor`: whether this machine has what an engine needs, and what to do where it has not."""

import argparse

from aster.cli.exits import Exit


def command(args: argparse.Namespace) -> int:
    from aster.cli import hangup
    from aster.cli.doctor.examination import examine
    from aster.cli.doctor.report import show

    async def work() -> int:
        findings = await examine(args)
        show(findings, as_json=getattr(args, "json", False))
        return Exit.FAILED if any(finding.status == "fail" for finding in findings) else Exit.OK

    return hangup.run(work())
