"""The command line: every command, its options and examples of its use.

Nothing heavy is imported here: a command names the module that does the work, and `aster --version` loads none.
"""

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from aster import __version__

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
  aster chat --task task-4k1z         go on with an earlier task
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

Works on the brain file, whether or not an engine is running.
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
_MEMORY = """\
examples:
  aster memory search "where do I live?"
  aster memory add "My dog is called Max" --subject dog --predicate name
  aster memory list --store knowledge
  aster memory forget fact-4k1z              shows what goes with it, then asks
  aster memory export memory.json
  aster memory import memory.json
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
    _serve(_command(commands, "serve", "start an engine", _SERVE))
    _chat(_command(commands, "chat", "talk to an engine", _CHAT))
    _run(_command(commands, "run", "one message, one answer", _RUN))
    _tasks(_command(commands, "tasks", "look at tasks and change them", _TASKS))
    _permissions(_command(commands, "permissions", "what tools may do without asking", _PERMISSIONS))
    _memory(_command(commands, "memory", "what is remembered, and forgetting it", _MEMORY))
    _keys(_command(commands, "keys", "make and withdraw keys", _KEYS))
    _model(_command(commands, "model", "models that run on this machine", _MODEL))
    _doctor(_command(commands, "doctor", "check that everything an engine needs is there", _DOCTOR))
    _dev(_command(commands, "dev", "tools for work on Aster itself", _DEV))
    return parser


def _command(commands: Any, name: str, summary: str, examples: str = "") -> Any:
    return commands.add_parser(
        name,
        help=summary,
        description=summary[0].upper() + summary[1:] + ".",
        epilog=examples,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )


def _engine_options(parser: argparse.ArgumentParser) -> None:
    later = argparse.SUPPRESS
    parser.add_argument("--url", default=later, help="the engine's address (ENGINE_URL; default: this machine's)")
    parser.add_argument("--key", default=later, help="the engine's key (ENGINE_KEY)")


def _settings_options(parser: argparse.ArgumentParser) -> None:
    later = argparse.SUPPRESS
    parser.add_argument("--db", metavar="FILE", default=later, help="the brain (SQLITE_DB_PATH)")
    parser.add_argument("--env-file", metavar="FILE", default=later, help="read settings from here, not from .env")


def _json_option(parser: argparse.ArgumentParser, what: str = "print JSON") -> None:
    parser.add_argument("--json", action="store_true", default=argparse.SUPPRESS, help=what)


def _serve(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--host", help="address to listen on (HOST)")
    parser.add_argument("--port", type=int, help="port to listen on, 0 for a free one (PORT)")
    _settings_options(parser)
    parser.add_argument("--log-format", choices=("json", "text"), help="how log lines look (ENGINE_LOG_FORMAT)")


def _mode_option(parser: argparse.ArgumentParser) -> None:
    modes = ("default", "plan", "auto", "bypass")
    parser.add_argument("--mode", choices=modes, help="how careful the agent is (default: the engine's setting)")


def _chat(parser: argparse.ArgumentParser) -> None:
    _engine_options(parser)
    _mode_option(parser)
    parser.add_argument("--task", metavar="ID", help="go on with this task, or begin it under this id")


def _run(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("message", help="what to say; - reads it from standard input")
    _engine_options(parser)
    _mode_option(parser)
    parser.add_argument("--task", metavar="ID", help="go on with this task, or begin it under this id")
    _json_option(parser, "print every event as one line of JSON")
    parser.add_argument("--timeout", type=_seconds, metavar="SECONDS", help="cancel the turn after this long")
    consent = parser.add_mutually_exclusive_group()
    consent.add_argument("--yes", dest="consent", action="store_const", const="yes", help="approve every tool")
    consent.add_argument("--no", dest="consent", action="store_const", const="no", help="refuse tools that ask")


def _tasks(parser: argparse.ArgumentParser) -> None:
    parser.set_defaults(action="list", limit=20, status=None, search=None)
    _engine_options(parser)
    _json_option(parser)
    actions = parser.add_subparsers(dest="action", metavar="action", title="actions")
    listing = _action(actions, "list", "the newest tasks", task=False)
    listing.add_argument("--limit", type=_count, default=20, metavar="N", help="at most so many (default 20)")
    listing.add_argument("--status", choices=("idle", "running", "suspended"), help="only those")
    listing.add_argument("--search", metavar="TEXT", help="only tasks whose title has this text")
    _action(actions, "show", "one task with its turns and open questions")
    events = _action(actions, "events", "the events of a task's thread")
    events.add_argument("--after", type=int, default=0, metavar="SEQ", help="only those after this seq")
    events.add_argument("--types", default="", metavar="A,B", help="only these types")
    fork = _action(actions, "fork", "a new task that begins where this one stood")
    fork.add_argument("--seq", type=int, required=True, metavar="N", help="the last event to take over")
    fork.add_argument("--as", dest="new_task", metavar="ID", help="the new task's id")
    _action(actions, "cancel", "stop the running turn")
    _action(actions, "artifacts", "long output of its tools")
    artifact = _action(actions, "artifact", "one of them, whole")
    artifact.add_argument("artifact", metavar="ARTIFACT", help="its id")
    artifact.add_argument("--output", type=Path, metavar="FILE", help="write it there, byte for byte")
    undo = _action(actions, "undo", "make files what they were before a turn")
    undo.add_argument("--turn", metavar="TURN", help="which (default: the newest that changed any)")
    undo.add_argument("--force", action="store_true", help="overwrite files that were changed since")
    _action(actions, "delete", "delete a task and all that belongs to it")


def _action(actions: Any, name: str, summary: str, *, task: bool = True) -> Any:
    parser = _command(actions, name, summary)
    if task:
        parser.add_argument("task", metavar="ID", help="the task")
    _engine_options(parser)
    _json_option(parser)
    return parser


def _keys(parser: argparse.ArgumentParser) -> None:
    actions = parser.add_subparsers(dest="action", metavar="action", title="actions", required=True)
    for name, summary in (
        ("create", "make a key and print it, once"),
        ("list", "all keys, without the keys themselves"),
        ("revoke", "withdraw a key at once"),
        ("rotate", "replace a key by a new one"),
    ):
        action = _command(actions, name, summary)
        if name == "create":
            action.add_argument("name", metavar="NAME", help="what the key is called")
            action.add_argument("--user", metavar="USER", help="whose tasks it opens (default: the operator's)")
        elif name != "list":
            action.add_argument("which", metavar="NAME", help="the key's name or id")
        _settings_options(action)
        _json_option(action)


def _permissions(parser: argparse.ArgumentParser) -> None:
    actions = parser.add_subparsers(dest="action", metavar="action", title="actions", required=True)
    for name, summary in (
        ("list", "the rules and grants that decide on calls"),
        ("test", "what would happen with a call"),
        ("add", "give or refuse a permission for calls to come"),
        ("revoke", "take a grant back"),
        ("backtest", "what a rule would have meant for the calls so far"),
    ):
        action = _command(actions, name, summary)
        _engine_options(action)
        _json_option(action)
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


def _memory(parser: argparse.ArgumentParser) -> None:
    actions = parser.add_subparsers(dest="action", metavar="action", title="actions", required=True)
    stores = ("episodes", "knowledge", "social", "lessons", "profile", "documents")
    for name, summary in (
        ("search", "find memories by meaning and words"),
        ("list", "the newest memories"),
        ("show", "one memory, where it came from, and what it was before"),
        ("add", "remember something"),
        ("forget", "forget memories and all that came from them"),
        ("export", "all memories as one JSON document"),
        ("import", "take in an exported memory"),
        ("stats", "how much is remembered"),
    ):
        action = _command(actions, name, summary)
        _engine_options(action)
        _json_option(action)
        if name in ("search", "list"):
            action.add_argument(
                "--limit", type=_count, default=20, metavar="N", help="at most so many (default 20)"
            )
        match name:
            case "search":
                action.add_argument("query", help="what to look for")
                action.add_argument("--store", choices=stores, help="only there")
            case "list":
                action.add_argument("--store", choices=(*stores, "soul", "working"), help="only there")
                action.add_argument("--task", metavar="ID", help="only what came from this task")
                action.add_argument("--all", action="store_true", help="also what something else took the place of")
            case "show":
                action.add_argument("record", metavar="ID", help="the memory")
            case "add":
                action.add_argument("text", help="what to remember; - reads it from standard input")
                action.add_argument("--kind", choices=("fact", "episode"), default="fact", help="(default fact)")
                action.add_argument("--subject", default="", help="what a fact is about")
                action.add_argument("--predicate", default="", help="what of it; a new fact replaces the old one")
            case "forget":
                action.add_argument("record", metavar="ID", nargs="*", help="the memories")
                action.add_argument("--task", metavar="ID", help="all that came from this task")
                action.add_argument("--delete-tasks", action="store_true", help="also the tasks that say it")
                action.add_argument("--yes", action="store_true", help="do not ask")
            case "export":
                action.add_argument("file", type=Path, nargs="?", metavar="FILE", help="(default: standard output)")
            case "import":
                action.add_argument("file", type=Path, metavar="FILE", help="the exported memory")
            case _:
                pass


def _model(parser: argparse.ArgumentParser) -> None:
    actions = parser.add_subparsers(dest="action", metavar="action", title="actions", required=True)
    for name, summary in (
        ("list", "the models, and which are here"),
        ("install", "download a model and check it"),
        ("remove", "delete a model that was downloaded"),
    ):
        action = _command(actions, name, summary)
        if name == "install":
            action.add_argument("name", metavar="NAME", nargs="?", help="which one (default: the usual one)")
        elif name == "remove":
            action.add_argument("name", metavar="NAME", help="which one")
        _settings_options(action)
        _json_option(action)


def _dev(parser: argparse.ArgumentParser) -> None:
    actions = parser.add_subparsers(dest="action", metavar="action", title="actions", required=True)
    _command(actions, "parse-toolcalls", "read text tool calls, one JSON line per reply")


def _doctor(parser: argparse.ArgumentParser) -> None:
    _engine_options(parser)
    _settings_options(parser)
    _json_option(parser)


def _seconds(text: str) -> float:
    value = float(text)
    if value <= 0:
        raise argparse.ArgumentTypeError("must be more than 0")
    return value


def _count(text: str) -> int:
    value = int(text)
    if not 1 <= value <= 200:
        raise argparse.ArgumentTypeError("must be between 1 and 200")
    return value


def parse(argv: Sequence[str] | None) -> argparse.Namespace:
    """Read the arguments, or end with what is wrong with them (2)."""
    parser = build_parser()
    args = parser.parse_args(argv)
    if args.command is None:
        parser.print_help()
        parser.exit(0)
    return args
