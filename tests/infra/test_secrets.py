"""Values that must not be seen, in the spellings they are met in; the look-alikes that must stay."""

import base64
import json
from pathlib import Path
from urllib.parse import quote, quote_plus

import pytest

from aster.infra.secrets import PROCESS, REDACTED, Secrets

KEY = 'p@ss/word+with "quotes" & more=1'


def knowing(value: str, name: str = "THE_KEY") -> Secrets:
    secrets = Secrets()
    secrets.register(value, name)
    return secrets


@pytest.mark.parametrize(
    "spelled",
    [
        KEY,
        json.dumps(KEY)[1:-1],
        quote(KEY, safe=""),
        quote_plus(KEY),
        KEY.encode().hex(),
        *(base64.b64encode(b"x" * shift + KEY.encode() + b"tail").decode() for shift in range(3)),
        base64.urlsafe_b64encode(KEY.encode()).decode(),
    ],
)
def test_a_value_is_found_however_it_is_spelled(spelled: str) -> None:
    secrets = knowing(KEY)
    shown = secrets.clean(f"before {spelled} after", "tool")
    assert "[redacted: THE_KEY]" in shown
    assert shown.startswith("before ")
    assert shown.endswith(" after")
    assert spelled[4:-8] not in shown


def test_what_is_taken_out_is_counted_by_place_and_kind() -> None:
    secrets = knowing("0123456789abcdef")
    secrets.clean("0123456789abcdef 0123456789abcdef", "model")
    secrets.clean("AKIAQX4BIPW3AHOV29GN and AKIAQX4BIPW3AHOVGN7Q", "tool", shapes=True)
    assert dict(secrets.counts) == {("model", "known"): 2, ("tool", "aws access key"): 1}


def test_a_clean_text_is_the_same_object() -> None:
    text = "nothing to see here, sk-8 and AKIA are no keys"
    assert knowing("0123456789abcdef").clean(text, "tool", shapes=True) is text


def test_shapes_can_be_switched_off_but_values_stay_known() -> None:
    secrets = knowing("0123456789abcdef")
    secrets.shapes = False
    text = "0123456789abcdef ghp_16C7e42F292c6912E7710c838347Ae178B4a"
    assert secrets.clean(text, "tool", shapes=True) == (
        "[redacted: THE_KEY] ghp_16C7e42F292c6912E7710c838347Ae178B4a"
    )


def test_the_longer_of_two_values_wins() -> None:
    secrets = knowing("0123456789", "SHORT")
    secrets.register("0123456789-and-more", "LONG")
    assert secrets.clean("0123456789-and-more 0123456789", "log") == "[redacted: LONG] [redacted: SHORT]"


def test_values_whose_beginnings_overlap_are_all_found() -> None:
    secrets = knowing("aaabbbbbccc", "A")
    secrets.register("aabbbbbcccddd", "B")
    assert secrets.clean("xaaabbbbbcccddd", "log") == "x[redacted: A]ddd"
    assert secrets.clean("xaabbbbbcccddd", "log") == "x[redacted: B]"


def test_data_is_cleaned_throughout_and_numbers_too() -> None:
    secrets = knowing("7391882045")
    mark = "[redacted: THE_KEY]"
    given = {"7391882045": ("7391882045", 3, None, True), "n": 7391882045, "r": 0.5}
    assert secrets.clean_data(given, "log") == {mark: [mark, 3, None, True], "n": mark, "r": 0.5}


def test_what_an_engine_knows_no_log_shows_but_not_the_reverse() -> None:
    engine, other = Secrets(parent=PROCESS), Secrets(parent=PROCESS)
    engine.register("only-of-one-engine-91", "MINE")
    assert PROCESS.clean("only-of-one-engine-91", "log") == "[redacted: MINE]"
    assert other.clean("only-of-one-engine-91", "tool") == "only-of-one-engine-91"


@pytest.mark.parametrize("weak", ["", "short", "password", "changeme", "sk-no-key-required"])
def test_a_value_that_is_in_every_text_is_not_hidden_from_threads(weak: str) -> None:
    secrets = Secrets(parent=PROCESS)
    secrets.register(weak, "WEAK")
    assert secrets.clean(f"my {weak} text", "model") == f"my {weak} text"


def test_logs_hide_short_values_too_and_a_value_without_a_name() -> None:
    secrets = Secrets(shortest=4)
    secrets.register("k9z7")
    secrets.register(None)
    assert secrets.clean("is k9z7", "log") == f"is {REDACTED}"


def test_the_environment_is_read_by_its_names(tmp_path: Path) -> None:
    secrets = Secrets()
    secrets.register_environment(
        {
            "ANTHROPIC_API_KEY": "value-of-anthropic-1",
            "GITHUB_TOKEN": "value-of-github-1",
            "DB_PASSWORD": "hunter2hunter2",
            "MY_SECRET": "value-of-mine-1",
            "PATH": "/usr/bin:/bin-value-1",
            "SSH_KEY_PATH": "value-of-path-1",
            "KEYBOARD": "value-of-keyboard-1",
            "KEY_BACKEND": "sqlalchemy",
            "TOKEN_LIMIT": "1000000000",
            "SIGNING_KEY": str(tmp_path),
            "SHORT_KEY": "abc123",
            "DATABASE_URL": "postgres://joe:pass-of-the-db@db/main",
            "BROKEN_URL": "http://[::1",
        }
    )
    shown = secrets.clean(
        "value-of-anthropic-1 value-of-github-1 hunter2hunter2 value-of-mine-1 /usr/bin:/bin-value-1"
        f" value-of-path-1 value-of-keyboard-1 sqlalchemy 1000000000 {tmp_path} abc123 pass-of-the-db",
        "tool",
    )
    assert shown == (
        "[redacted: ANTHROPIC_API_KEY] [redacted: GITHUB_TOKEN] [redacted: DB_PASSWORD] [redacted: MY_SECRET]"
        f" /usr/bin:/bin-value-1 value-of-path-1 value-of-keyboard-1 sqlalchemy 1000000000 {tmp_path} abc123"
        " [redacted: DATABASE_URL]"
    )


def test_a_name_cannot_break_the_mark() -> None:
    assert knowing("0123456789ab", 'A"]\nB').clean("0123456789ab", "log") == "[redacted: A___B]"


def test_a_passing_value_is_seen_again_when_nobody_holds_it() -> None:
    process = Secrets()
    secrets = Secrets(parent=process)
    secrets.register("passing-value-1", passing=True)
    secrets.register("passing-value-1", passing=True)
    secrets.register("lasting-value-1")
    secrets.register("lasting-value-1", passing=True)
    text = "passing-value-1 lasting-value-1"
    for shown in (f"{REDACTED} {REDACTED}", f"passing-value-1 {REDACTED}", f"passing-value-1 {REDACTED}"):
        secrets.unregister("passing-value-1")
        secrets.unregister("lasting-value-1")
        assert secrets.clean(text, "tool") == process.clean(text, "tool") == shown
    assert not secrets.beginning("passing-v")
