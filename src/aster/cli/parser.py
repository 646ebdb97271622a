"""The command line: every command, its options and examples of its use.

Nothing heavy is imported here: a command names the module that does the work, and `aster --version` loads none.
"""

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from aster import __version__
from aster.cli import (
    cluster_options,
    feedback_options,
    keeping_options,
    learning_options,
    live_options,
    memory_options,
    project_options,
    replay_options,
    schedule_options,
    team_options,
    work_options,
    workflow_options,
)
from aster.cli.arguments import action_of, command, count, engine_options, json_option

_TOP = """\
examples:
  aster serve                        start an engine on 127.0.0.1:8000
  aster chat                         talk to it (starts one for the session if none runs)
  aster run "What is in this folder?"
  aster doctor                       check this machine
"""
_SERVE = """\
examples:
  aster serve
  aster serve --port 9000 --db ./brain.sqlite
  LLM_PROVIDER=anthropic LLM_API_KEY=... aster serve

Settings are read from the environment and from .env; options win over both.
"""
_CHAT = """\
examples:
  aster chat
  aster chat --resume                 go on with the newest task
  aster chat --resume task-4k1z       go on with an earlier one
  aster chat --url http://engine:8000 --key ...

Inside, /help lists the commands. Ctrl-C cancels the running turn, a second one leaves.
"""
_RUN = """\
examples:
  aster run "Summarise README.md"
  aster run --json "..." | jq .type   one event per line
  cat notes.txt | aster run -         the message from standard input
  aster run --yes "Run the tests"     approve every tool that asks

exit codes: 0 completed, 1 failed, 2 usage, 3 a person has to answer first, 130 cancelled
"""
_TASKS = """\
examples:
  aster tasks                         the newest tasks
  aster tasks show task-4k1z
  aster tasks events task-4k1z --after 100
  aster tasks fork task-4k1z --seq 42
"""
_KEYS = """\
examples:
  aster keys create laptop            prints the key, once
  aster keys create bot --user bob    tasks of another user, apart from yours
  aster keys rotate laptop            a new key; the old one stops after the overlap
  aster keys revoke laptop

Works on the brain (SQLITE_DB_PATH or DATABASE_URL), whether or not an engine is running.
"""
_MODEL = """\
examples:
  aster model list                    small models that need no key, and which are here
  aster model install                 download the usual one (1.1 GB)
  aster model install smollm2-135m    download a tiny one (98 MB)
  aster model remove smollm2-135m

With LLM_PROVIDER=local an engine runs one of them; LOCAL_MODEL_PATH takes a GGUF file of your own.
"""
_PERMISSIONS = """\
examples:
  aster permissions list
  aster permissions test 'git push --force'
  aster permissions test - < calls.jsonl          one JSON decision per line
  aster permissions backtest --tool bash --pattern 'npm *'
  aster permissions add --tool bash --pattern 'npm *' --expires 86400
  aster permissions revoke grant-4k1z

`test` needs no engine and looks at --workspace (default: here); with --engine it asks one, grants included. A line
is {"tool": "bash", "input": {"command": "..."}} or {"command": "..."}.
"""
_SKILLS = """\
examples:
  aster skills                        those the engine has, and your own
  aster skills show code-reviewer
  aster skills add ./release-notes    a folder with a SKILL.md, as one of your own
  aster skills approve fetch_and_save what your agent proposed, see `show` first
  aster skills delete release-notes
"""
_ASSETS = """\
examples:
  aster assets servers                what can be connected (MCP)
  aster assets connect github --header Authorization
  aster assets connect mine --server-url https://example.com/mcp
  aster assets                        your connections
  aster assets login github           log in to it again
  aster assets disconnect github

A --header or --env without a value is asked for, so that no secret stands in a command.
"""
_DEV = """\
examples:
  aster dev parse-toolcalls < replies.jsonl

Every line is {"format", "chunks", "tools"}: a reply in pieces, its dialect (`auto` knows all), the tools on offer.
Every line of the answer is {"content", "calls"}.
"""
_DOCTOR = """\
examples:
  aster doctor
  aster doctor --json

Exits with 1 when something has to be fixed before the engine can work.
"""


