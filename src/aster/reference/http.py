"""The HTTP pages: the OpenAPI document of the application, and a table of its routes."""

import json
from functools import cache
from typing import Any

from aster.engine_core.engine import Engine
from aster.infra.settings import load
from aster.reference.markdown import code, page, table
from aster.server.app import create_app

METHODS = ("get", "post", "put", "patch", "delete")
INTRO = "The whole description, with bodies and answers, is in [openapi.json](openapi.json)."


@cache
def document() -> dict[str, Any]:
    """The OpenAPI document of an engine that was never started."""
    return create_app(Engine(load({}, None))).openapi()


def render_document() -> str:
    return json.dumps(document(), indent=2, ensure_ascii=False) + "\n"


def render() -> str:
    routes = [
        (code(method.upper()), code(path), operation.get("summary", ""))
        for path, item in document()["paths"].items()
        for method, operation in item.items()
        if method in METHODS
    ]
    return page("HTTP", INTRO, table(("method", "path", "purpose"), routes))
