"""The options of `aster watch`, `aster inbox` and `aster completion`; nothing heavy is imported here."""

import argparse

from aster.cli.arguments import command, engine_options, json_option

WATCH = """\
examples:
  aster watch task-4k1z                 what it does, as it does it; Ctrl-C ends the watching, not the task
  aster watch task-4k1z --from 0        from its first event on
  aster watch task-4k1z --json --until-idle | jq .type

exit codes: 0 idle, 1 the last turn failed (with --until-idle), 130 left
"""
INBOX = """\
examples:
  aster inbox                           what waits; on a terminal, answer by number
  aster inbox --watch                   what begins to wait, as it does
  aster inbox answer hitl-4k1z yes
  aster inbox answer hitl-4k1z no, use the trash instead
  aster inbox answer hitl-4k1z always task for 2h
"""
COMPLETION = """\
examples:
  source <(aster completion bash)                                   this shell
  aster completion bash > ~/.local/share/bash-completion/completions/aster
  aster completion zsh > "${fpath[1]}/_aster"
  aster completion fish > ~/.config/fish/completions/aster.fish
"""
SHELLS = ("bash", "zsh", "fish")
THEMES = ("dark", "light", "contrast", "mono")


def theme_option(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--theme", choices=THEMES, help="how it looks (default: as last chosen with /theme)")


def fill_watch(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("task", metavar="TASK", help="the task")
    parser.add_argument(
        "--from", dest="after", type=_seq, metavar="SEQ", help="all after this event (default: the newest things)"
    )
    parser.add_argument("--until-idle", action="store_true", help="end when no turn runs and none waits to")
    parser.add_argument("--unfold", action="store_true", help="show thinking and the output of tools whole")
    theme_option(parser)
    engine_options(parser)
    json_option(parser, "print every event as one line of JSON")


def fill_inbox(parser: argparse.ArgumentParser) -> None:
    parser.set_defaults(action="list")
    _inbox_options(parser)
    actions = parser.add_subparsers(dest="action", metavar="action", title="actions")
    _inbox_options(command(actions, "list", "what waits for a person"))
    answer = command(actions, "answer", "answer one of them")
    answer.add_argument("request", metavar="REQUEST", help="its id")
    answer.add_argument("answer", metavar="ANSWER", nargs="+", help="yes, no, always task, a text, …")
    engine_options(answer)
    json_option(answer)


def _inbox_options(parser: argparse.ArgumentParser) -> None:
    later = argparse.SUPPRESS
    parser.set_defaults(watch=False, task=None)
    parser.add_argument("--watch", action="store_true", default=later, help="go on looking")
    parser.add_argument("--task", metavar="ID", default=later, help="of this task alone")
    engine_options(parser)
    json_option(parser)


def fill_completion(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("shell", choices=SHELLS, help="for which shell")


def _seq(text: str) -> int:
    value = int(text)
    if value < 0:
        raise argparse.ArgumentTypeError("must not be negative")
    return value
