"""What the doctor says about the operator's catalog."""

import json
from pathlib import Path

from tests.catalog.conftest import Shelf
from tests.cli.program import Home
from tests.cli.test_doctor import examine


def documented(page: str) -> str:
    """The first declaration in the documentation."""
    text = (Path(__file__).parents[2] / "docs" / page).read_text()
    return text.split("```json\n", 1)[1].split("```", 1)[0]


def test_a_catalog_is_read(home: Home, tmp_path: Path) -> None:
    shelf = Shelf(tmp_path / "catalog")
    declaration = documented("catalog.md")
    shelf.write(json.loads(declaration)["name"], declaration.encode())
    _, found = examine(home, CATALOG_DIR=str(shelf.root))
    assert found["catalog"] == {"check": "catalog", "status": "ok", "found": "declared tools: 1, agents: 0"}

    shelf.write("broken", b"[]")
    code, found = examine(home, CATALOG_DIR=str(shelf.root))
    assert (code, found["catalog"]["status"]) == (1, "fail")
    assert "tools/broken.json" in found["catalog"]["found"]
    assert "catalog" not in examine(home)[1]
