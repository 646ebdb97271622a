"""Nothing a brain can do goes unasked: every method is called by these tests, on both brains."""

import ast
import re
from pathlib import Path

import aster.brain.protocol

ELSEWHERE = {"memory"}
"""What has a suite of its own."""


def test_every_method_of_a_brain_is_tried() -> None:
    tree = ast.parse(Path(aster.brain.protocol.__file__).read_text(encoding="utf-8"))
    [brain] = [node for node in tree.body if isinstance(node, ast.ClassDef) and node.name == "Brain"]
    methods = {node.name for node in brain.body if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)}
    here = Path(__file__).parent
    said = "\n".join(file.read_text(encoding="utf-8") for file in here.glob("test_*.py"))
    tried = {name for name in methods if re.search(rf"\.{name}\b", said)}
    assert methods - tried - ELSEWHERE == set()
