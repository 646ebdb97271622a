"""The file tools as a model uses them, through HTTP: a turn that finds, reads, edits and searches, and its undo."""

import json
from pathlib import Path
from typing import Any

from aster.testing import ModelServer, Reply, Text, ToolCall
from tests.engine_core.frames import events
from tests.live import live
from tests.utility_directory.test_notebooks import PNG, book
from tests.utility_directory.test_web_reading import pdf

BEFORE = b"one = 1\r\ntwo = 2\r\n"


async def test_a_turn_with_every_file_tool(tmp_path: Path) -> None:
    work = tmp_path / "work"
    work.mkdir()
    (work / "settings.py").write_bytes(BEFORE)
    (work / "doc.pdf").write_bytes(pdf("Page of words"))
    (work / "n.ipynb").write_bytes(book({"data": {"image/png": PNG}}))
    for path in (tmp_path, work, *work.iterdir()):
        path.chmod(0o777)
    edits = [{"old_text": "one = 1", "new_text": "one = 11"}, {"old_text": "two = 2\n", "new_text": "two = 22\n"}]
    calls: list[tuple[str, dict[str, Any]]] = [
        ("find", {"name": "*.PY", "ignore_case": True}),
        ("read_file", {"path": "doc.pdf", "pages": "1"}),
        ("read_file", {"path": "n.ipynb"}),
        ("edit_file", {"path": "settings.py", "edits": edits}),
        ("edit_file", {"path": "settings.py", "old_text": "one  = 11", "new_text": "x"}),
        ("write_file", {"path": "empty.txt", "content": ""}),
        ("grep", {"pattern": "= \\d\\d"}),
        ("bash", {"command": "seq 60000"}),
    ]
    async with ModelServer() as model, live(model, sandbox="auto", allowed_roots=str(work)) as engine:
        model.enqueue(*(Reply([ToolCall(name, given)]) for name, given in calls), Reply([Text("done")]))
        results = events(await engine.execute("work"), "tool_result")
        assert [data.get("error") for data in results] == [
            *(None, None, None, None),
            *("no_match", "empty_content", None, None),
        ]
        said = [data["output"] for data in results]
        assert said[0].endswith("settings.py")
        assert "## Page 1\n\nPage of words" in said[1]
        assert "differs only in white space within lines" in said[4]
        assert said[6] == "settings.py:1: one = 11\nsettings.py:2: two = 22"
        assert PNG in json.dumps([call.body for call in model.calls])

        kept = f"artifact:{results[7]['artifacts'][0]['id']}"
        model.enqueue(Reply([ToolCall("grep", {"pattern": "^59999$", "path": kept})]), Reply([Text("found")]))
        found = events(await engine.execute("search in it"), "tool_result")
        assert found[0]["output"] == f"{kept}:59999: 59999"

        undone = await engine.http.post("/tasks/t1/undo", json={})
        assert undone.status_code == 200, undone.text
        assert (work / "settings.py").read_bytes() == BEFORE
