"""The tools page: every tool with every argument, and true limits."""

from aster.reference import tools
from aster.utility_directory.platform_registry import platform_tools


def test_every_tool_and_argument_is_listed() -> None:
    text = tools.render()
    for definition in platform_tools().definitions:
        section = text.split(f"\n## {definition.name}\n")[1].split("\n## ")[0]
        assert definition.description in section
        assert "Effect: " in section
        for name in definition.input_schema["properties"]:
            assert f"| `{name}` |" in section


def test_limits_and_shapes_are_said() -> None:
    text = tools.render()
    assert "| `limit` | integer, ≥ 1, ≤ 100 |" in text
    assert "| `type` | `file`, `directory`, `link` |" in text
    assert "list of {`old_text`, `new_text`, `replace_all?`}, at least 1 items, at most 50 items" in text
    assert "| [`find`](#find) | `pure`: only looks;" in text
    assert "| [`edit_file`](#edit_file) | `reversible`: changes a file;" in text
