"""Options shared by all tests."""

import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--chaos-kills", type=int, default=12, help="how often the chaos test kills the engine")
    parser.addoption("--chaos-seed", type=int, default=0, help="0 picks one and prints it")
