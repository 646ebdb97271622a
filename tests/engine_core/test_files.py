"""What people may touch in a workspace: a verdict holds for the place that is opened, whatever becomes of links."""

from pathlib import Path

import pytest

from aster.contracts.errors import EngineError, ErrorCode
from aster.engine_core.files import judged
from aster.sandbox.paths import Workspace


def test_a_link_that_is_turned_meanwhile_is_judged_by_where_it_led(tmp_path: Path) -> None:
    workspace = Workspace(roots=(tmp_path,), cwd=tmp_path)
    for name in ("locked", "open"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "x").write_text(name)
    link = tmp_path / "way"
    link.symlink_to("locked")

    def allowed(name: str) -> bool:
        link.unlink()
        link.symlink_to("open")
        return not workspace.show(workspace.locate(name)).startswith("locked")

    with pytest.raises(EngineError) as refused:
        judged(workspace, "way/x", "read_file", allowed)
    assert refused.value.code is ErrorCode.PERMISSION_DENIED
    assert judged(workspace, "way/x", "read_file", allowed) == tmp_path / "open/x"
