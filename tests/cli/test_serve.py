"""`aster serve`: a few true words on a terminal, log lines in a pipe, a clean end."""

import json
import signal

from tests.cli.conftest import wait_until_healthy
from tests.cli.program import Home
from tests.cli.terminal import Terminal


def test_a_person_is_told_where_and_what(home: Home) -> None:
    with Terminal("serve", "--db", "other.sqlite", env=home.env, cwd=home.directory) as terminal:
        shown = terminal.expect(r"talk .*\n")
        assert f"listens  {home.url}" in shown
        assert "No model is configured" in shown
        assert "sandbox  bubblewrap" in shown
        assert "brain    other.sqlite" in shown
        assert f"aster chat --url {home.url}" in shown
        terminal.press("\x03")
        assert terminal.wait() == 0
    assert (home.directory / "other.sqlite").is_file()


def test_a_person_is_told_that_the_local_model_is_small_and_how_it_fares(home: Home) -> None:
    env = {**home.env, "LLM_PROVIDER": "local", "LOCAL_MODEL_PATH": "nowhere.gguf"}
    with Terminal("serve", env=env, cwd=home.directory) as terminal:
        shown = terminal.expect(r"talk .*\n")
        assert "a small demo-grade model" in shown
        assert "LLM_API_KEY" in shown
        assert "nowhere.gguf" in terminal.expect(r"model    There is no file .*\n")
        terminal.press("\x03")
        assert terminal.wait() == 0


def test_a_pipe_gets_log_lines_alone(home: Home) -> None:
    (home.directory / "my.env").write_text("DRAIN_SECONDS=0\nTASK_SLOTS=3\n")
    with home.start("serve", "--env-file", "my.env", "--log-format", "json") as process:
        wait_until_healthy(process, home.url)
        process.send_signal(signal.SIGTERM)
        out, err = process.communicate(timeout=20)
    assert (process.returncode, err) == (0, "")
    assert all(json.loads(line) for line in out.splitlines())


def test_a_missing_settings_file_is_named(home: Home) -> None:
    done = home.call("serve", "--env-file", "nowhere.env")
    assert (done.returncode, "nowhere.env" in done.stderr) == (1, True)


def test_an_address_that_is_taken_is_said_to_be(served: Home, home: Home) -> None:
    done = home.call("serve", "--port", str(served.port))
    assert done.returncode == 1
    assert "PORT" in done.stderr
