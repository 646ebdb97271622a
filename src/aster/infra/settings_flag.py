"""A setting that is on or off: `true` or `false` in so many words, never a number or a yes."""

from typing import Annotated, Any

from pydantic import BeforeValidator


def _strict_flag(value: Any) -> Any:
    if isinstance(value, bool):
        return value
    if isinstance(value, str) and value.lower() in ("true", "false"):
        return value.lower() == "true"
    raise ValueError("must be true or false")


Flag = Annotated[bool, BeforeValidator(_strict_flag)]
