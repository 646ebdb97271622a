"""What an "always" to a call would store: a pattern that fits this call, and never one that lets others ride along.

A command in which something dangerous was found is only ever granted word for word. Of a plain, harmless one the
first words are enough, and such a grant stays silent about what is dangerous.
"""

from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

from aster.contracts.permissions import GrantOffer
from aster.sandbox.bash_analysis import SimpleCommand, parse
from aster.sandbox.bash_code import language
from aster.sandbox.bash_unfold import SHELLS, WRAPPERS
from aster.sandbox.bash_words import listed
from aster.sandbox.paths import Workspace
from aster.sandbox.permissions import Decision
from aster.sandbox.rules import ANYTHING, escaped, plain, subject

_PATTERN_CHARS = 2000
# Programs whose first argument says what they do, and those whose second does.
_VERBS = listed(
    "git npm pnpm yarn bun cargo go pip pip3 uv poetry docker podman kubectl make just apt apt-get brew gh"
    " terraform helm systemctl dotnet mvn gradle rake bundle composer deno conda"
)
_RUNS = frozenset(("run", "exec", "x"))
_NEVER_BY_NAME = SHELLS | WRAPPERS.keys() | listed("find fd eval source . rm mv dd ssh awk sed tee")


def offer(tool: str, arguments: Mapping[str, Any], decision: Decision, workspace: Workspace) -> GrantOffer | None:
    """The grant that fits a call a person is asked about; None when there can be none."""
    if decision.every_time:
        return None
    if tool != "bash":
        return _offer(tool, _by_content(tool, arguments, workspace), decision.pin)
    command = str(arguments["command"])
    script = parse(command)
    if not script.understood:
        return None
    if plain(script) and not decision.effects and decision.decided_by.startswith("mode:"):
        return _offer(tool, _first_words(script.commands[0], command))
    return _offer(tool, escaped(command))


def _by_content(tool: str, arguments: Mapping[str, Any], workspace: Workspace) -> str:
    """A file by its path, an address by its site, any other call by its tool alone."""
    if "path" in arguments:
        return escaped(subject(tool, arguments, workspace).plain[0])
    if "url" not in arguments:
        return ANYTHING
    site = urlsplit(str(arguments["url"]))
    whole = not site.scheme or not site.netloc
    return escaped(str(arguments["url"])) if whole else f"{escaped(f'{site.scheme}://{site.netloc}')}/*"


def _offer(tool: str, pattern: str, pin: str | None = None) -> GrantOffer | None:
    return GrantOffer(tool=tool, pattern=pattern, pin=pin) if len(pattern) <= _PATTERN_CHARS else None


def _first_words(command: SimpleCommand, text: str) -> str:
    words = [word.text for word in command.words]
    name = words[0]
    if name in _NEVER_BY_NAME or language(name) is not None or "/" in name:
        return escaped(text)
    count = 1
    if name in _VERBS:
        if len(words) < 2 or words[1].startswith("-"):
            return escaped(text)
        count = 3 if words[1] in _RUNS and len(words) > 2 else 2
    start = escaped(" ".join(words[:count]))
    return f"{start} *" if len(words) > count else start
