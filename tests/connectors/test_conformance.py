"""The public conformance suite's client scenarios, against the session that connectors use.

Those about logging in are for when there is a login; every other one there is has to pass.
"""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.connectors.conftest import Installed

pytestmark = pytest.mark.connectors

ROOT = Path(__file__).parents[2]
SCENARIOS = ("initialize", "tools_call", "elicitation-sep1034-client-defaults", "sse-retry")


def suite(installed: Installed, *arguments: str) -> subprocess.CompletedProcess[str]:
    node = installed.node_modules / "node" / "bin" / "node"
    script = installed.node_modules / "@modelcontextprotocol" / "conformance" / "dist" / "index.js"
    environment = {**os.environ, "PYTHONPATH": f"{ROOT / 'src'}:{ROOT}"}
    return subprocess.run(
        [str(node), str(script), *arguments], capture_output=True, text=True, env=environment, cwd=installed.place
    )


@pytest.mark.parametrize("scenario", SCENARIOS)
def test_a_scenario_passes(installed: Installed, scenario: str) -> None:
    command = f"{sys.executable} -m tests.connectors.conformance_client"
    done = suite(installed, "client", "--command", command, "--scenario", scenario)
    assert done.returncode == 0, done.stdout + done.stderr


def test_no_other_scenario_is_about_anything_but_logins(installed: Installed) -> None:
    listed = suite(installed, "list").stdout.partition("Client scenarios")[2]
    names = [line.split()[1] for line in listed.splitlines() if line.strip().startswith("- ")]
    assert [name for name in names if not name.startswith("auth/")] == list(SCENARIOS)
