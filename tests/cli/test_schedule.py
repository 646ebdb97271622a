"""`aster schedule`: making schedules, looking at them and their times, and stopping them."""

import json

from tests.cli.program import Home


def test_a_schedule_is_made_run_paused_and_cancelled(served: Home) -> None:
    assert served.call("run", "hello", "--task", "report").returncode == 0
    added = served.call(
        *("schedule", "add", "Sum it up", "--cron", "0 9 * * mon-fri", "--zone", "Europe/Berlin"),
        *("--task", "report", "--name", "news", "--json"),
    )
    made = json.loads(added.stdout)
    name = made["schedule_id"]
    assert (made["task_id"], made["trigger"]["time_zone"], len(made["coming"])) == ("report", "Europe/Berlin", 5)
    listed = served.call("schedule").stdout
    assert name in listed
    assert "0 9 * * mon-fri (Europe/Berlin)" in listed
    assert served.call("schedule", "run", name).stdout.startswith("Due now")
    times = served.call("schedule", "times", name)
    assert (times.returncode, "status" in times.stdout) == (0, True)
    shown = served.call("schedule", "show", name).stdout
    assert "Sum it up" in shown
    assert "task: report" in shown
    changed = served.call("schedule", "edit", name, "--cron", "0 8 * * mon-fri", "--prompt", "Be brief", "--json")
    edited = json.loads(changed.stdout)
    assert (edited["prompt"], edited["version"]) == ("Be brief", 2)
    assert edited["trigger"]["time_zone"] == "Europe/Berlin"
    stale = served.call("schedule", "edit", name, "--name", "late", "--version", "1")
    assert (stale.returncode, "has been changed since" in stale.stderr) == (1, True)
    assert f"{name} (paused)" in served.call("schedule", "pause", name).stdout
    assert f"{name} (active)" in served.call("schedule", "resume", name).stdout
    assert f"{name} (cancelled)" in served.call("schedule", "cancel", name).stdout
    assert name not in served.call("schedule", "list", "--status", "active").stdout


def test_other_kinds_and_what_is_wrong(served: Home) -> None:
    assert "First due" in served.call("schedule", "add", "x", "--every", "3600", "--max-runs", "2").stdout
    once = json.loads(served.call("schedule", "add", "x", "--at", "2099-01-04T09:00:00+01:00", "--json").stdout)
    assert once["next_at"] == "2099-01-04T08:00:00.000Z"
    watched = json.loads(
        served.call("schedule", "add", "x", "--watch-url", "https://example.invalid/up", "--json").stdout
    )
    assert (watched["kind"], watched["trigger"]["seconds"]) == ("watch", 60)
    wrong = served.call("schedule", "add", "x", "--cron", "99 * * * *")
    assert (wrong.returncode, "minute has 99" in wrong.stderr) == (1, True)
    assert served.call("schedule", "show", "schedule-nowhere").returncode == 1
    for made in json.loads(served.call("schedule", "--json").stdout)["schedules"]:
        served.call("schedule", "cancel", made["schedule_id"])