def build_parser() -> argparse.ArgumentParser:
    """The whole command line."""
    parser = argparse.ArgumentParser(
        prog="aster",
        description="A self-hosted agent engine.",
        epilog=_TOP,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=f"aster {__version__}")
    commands = parser.add_subparsers(dest="command", metavar="command", title="commands")
    _serve(command(commands, "serve", "start an engine", _SERVE))
    cluster_options.fill(command(commands, "cluster", cluster_options.SUMMARY, cluster_options.EXAMPLES))
    _chat(command(commands, "chat", "talk to an engine", _CHAT))
    _run(command(commands, "run", "one message, one answer", _RUN))
    live_options.fill_watch(command(commands, "watch", "follow a task as it happens", live_options.WATCH))
    live_options.fill_inbox(
        command(commands, "inbox", "what waits for a person, and answering", live_options.INBOX)
    )
    _tasks(command(commands, "tasks", "look at tasks and change them", _TASKS))
    _permissions(command(commands, "permissions", "what tools may do without asking", _PERMISSIONS))
    memory = command(commands, "memory", "what is remembered, and forgetting it", memory_options.EXAMPLES)
    memory_options.fill(memory)
    _rpc(command(commands, "rpc", "call a tool, a memory operation or a skill by name"))
    _feedback(command(commands, "feedback", "what you think of turns and memories", feedback_options.EXAMPLES))
    learning = command(commands, "learning", "what was learned, and taking it back", learning_options.EXAMPLES)
    learning_options.fill(learning)
    workflow_options.fill(command(commands, "workflow", workflow_options.SUMMARY, workflow_options.EXAMPLES))
    work_options.fill(command(commands, "work", "what is to be done, and who does it", work_options.EXAMPLES))
    team_options.fill(command(commands, "team", team_options.SUMMARY, team_options.EXAMPLES))
    replay_options.fill_replay(command(commands, "replay", "run a recorded turn again", replay_options.REPLAY))
    replay_options.fill_export(command(commands, "export-test", "a recorded turn as a test", replay_options.EXPORT))
    project_options.fill(command(commands, "project", project_options.SUMMARY, project_options.EXAMPLES))
    schedule_options.fill(command(commands, "schedule", schedule_options.SUMMARY, schedule_options.EXAMPLES))
    _skills(command(commands, "skills", "instructions for kinds of work", _SKILLS))
    _assets(command(commands, "assets", "connected servers (MCP) and their tools", _ASSETS))
    _keys(command(commands, "keys", "make and withdraw keys", _KEYS))
    _keeping(commands)
    _model(command(commands, "model", "models that run on this machine", _MODEL))
    _doctor(command(commands, "doctor", "check that everything an engine needs is there", _DOCTOR))
    live_options.fill_completion(
        command(commands, "completion", "a script that lets a shell complete aster", live_options.COMPLETION)
    )
    _dev(command(commands, "dev", "tools for work on Aster itself", _DEV))
    return parser


def _settings_options(parser: argparse.ArgumentParser) -> None:
    later = argparse.SUPPRESS
    parser.add_argument("--db", metavar="FILE", default=later, help="the brain (SQLITE_DB_PATH)")
    parser.add_argument("--env-file", metavar="FILE", default=later, help="read settings from here, not from .env")


