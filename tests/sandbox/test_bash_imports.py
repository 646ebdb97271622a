"""Python that takes a tool for a module: what is certain is found, everything else is let through."""

from pathlib import Path

import pytest

from aster.sandbox.bash_imports import imported_tool, may_run_python
from aster.sandbox.paths import Workspace

TOOLS = ("bash", "glob", "grep", "web_search", "read_file")


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    place = tmp_path.resolve()
    (place / "uses.py").write_text("import json\nfrom read_file import read_file\nprint(read_file('a'))\n")
    (place / "plain.py").write_text("import json, glob\nprint(json.dumps(glob.glob('*')))\n")
    (place / "sub").mkdir()
    (place / "sub" / "deep.py").write_text("def main():\n    import web_search\n")
    return Workspace((place,), place)


@pytest.mark.parametrize(
    "command",
    [
        "python3 -c 'import web_search; print(web_search.run())'",
        "python -c \"from web_search import web_search\"",
        "cd sub && python3.11 deep.py",
        "python3 sub/deep.py --fast",
        "python3 - <<'EOF'\nimport web_search\nEOF",
        "cat > x.py <<'EOF'\nimport web_search as w\nprint(w)\nEOF\npython3 x.py",
        "timeout 5 python3 -u -c 'import web_search.api'",
        "bash -c \"python3 -c 'import web_search'\"",
    ],
)  # fmt: skip
def test_a_tool_that_is_imported_is_found(command: str, workspace: Workspace) -> None:
    assert may_run_python(command)
    assert imported_tool(command, TOOLS, workspace) == "web_search"


@pytest.mark.parametrize(
    "command",
    [
        "python3 plain.py",
        "python3 -c 'import glob, json'",
        "python3 -c 'import grep'",
        "python3 -c 'print(\"import web_search\")'",
        "python3 -c 'try:\n    import web_search\nexcept ImportError:\n    web_search = None'",
        "python3 -c 'import sys; sys.path.append(\"lib\"); import web_search'",
        "PYTHONPATH=lib python3 -c 'import web_search'",
        ". venv/bin/activate && python -c 'import web_search'",
        "venv/bin/python -c 'import web_search'",
        "python3 -c 'from . import web_search'",
        "echo 'import web_search' > notes.txt",
        "python3 missing.py",
        "python3 -m web_search",
        "node -e 'import web_search'",
    ],
)
def test_what_may_well_work_is_let_through(command: str, workspace: Workspace) -> None:
    assert imported_tool(command, TOOLS, workspace) is None


def test_a_module_of_the_workspace_is_its_own(workspace: Workspace) -> None:
    command = "python3 uses.py"
    assert imported_tool(command, TOOLS, workspace) == "read_file"
    (workspace.cwd / "read_file.py").write_text("def read_file(name): ...\n")
    assert imported_tool(command, TOOLS, workspace) is None
