"""The prompt section and what is rendered in its dialect: stable, and read back to the same call."""

from typing import Any

import msgspec
from hypothesis import given, settings
from hypothesis import strategies as st

from aster.contracts.tools import ToolDef
from aster.herald.text_tools.items import Call
from aster.herald.text_tools.prompt import rendered, section
from aster.herald.text_tools.reading import read
from tests.herald.text_tools.offering import TOOLS, tool

VALUES: dict[str, st.SearchStrategy[Any]] = {
    "string": st.one_of(
        st.text(),
        st.lists(
            st.sampled_from(
                ("</parameter>", "<parameter=a>", "]]>", "<![CDATA[", "</function>", "\n", "x", "<", "\r")
            )
        ).map("".join),
    ),
    "integer": st.integers(-(2**53), 2**53),
    "boolean": st.booleans(),
    "array": st.lists(st.one_of(st.text(), st.integers(-9, 9), st.none())),
    "object": st.dictionaries(st.text(), st.one_of(st.text(), st.booleans())),
}


@given(st.data())
@settings(max_examples=300, deadline=None)
def test_a_rendered_call_reads_back_as_itself(data: st.DataObject) -> None:
    kinds = data.draw(
        st.dictionaries(st.from_regex(r"[a-z_]{1,12}", fullmatch=True), st.sampled_from(sorted(VALUES)))
    )
    given = {key: data.draw(VALUES[kind]) for key, kind in kinds.items()}
    assert read("auto", [rendered("a_tool", given)], [tool("a_tool", **kinds)]) == ("", [Call("a_tool", given)])


def test_the_section_depends_on_the_tools_alone() -> None:
    assert section(TOOLS) == section(tuple(TOOLS))
    assert section(TOOLS[:2]) in section(TOOLS)
    lines = section(TOOLS).splitlines()[-len(TOOLS) :]
    names = [msgspec.json.decode(line)["name"] for line in lines]
    assert names == [offered.name for offered in TOOLS]


def test_the_example_of_the_section_is_a_call() -> None:
    example = section(()).split("\n\n")[2]
    wanted = ToolDef(name="TOOL", description="", input_schema={})
    assert read("auto", [example], [wanted]) == ("", [Call("TOOL", {"PARAMETER": "value"})])
