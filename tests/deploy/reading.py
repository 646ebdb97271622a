"""The files of `deploy/`, read as what they are, and what they give to an engine."""

import re
from pathlib import Path
from typing import Any

import yaml

DEPLOY = Path(__file__).parents[2] / "deploy"
MANIFESTS = sorted(path for path in (DEPLOY / "kubernetes").glob("*.yaml") if path.name != "kustomization.yaml")
ENGINES = ("engine-1", "engine-2", "engine-3")

_REFERENCE = re.compile(r"\$\{(?P<name>\w+)(?::(?P<kind>[-?])(?P<rest>[^}]*))?\}")


def document(name: str) -> Any:
    return yaml.safe_load((DEPLOY / name).read_text())


def manifest(kind: str) -> Any:
    """The one resource of this kind."""
    every = [one for path in MANIFESTS for one in yaml.safe_load_all(path.read_text())]
    (found,) = [one for one in every if one["kind"] == kind]
    return found


def engine_container() -> Any:
    (container,) = manifest("Deployment")["spec"]["template"]["spec"]["containers"]
    return container


def filled(text: str, given: dict[str, str]) -> str:
    """A value of a compose file as compose would read it; one that must be given and is not is a KeyError."""

    def value(match: re.Match[str]) -> str:
        if match["kind"] == "-":
            return given.get(match["name"]) or match["rest"]
        return given[match["name"]]

    return _REFERENCE.sub(value, text)


def demanded(text: str) -> list[str]:
    """The variables without which compose refuses to start."""
    return [match["name"] for match in _REFERENCE.finditer(text) if match["kind"] == "?"]


def dockerfile(instruction: str) -> list[str]:
    """What follows this instruction, wherever it stands in the last stage, lines joined."""
    text = (DEPLOY / "Dockerfile").read_text().replace("\\\n", " ")
    stage = text[text.rindex("\nFROM ") :]
    return [line.split(maxsplit=1)[1] for line in stage.splitlines() if line.startswith(f"{instruction} ")]


def image_environment() -> dict[str, str]:
    return dict(part.split("=", 1) for line in dockerfile("ENV") for part in line.split())


def seconds(text: str) -> float:
    assert text.endswith("s")
    return float(text.removesuffix("s"))
