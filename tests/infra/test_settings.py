"""Settings as an operator meets them: files, variables, precedence, and sentences for what is wrong."""

from pathlib import Path

import pytest
from pydantic import SecretStr

from aster.contracts.errors import EngineError, ErrorCode
from aster.infra.settings import Settings, load, variable


def refused(environ: dict[str, str]) -> EngineError:
    with pytest.raises(EngineError) as caught:
        load(environ, None)
    assert caught.value.code is ErrorCode.CONFIGURATION_INVALID
    return caught.value


def test_it_starts_with_nothing_set() -> None:
    settings = load({}, None)
    assert (settings.host, settings.port) == ("127.0.0.1", 8000)
    assert settings.llm_provider == "local"
    assert settings.otel_exporter_otlp_endpoint is None


def test_options_win_over_the_environment_and_it_over_the_file(tmp_path: Path) -> None:
    file = tmp_path / ".env"
    file.write_text("PORT=1001\nHOST=127.0.0.2\nTASK_SLOTS=3\nMAX_TURNS\n")
    settings = load({"PORT": "1002", "HOST": "127.0.0.3"}, file, port=1003, host=None)
    assert (settings.port, settings.host, settings.task_slots, settings.max_turns) == (1003, "127.0.0.3", 3, 100)


def test_a_missing_file_is_no_file(tmp_path: Path) -> None:
    assert load({}, tmp_path / "nowhere.env").port == 8000


def test_the_process_environment_is_the_default_source(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PORT", "4321")
    assert load(env_file=None).port == 4321


def test_an_empty_variable_is_an_unset_one() -> None:
    assert load({"PORT": "", "LLM_API_KEY": ""}, None).llm_api_key is None


def test_other_variables_are_ignored() -> None:
    assert load({"PATH": "/bin", "FAVOURITE_COLOUR": "green"}, None).port == 8000


@pytest.mark.parametrize("text", ["true", "TRUE", "True"])
def test_a_flag_is_true_in_any_case(text: str) -> None:
    assert load({"TOKEN_BUDGET_ENABLED": text}, None).token_budget_enabled is True


@pytest.mark.parametrize("text", ["1", "0", "yes", "on", "tru"])
def test_a_flag_is_never_guessed(text: str) -> None:
    error = refused({"TOKEN_BUDGET_ENABLED": text})
    assert "TOKEN_BUDGET_ENABLED" in error.message
    assert "true or false" in error.message


def test_a_flag_can_be_given_as_an_option() -> None:
    assert load({}, None, token_budget_enabled=True).token_budget_enabled is True


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("PORT", "65536"),
        ("PORT", "eighty"),
        ("TASK_SLOTS", "0"),
        ("HEARTBEAT_SECONDS", "0"),
        ("SANDBOX", "none"),
        ("ENGINE_LOG_LEVEL", "LOUD"),
        ("ENGINE_KEY_HASH", "abc"),
        ("ENGINE_KEY_HASH", "z" * 64),
        ("ALLOWED_ROOTS", "relative/path"),
    ],
)
def test_a_wrong_value_stops_the_start_and_is_named(name: str, text: str) -> None:
    error = refused({name: text})
    assert name in error.message
    assert error.details is not None
    assert set(error.details) == {name}


def test_everything_wrong_is_said_at_once() -> None:
    error = refused({"PORT": "x", "TASK_SLOTS": "0"})
    assert error.details is not None
    assert set(error.details) == {"PORT", "TASK_SLOTS"}


def test_lists_are_read_from_commas() -> None:
    settings = load({"ALLOWED_ROOTS": " /srv/a ,/srv/b,", "ALLOWED_ORIGINS": "https://a.example, ,"}, None)
    assert settings.roots == (Path("/srv/a"), Path("/srv/b"))
    assert settings.origins == {"https://a.example"}
    assert load({}, None).roots == ()


def test_a_key_hash_is_compared_in_lower_case() -> None:
    assert load({"ENGINE_KEY_HASH": "AB" * 32}, None).engine_key_hash == "ab" * 32


def test_the_brain_lies_in_the_data_directory(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    settings = load({}, None)
    assert settings.sqlite_db_path == tmp_path / "aster" / "brain.sqlite"
    assert settings.data_dir == tmp_path / "aster"


def test_a_secret_is_not_shown() -> None:
    settings = load({"LLM_API_KEY": "sk-hidden", "ENGINE_API_KEY": "key-hidden"}, None)
    assert "hidden" not in repr(settings)
    assert "hidden" not in settings.model_dump_json()
    assert settings.llm_api_key == SecretStr("sk-hidden")


def test_every_setting_has_a_sentence_and_a_variable() -> None:
    for name, field in Settings.model_fields.items():
        assert field.description, name
        assert field.description.endswith("."), name
        assert variable(name) == name.upper()
