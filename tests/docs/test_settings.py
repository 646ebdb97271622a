"""A variable that a page names exists: as a setting, as an error code, or as one of somebody else's that is listed."""

import re

from aster.contracts.errors import ErrorCode
from aster.infra.settings import Settings, variable
from tests.docs.blocks import blocks, inline, name, pages

OURS = {variable(field) for field in Settings.model_fields} | {str(code) for code in ErrorCode}
BESIDE = {
    "ENGINE_URL": "where the command line looks for an engine",
    "ENGINE_KEY": "the key that the command line uses",
}
FOREIGN = {
    "HOOK_EVENT": "given to a hook",
    "HOOK_TASK_ID": "given to a hook",
    "HOOK_TOOL_NAME": "given to a hook",
    "HOOK_TOOL_INPUT": "given to a hook",
    "HOOK_TOOL_OUTPUT": "given to a hook",
    "ASTER_SITE": "in deploy/env.example",
    "ASTER_BIND": "in deploy/env.example",
    "ASTER_REPLICAS": "in deploy/",
    "SSL_CERT_FILE": "given to commands that may reach the web",
    "SSL_CERT_DIR": "given to commands that may reach the web",
    "ALL_PROXY": "given to commands that may reach the web",
    "XDG_DATA_HOME": "where a person keeps data",
    "NO_COLOR": "no colours in a terminal",
    "OPENAI_BASE_URL": "read by other people's clients",
    "OPENAI_API_KEY": "read by other people's clients",
    "SIGTERM": "a signal",
    "SSH_CONNECTION": "set by ssh",
    "WAYLAND_DISPLAY": "set where there is a screen",
    "GITHUB_TOKEN": "a secret in an example",
    "AWS_ACCESS_KEY_ID": "a secret in an example",
    "TRACKER_SECRET": "a secret in an example",
    "CI_TOKEN": "a secret in an example",
    "ASTER_KEY": "a name in an example",
    "WORKS_AT": "a relation in memory",
    "LIVES_IN": "a relation in memory",
    "MARRIED_TO": "a relation in memory",
    "NEEDS_USER": "how a project stands",
    "HUMAN_GATE": "how an answer asks a person",
    "TEST_BRAIN": "read by the tests",
    "ASTER_TEST_MODEL": "read by exported tests",
}
SUFFIX = "_FILE"
"""A secret may also be given as the file it is in."""

SET = re.compile(r"(?<![\w$/-])([A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+)=")
NAMED = re.compile(r"([A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+)(?:=.*)?")


def unknown(found: str) -> bool:
    return found.removesuffix(SUFFIX) not in OURS and found not in BESIDE and found not in FOREIGN


def test_variables_in_commands_exist() -> None:
    found = [(block.where, word) for block in blocks("sh", "console") for word in SET.findall(block.text)]
    assert len(found) > 10
    assert [pair for pair in found if unknown(pair[1])] == []


def test_variables_in_prose_exist() -> None:
    found = [
        (name(page), match[1])
        for page in pages()
        for piece in inline(page)
        if (match := NAMED.fullmatch(piece)) is not None
    ]
    assert len(found) > 100
    assert [pair for pair in found if unknown(pair[1])] == []
