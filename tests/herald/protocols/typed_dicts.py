"""Says whether a JSON value is what a TypedDict describes: nothing missing, nothing unknown, at any depth."""

import types
from collections.abc import Iterable
from typing import Any, Literal, Required, Union, get_args, get_origin

from typing_extensions import get_type_hints, is_typeddict


def misfit(value: Any, hint: Any, path: str = "$") -> str | None:
    """The first place where the value does not fit, or None."""
    origin, arguments = get_origin(hint), get_args(hint)
    if hint in (Any, object):
        return None
    if origin in (Union, types.UnionType):
        problems = [misfit(value, option, path) for option in arguments]
        return None if None in problems else max((p for p in problems if p), key=lambda p: p.count("."))
    if origin is Literal:
        return None if value in arguments else f"{path}: {value!r} is not one of {arguments}"
    if is_typeddict(hint):
        return _misfit_dict(value, hint, path)
    if origin is dict:
        return None if isinstance(value, dict) else f"{path}: no object"
    if origin is not None and arguments and (origin is list or issubclass(origin, Iterable)):
        if not isinstance(value, list):
            return f"{path}: no list"
        problems = (misfit(item, arguments[0], f"{path}.{index}") for index, item in enumerate(value))
        return next((problem for problem in problems if problem), None)
    if hint is float and isinstance(value, int):
        return None
    fits = value is None if hint in (None, type(None)) else isinstance(hint, type) and type(value) is hint
    return None if fits else f"{path}: {value!r} is no {hint}"


def _misfit_dict(value: Any, hint: Any, path: str) -> str | None:
    if not isinstance(value, dict):
        return f"{path}: no object"
    hints = get_type_hints(hint)
    marked = get_type_hints(hint, include_extras=True)
    required = {key for key, form in marked.items() if get_origin(form) is Required}
    missing, unknown = required - value.keys(), value.keys() - hints.keys()
    if missing or unknown:
        return f"{path}: missing {sorted(missing)}, unknown {sorted(unknown)}"
    problems = (misfit(item, hints[key], f"{path}.{key}") for key, item in value.items())
    return next((problem for problem in problems if problem), None)
