"""The reference pages: true now, and noticed when they are not."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from aster.contracts.errors import CODES, ErrorCode
from aster.contracts.events import EVENT_TYPES
from aster.infra.settings import Settings, variable
from aster.reference import errors, events, http, pages, settings
from aster.reference.__main__ import main
from aster.reference.advice import ADVICE, RETRY

DOCS = Path(__file__).parents[2] / "docs" / "reference"


def headings(text: str) -> list[str]:
    return [line.lstrip("#").strip() for line in text.splitlines() if line.startswith("#")]


def test_the_pages_in_the_repository_are_true() -> None:
    stale = pages.check(DOCS)
    assert stale == [], "run python -m aster.reference --write"


def test_a_missing_and_a_changed_page_are_noticed_and_mended(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "reference"
    assert main(["--check", "--docs", str(folder)]) == 1
    assert capsys.readouterr().err.count("is stale") == len(pages.PAGES)
    assert main(["--write", "--docs", str(folder)]) == 0
    assert main(["--check", "--docs", str(folder)]) == 0
    with (folder / "errors.md").open("a") as file:
        file.write("by hand\n")
    capsys.readouterr()
    assert main(["--check", "--docs", str(folder)]) == 1
    assert "errors.md is stale" in capsys.readouterr().err
    assert main(["--write", "--docs", str(folder)]) == 0
    assert capsys.readouterr().out.count("wrote") == 1


def test_it_runs_as_a_module() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "aster.reference", "--check", "--docs", str(DOCS)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")


def test_the_pages_do_not_depend_on_the_machine(tmp_path: Path) -> None:
    script = "from aster.reference.pages import PAGES; print([render() for render in PAGES.values()])"

    def rendered(**environ: str) -> str:
        done = subprocess.run(
            [sys.executable, "-c", script],
            capture_output=True,
            text=True,
            check=True,
            cwd=tmp_path,
            env={"PYTHONHASHSEED": "1", **environ},
        )
        return done.stdout

    one = rendered(HOME=str(tmp_path), COLUMNS="40", PORT="1234")
    two = rendered(HOME=str(tmp_path / "other"), XDG_DATA_HOME=str(tmp_path), PYTHONHASHSEED="2")
    assert one == two


@pytest.mark.parametrize("code", ErrorCode)
def test_every_code_has_a_section_that_says_what_to_do(code: ErrorCode) -> None:
    section = errors.render().split(f"\n## {code}\n")[1].split("\n## ")[0]
    assert f"Status {CODES[code].status}" in section
    assert CODES[code].meaning in section
    assert ADVICE[code] in section
    assert ADVICE[code].endswith(".")


def test_every_kind_of_retry_is_explained() -> None:
    assert set(RETRY) == {"never", "now", "after", "ask"}


def test_every_event_has_a_section_and_every_link_a_target() -> None:
    text = events.render()
    found = headings(text)
    assert set(EVENT_TYPES) <= set(found)
    assert len(found) == len(set(found))
    targets = {part.split(")")[0] for part in text.split("](#")[1:]}
    assert targets <= {heading.lower() for heading in found}


def test_every_setting_is_listed_and_no_secret_has_a_value() -> None:
    text = settings.render()
    for name in Settings.model_fields:
        assert f"| `{variable(name)}` |" in text
    assert "| `LLM_API_KEY` | secret | unset |" in text
    assert "| `PORT` | integer, ≥ 0, ≤ 65535 | `8000` |" in text
    assert "| `TOKEN_BUDGET_ENABLED` | flag | `false` |" in text


def test_every_command_is_listed() -> None:
    found = headings(pages.PAGES["cli.md"]())
    for command in (
        "aster serve",
        "aster chat",
        "aster run",
        "aster tasks fork",
        "aster keys create",
        "aster doctor",
    ):
        assert command in found


def test_the_http_pages_agree() -> None:
    document = json.loads(http.render_document())
    assert document["openapi"].startswith("3.")
    table = http.render()
    for path in ("/execute", "/execute/replay", "/hitl/respond", "/hitl/pending", "/health", "/metrics"):
        assert path in document["paths"]
        assert f"`{path}`" in table


def test_every_metric_is_listed_with_its_labels() -> None:
    text = pages.PAGES["metrics.md"]()
    assert "| `aster_http_requests_total` | counter | `route`, `method`, `status` | HTTP requests. |" in text
    assert "| `aster_slots_used` | gauge |  | Slots taken by running turns. |" in text
    assert "| `aster_commits_total` | counter |" in text
