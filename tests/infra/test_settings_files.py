"""Secrets may lie in files, as container platforms give them."""

from pathlib import Path

import pytest

from aster.contracts.errors import EngineError, ErrorCode
from aster.infra.settings import load


def test_a_secret_is_read_from_the_file_that_is_named(tmp_path: Path) -> None:
    key = tmp_path / "key"
    key.write_text("from-a-file\n")
    settings = load({"ENGINE_API_KEY_FILE": str(key), "LLM_API_KEY": "plain"}, None)
    assert settings.engine_api_key is not None
    assert settings.engine_api_key.get_secret_value() == "from-a-file"
    assert settings.llm_api_key is not None
    assert settings.llm_api_key.get_secret_value() == "plain"


def test_only_secrets_come_in_files(tmp_path: Path) -> None:
    port = tmp_path / "port"
    port.write_text("9000")
    assert load({"PORT_FILE": str(port)}, None).port == 8000


@pytest.mark.parametrize(
    ("environ", "words"),
    [
        ({"ENGINE_API_KEY_FILE": "{missing}"}, "cannot be read"),
        ({"ENGINE_API_KEY_FILE": "{empty}"}, "empty file"),
        ({"ENGINE_API_KEY_FILE": "{binary}"}, "cannot be read"),
        ({"ENGINE_API_KEY_FILE": "{empty}", "ENGINE_API_KEY": "x"}, "not both"),
    ],
)
def test_what_cannot_be_meant_stops_the_start(tmp_path: Path, environ: dict[str, str], words: str) -> None:
    (tmp_path / "empty").write_text(" \n")
    (tmp_path / "binary").write_bytes(b"\xff\xfe")
    places = {name: str(tmp_path / name) for name in ("missing", "empty", "binary")}
    with pytest.raises(EngineError, match=words) as refused:
        load({name: value.format(**places) for name, value in environ.items()}, None)
    assert refused.value.code is ErrorCode.CONFIGURATION_INVALID
    assert "ENGINE_API_KEY_FILE" in refused.value.message
