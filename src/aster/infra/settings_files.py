"""Secrets that come in files: where `NAME` is a secret, `NAME_FILE` may name the file that holds it.

Container platforms hand secrets over as files, which no process listing and no crash report shows. A file that cannot
be read stops the start, and so does a secret that is given twice: nobody should have to guess which one counts.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import get_args

from pydantic import SecretStr
from pydantic.fields import FieldInfo

from aster.contracts.errors import EngineError, ErrorCode


def secret_files(read: Mapping[str, str], fields: Mapping[str, FieldInfo]) -> dict[str, str]:
    """The values of those variables that are secrets and that a file was named for."""
    secrets = [name.upper() for name, field in fields.items() if SecretStr in get_args(field.annotation)]
    return {name: _content(name, read) for name in secrets if read.get(f"{name}_FILE", "") != ""}


def _content(name: str, read: Mapping[str, str]) -> str:
    if read.get(name, "") != "":
        raise _wrong(name, f"Set {name} or {name}_FILE, not both.")
    try:
        content = Path(read[f"{name}_FILE"]).read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError) as error:
        raise _wrong(name, f"{name}_FILE names a file that cannot be read: {error}.") from error
    if not content:
        raise _wrong(name, f"{name}_FILE names an empty file.")
    return content


def _wrong(name: str, sentence: str) -> EngineError:
    return EngineError(ErrorCode.CONFIGURATION_INVALID, sentence, {f"{name}_FILE": sentence})
