"""The public conformance suite's client scenarios, against the sessions and the logins that connectors use.

Every scenario there is has to pass, but for those of extensions that the engine does not offer.
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
LOGINS = (
    "auth/metadata-default",
    "auth/metadata-var1",
    "auth/metadata-var2",
    "auth/metadata-var3",
    "auth/basic-cimd",
    "auth/scope-from-www-authenticate",
    "auth/scope-from-scopes-supported",
    "auth/scope-omitted-when-undefined",
    "auth/scope-step-up",
    "auth/scope-retry-limit",
    "auth/token-endpoint-auth-basic",
    "auth/token-endpoint-auth-post",
    "auth/token-endpoint-auth-none",
    "auth/pre-registration",
    "auth/2025-03-26-oauth-metadata-backcompat",
    "auth/2025-03-26-oauth-endpoint-fallback",
    "auth/resource-mismatch",
    "auth/offline-access-scope",
    "auth/offline-access-not-supported",
)
NOT_OFFERED = (
    "auth/client-credentials-jwt",
    "auth/client-credentials-basic",
    "auth/cross-app-access-complete-flow",
)
"""Logins without a person: an engine calls for somebody, and that is who logs in."""


def suite(installed: Installed, *arguments: str) -> subprocess.CompletedProcess[str]:
    node = installed.node_modules / "node" / "bin" / "node"
    script = installed.node_modules / "@modelcontextprotocol" / "conformance" / "dist" / "index.js"
    environment = {**os.environ, "PYTHONPATH": f"{ROOT / 'src'}:{ROOT}"}
    return subprocess.run(
        [str(node), str(script), *arguments], capture_output=True, text=True, env=environment, cwd=installed.place
    )


@pytest.mark.parametrize("scenario", [*SCENARIOS, *LOGINS])
def test_a_scenario_passes(installed: Installed, scenario: str) -> None:
    client = "conformance_login" if scenario in LOGINS else "conformance_client"
    command = f"{sys.executable} -m tests.connectors.{client}"
    done = suite(installed, "client", "--command", command, "--scenario", scenario)
    assert done.returncode == 0, done.stdout + done.stderr


def test_there_is_no_other_scenario(installed: Installed) -> None:
    listed = suite(installed, "list").stdout.partition("Client scenarios")[2]
    names = [line.split()[1] for line in listed.splitlines() if line.strip().startswith("- ")]
    assert names == [*SCENARIOS, *LOGINS, *NOT_OFFERED]
