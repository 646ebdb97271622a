"""The settings page: every variable with its type, default, limits and meaning."""

from enum import Enum
from pathlib import Path
from typing import Annotated, Any, Final, Literal, get_args, get_origin

from pydantic import SecretStr
from pydantic.fields import FieldInfo
from pydantic_core import PydanticUndefined

from aster.infra.settings import Settings, variable
from aster.reference.markdown import code, page, table

INTRO = """\
Read once at the start, from `.env` in the working directory and from the environment; the environment wins, and a
command-line option wins over both. An empty variable counts as unset. A wrong value stops the start with a sentence
that names the variable. Flags are `true` or `false`, in any case, and nothing else."""

COMPUTED: Final[dict[str, str]] = {
    "llm_provider": "`local` where the `local` extra is installed, else `demo`",
    "sqlite_db_path": "`$XDG_DATA_HOME/aster/brain.sqlite`, or below `~/.local/share`",
}
"""Defaults that depend on the machine, in words."""

NAMES: Final[dict[type, str]] = {
    str: "text",
    int: "integer",
    float: "number",
    bool: "flag",
    Path: "path",
    SecretStr: "secret",
}
LIMITS: Final[dict[str, str]] = {"ge": "≥", "gt": ">", "le": "≤", "lt": "<"}


def render() -> str:
    rows = [
        (code(variable(name)), kind(field), default(name, field), field.description or "")
        for name, field in Settings.model_fields.items()
    ]
    return page("Settings", INTRO, table(("variable", "type", "default", "meaning"), rows))


def kind(field: FieldInfo) -> str:
    limits = [
        f"{sign} {getattr(rule, name):g}"
        for rule in field.metadata
        for name, sign in LIMITS.items()
        if getattr(rule, name, None) is not None
    ]
    return ", ".join([_named(field.annotation), *limits])


def default(name: str, field: FieldInfo) -> str:
    if name in COMPUTED:
        return COMPUTED[name]
    value: Any = field.default
    assert value is not PydanticUndefined, f"{name} has a computed default; describe it in COMPUTED"
    if value is None or value == "":
        return "unset"
    if isinstance(value, bool):
        return code(str(value).lower())
    return code(
        f"{value:g}" if isinstance(value, float) else str(value.value if isinstance(value, Enum) else value)
    )


def _named(annotation: Any) -> str:
    if get_origin(annotation) is Literal:
        return ", ".join(code(str(value)) for value in get_args(annotation))
    if get_origin(annotation) is Annotated:
        return _named(get_args(annotation)[0])
    options = [option for option in get_args(annotation) if option is not type(None)]
    return _named(options[0]) if options else NAMES[annotation]