def _serve(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--host", help="address to listen on (HOST)")
    parser.add_argument("--port", type=int, help="port to listen on, 0 for a free one (PORT)")
    _settings_options(parser)
    parser.add_argument("--log-format", choices=("json", "text"), help="how log lines look (ENGINE_LOG_FORMAT)")
    quiet = "open no browser at the first start (OPEN_BROWSER=false)"
    parser.add_argument("--no-browser", dest="open_browser", action="store_const", const=False, help=quiet)


def _mode_option(parser: argparse.ArgumentParser) -> None:
    modes = ("default", "plan", "auto", "bypass")
    parser.add_argument("--mode", choices=modes, help="how careful the agent is (default: the engine's setting)")


def _chat(parser: argparse.ArgumentParser) -> None:
    engine_options(parser)
    _mode_option(parser)
    parser.add_argument("--task", metavar="ID", help="go on with this task, or begin it under this id")
    parser.add_argument(
        "--resume", nargs="?", const="", metavar="TASK", help="go on with this task (default: the newest)"
    )
    parser.add_argument("--agent", metavar="NAME", help="who answers (default: the engine's usual agent)")
    live_options.theme_option(parser)


def _run(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("message", help="what to say; - reads it from standard input")
    engine_options(parser)
    _mode_option(parser)
    parser.add_argument("--task", metavar="ID", help="go on with this task, or begin it under this id")
    parser.add_argument("--agent", metavar="NAME", help="who answers (default: the engine's usual agent)")
    json_option(parser, "print every event as one line of JSON")
    parser.add_argument("--timeout", type=_seconds, metavar="SECONDS", help="cancel the turn after this long")
    consent = parser.add_mutually_exclusive_group()
    consent.add_argument("--yes", dest="consent", action="store_const", const="yes", help="approve every tool")
    consent.add_argument("--no", dest="consent", action="store_const", const="no", help="refuse tools that ask")


def _tasks(parser: argparse.ArgumentParser) -> None:
    parser.set_defaults(action="list", limit=20, status=None, search=None)
    engine_options(parser)
    json_option(parser)
    actions = parser.add_subparsers(dest="action", metavar="action", title="actions")
    listing = action_of(actions, "list", "the newest tasks", task=False)
    listing.add_argument("--limit", type=count, default=20, metavar="N", help="at most so many (default 20)")
    listing.add_argument("--status", choices=("idle", "running", "suspended"), help="only those")
    listing.add_argument("--search", metavar="TEXT", help="only tasks whose title has this text")
    action_of(actions, "show", "one task with its turns and open questions")
    events = action_of(actions, "events", "the events of a task's thread")
    events.add_argument("--after", type=int, default=0, metavar="SEQ", help="only those after this seq")
    events.add_argument("--types", default="", metavar="A,B", help="only these types")
    fork = action_of(actions, "fork", "a new task that begins where this one stood")
    fork.add_argument("--seq", type=int, required=True, metavar="N", help="the last event to take over")
    fork.add_argument("--as", dest="new_task", metavar="ID", help="the new task's id")
    action_of(actions, "cancel", "stop the running turn")
    context = action_of(actions, "context", "what its model calls were shown")
    context.add_argument("--limit", type=count, default=20, metavar="N", help="at most so many calls (default 20)")
    context.add_argument("--call", type=count, metavar="N", help="one call, block by block")
    context.add_argument("--diff", action="store_true", help="the newest call beside the one before it")
    context.add_argument("--from", dest="earlier", type=count, metavar="N", help="compare this call …")
    context.add_argument("--to", dest="later", type=count, metavar="N", help="… with this one")
    action_of(actions, "artifacts", "long output of its tools")
    artifact = action_of(actions, "artifact", "one of them, whole")
    artifact.add_argument("artifact", metavar="ARTIFACT", help="its id")
    artifact.add_argument("--output", type=Path, metavar="FILE", help="write it there, byte for byte")
    undo = action_of(actions, "undo", "make files what they were before a turn")
    undo.add_argument("--turn", metavar="TURN", help="which (default: the newest that changed any)")
    undo.add_argument("--force", action="store_true", help="overwrite files that were changed since")
    compact = action_of(actions, "compact", "show the model a summary of what was said so far")
    compact.add_argument("--focus", metavar="TEXT", help="what the summary has to keep above all")
    action_of(actions, "delete", "delete a task and all that belongs to it")


def _assets(parser: argparse.ArgumentParser) -> None:
    engine_options(parser)
    json_option(parser)
    actions = parser.add_subparsers(dest="action", metavar="action", title="actions")
    action_of(actions, "list", "your connections", task=False)
    action_of(actions, "servers", "what can be connected", task=False)
    connect = action_of(actions, "connect", "connect a server", task=False)
    connect.add_argument("server", metavar="NAME", help="which one")
    connect.add_argument("--server-url", metavar="URL", help="a server of your own, where the operator allows it")
    connect.add_argument(
        "--header", action="append", default=[], metavar="NAME[=VALUE]", help="sent with every call"
    )
    connect.add_argument(
        "--env", action="append", default=[], metavar="NAME[=VALUE]", help="a variable of its program"
    )
    login = action_of(actions, "login", "log in to a connected server (again)", task=False)
    login.add_argument("connection", metavar="NAME", help="the server, or the connection's id")
    disconnect = action_of(actions, "disconnect", "end a connection", task=False)
    disconnect.add_argument("connection", metavar="NAME", help="the server, or the connection's id")
    action_of(actions, "rotate-key", "store all credentials under the newest key (operator)", task=False)


def _keys(parser: argparse.ArgumentParser) -> None:
    actions = parser.add_subparsers(dest="action", metavar="action", title="actions", required=True)
    for name, summary in (
        ("create", "make a key and print it, once"),
        ("list", "all keys, without the keys themselves"),
        ("revoke", "withdraw a key at once"),
        ("rotate", "replace a key by a new one"),
    ):
        action = command(actions, name, summary)
        if name == "create":
            action.add_argument("name", metavar="NAME", help="what the key is called")
            action.add_argument("--user", metavar="USER", help="whose tasks it opens (default: the operator's)")
        elif name != "list":
            action.add_argument("which", metavar="NAME", help="the key's name or id")
        _settings_options(action)
        json_option(action)


def _keeping(commands: Any) -> None:
    backup = command(commands, "backup", "keep the brain in a file", keeping_options.BACKUP)
    keeping_options.fill_backup(backup)
    restore = command(commands, "restore", "make a backup the brain again", keeping_options.RESTORE)
    keeping_options.fill_restore(restore)
    for parser in (backup, restore):
        _settings_options(parser)
    keeping_options.fill_migrate(
        command(commands, "migrate-brain", "carry a brain into another database", keeping_options.MIGRATE)
    )


def _permissions(parser: argparse.ArgumentParser) -> None:
    actions = parser.add_subparsers(dest="action", metavar="action", title="actions", required=True)
    for name, summary in (
        ("list", "the rules and grants that decide on calls"),
        ("test", "what would happen with a call"),
        ("add", "give or refuse a permission for calls to come"),
        ("revoke", "take a grant back"),
        ("backtest", "what a rule would have meant for the calls so far"),
    ):
        action = command(actions, name, summary)
        engine_options(action)
        json_option(action)
        if name == "test":
            _mode_option(action)
            _settings_options(action)
            action.add_argument("call", help="a command, a call as JSON, or - for one call per line of input")
            action.add_argument("--tool", default="bash", help="the tool that is called (default bash)")
            action.add_argument("--workspace", metavar="DIR", help="the workspace to judge it in (default: here)")
            action.add_argument("--rules", metavar="FILE", type=Path, help="rules (PERMISSION_RULES_PATH)")
            action.add_argument("--engine", action="store_true", help="ask the engine, with its grants")
            action.add_argument("--task", metavar="ID", help="with --engine: in this task")
        elif name == "revoke":
            action.add_argument("grant", metavar="ID", help="the grant")
        elif name != "list":
            action.add_argument("--tool", required=name == "add", default="*", help="a tool's name, or a pattern")
            action.add_argument("--pattern", default="*", help="a pattern over the command, path or input")
            action.add_argument("--behavior", choices=("allow", "ask", "deny"), default="allow")
        if name == "add":
            action.add_argument("--scope", choices=("task", "agent", "everywhere"), default="everywhere")
            action.add_argument("--task", metavar="ID", help="the task, with --scope task")
            action.add_argument("--expires", type=int, metavar="SECONDS", help="how long it holds")


def _feedback(parser: argparse.ArgumentParser) -> None:
    actions = parser.add_subparsers(dest="action", metavar="action", title="actions", required=True)
    feedback_options.fill(
        action_of(actions, "give", "say it, or change what you said", task=False),
        action_of(actions, "list", "what you have said, newest first", task=False),
        action_of(actions, "delete", "take it back", task=False),
    )


def _skills(parser: argparse.ArgumentParser) -> None:
    engine_options(parser)
    json_option(parser)
    actions = parser.add_subparsers(dest="action", metavar="action", title="actions")
    action_of(actions, "list", "all skills", task=False)
    action_of(actions, "show", "one skill, whole", task=False).add_argument(
        "name", metavar="NAME", help="which one"
    )
    add = action_of(actions, "add", "give the engine a folder with a SKILL.md", task=False)
    add.add_argument("folder", type=Path, metavar="FOLDER", help="where it is")
    for name, summary in (
        ("approve", "let the agent use calls of tools that it proposed"),
        ("delete", "delete one of your own"),
    ):
        action_of(actions, name, summary, task=False).add_argument("name", metavar="NAME", help="which one")


def _rpc(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("method", metavar="METHOD", help="tool.<name>, memory.<operation> or skill.<name>")
    parser.add_argument("params", metavar="JSON", nargs="?", default="{}", help="its parameters (default {})")
    parser.add_argument("--task", metavar="ID", help="in this task's workspace, on its thread")
    parser.add_argument("--turn", metavar="ID", help="the result of a call that waited for a person")
    engine_options(parser)
    json_option(parser)


def _model(parser: argparse.ArgumentParser) -> None:
    actions = parser.add_subparsers(dest="action", metavar="action", title="actions", required=True)
    for name, summary in (
        ("list", "the models, and which are here"),
        ("install", "download a model and check it"),
        ("remove", "delete a model that was downloaded"),
    ):
        action = command(actions, name, summary)
        if name == "install":
            action.add_argument("name", metavar="NAME", nargs="?", help="which one (default: the usual one)")
        elif name == "remove":
            action.add_argument("name", metavar="NAME", help="which one")
        _settings_options(action)
        json_option(action)


def _dev(parser: argparse.ArgumentParser) -> None:
    actions = parser.add_subparsers(dest="action", metavar="action", title="actions", required=True)
    command(actions, "parse-toolcalls", "read text tool calls, one JSON line per reply")


def _doctor(parser: argparse.ArgumentParser) -> None:
    engine_options(parser)
    _settings_options(parser)
    json_option(parser)


def _seconds(text: str) -> float:
    value = float(text)
    if value <= 0:
        raise argparse.ArgumentTypeError("must be more than 0")
    return value


def parse(argv: Sequence[str] | None) -> argparse.Namespace:
    """Read the arguments, or end with what is wrong with them (2)."""
    parser = build_parser()
    args = parser.parse_args(argv)
    if args.command is None:
        parser.print_help()
        parser.exit(0)
    return args
