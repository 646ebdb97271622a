"""`aster completion`: a script that lets a shell complete commands, options, their words, files and tasks.

Names of tasks come from the engine and may be anything; only those of letters, digits and `._-` are offered, and no
shell ever expands one.
"""

import argparse
import shlex
from collections.abc import Iterable

from aster.cli.command_tree import Command, commands
from aster.cli.exits import Exit
from aster.cli.parser import build_parser

_TASKS = r"aster tasks 2>/dev/null | awk 'NR > 1 && $1 ~ /^[A-Za-z0-9._-]+$/ { print $1 }'"


def command(args: argparse.Namespace) -> int:
    found = tuple(commands(build_parser()))
    print({"bash": bash, "zsh": zsh, "fish": fish}[args.shell](found), end="")
    return Exit.OK


def bash(found: Iterable[Command]) -> str:
    """For bash 3.2 and newer; nothing but bash itself is needed."""
    return f"""\
# Completion of aster for bash. Load it with: source <(aster completion bash)
{_walk(found)}
_aster() {{
    local current="${{COMP_WORDS[COMP_CWORD]}}" previous="" at="aster" word
    local index=1
    while [ "$index" -lt "$COMP_CWORD" ]; do
        word="${{COMP_WORDS[index]}}"
        if _aster_valued "$at" "$word"; then
            [ $((index + 1)) -eq "$COMP_CWORD" ] && previous="$word"
            index=$((index + 1))
        elif _aster_known "$at $word"; then
            at="$at $word"
        fi
        index=$((index + 1))
    done
    COMPREPLY=()
    local offer
    while IFS= read -r offer; do
        case "$offer" in
            @files) while IFS= read -r word; do COMPREPLY+=("$word"); done < <(compgen -f -- "$current") ;;
            @tasks) while IFS= read -r word; do
                        [[ "$word" == "$current"* ]] && COMPREPLY+=("$word")
                    done < <(_aster_tasks) ;;
            ?*) [[ "$offer" == "$current"* ]] && COMPREPLY+=("$offer") ;;
        esac
    done < <(if [ -n "$previous" ]; then _aster_values "$at" "$previous"; else _aster_offers "$at" "$current"; fi)
}}
complete -o filenames -F _aster aster
"""


def zsh(found: Iterable[Command]) -> str:
    """For zsh with its completion system on."""
    return f"""\
#compdef aster
# Completion of aster for zsh. Put it into a folder of $fpath as _aster.
{_walk(found)}
_aster() {{
    local current="${{words[CURRENT]}}" previous="" at="aster" word offer
    local -i index=2
    local -a offers
    while (( index < CURRENT )); do
        word="${{words[index]}}"
        if _aster_valued "$at" "$word"; then
            (( index + 1 == CURRENT )) && previous="$word"
            (( index++ ))
        elif _aster_known "$at $word"; then
            at="$at $word"
        fi
        (( index++ ))
    done
    if [[ -n "$previous" ]]; then
        offers=("${{(@f)$(_aster_values "$at" "$previous")}}")
    else
        offers=("${{(@f)$(_aster_offers "$at" "$current")}}")
    fi
    for offer in "${{offers[@]}}"; do
        case "$offer" in
            @files) _files ;;
            @tasks) compadd -- "${{(@f)$(_aster_tasks)}}" ;;
            ?*) compadd -- "$offer" ;;
        esac
    done
}}
if [[ "$funcstack[1]" == "_aster" ]]; then
    _aster "$@"
else
    compdef _aster aster
fi
"""


def _walk(found: Iterable[Command]) -> str:
    """What both shells know: which words lead somewhere, which options take a value, and what may come next."""
    known: list[str] = []
    valued: list[str] = []
    values: list[str] = []
    offers: list[str] = []
    for one in found:
        at = " ".join(("aster", *one.path))
        known.append(f"        {shlex.quote(at)}) return 0 ;;")
        for option in one.options:
            if option.valued:
                names = "|".join(shlex.quote(f"{at} {flag}") for flag in option.flags)
                valued.append(f"        {names}) return 0 ;;")
                values.append(f"        {names}) {_printed(option.choices, option.kind)} ;;")
        flags = [flag for option in one.options for flag in option.flags if flag.startswith("--")]
        first = [name for name, _ in one.actions] or list(one.words)
        offers.append(f"        {shlex.quote(f'{at} -')}) {_printed(flags, '')} ;;")
        offers.append(f"        {shlex.quote(f'{at} +')}) {_printed(first, one.kind)} ;;")
    return "\n".join(
        [
            _function("_aster_known", '"$1"', known, "return 1"),
            _function("_aster_valued", '"$1 $2"', valued, "return 1"),
            _function("_aster_values", '"$1 $2"', values, ""),
            '_aster_offers() {\n    local kind="+"\n    case "$2" in -*) kind="-" ;; esac\n    case "$1 $kind" in',
            *offers,
            "    esac\n}",
            f"_aster_tasks() {{ {_TASKS}; }}",
        ]
    )


def _function(name: str, subject: str, cases: list[str], otherwise: str) -> str:
    end = [f"    {otherwise}"] if otherwise else []
    return "\n".join([f"{name}() {{", f"    case {subject} in", *cases, "    esac", *end, "}"])


def _printed(words: Iterable[str], kind: str) -> str:
    marks = {"file": ("@files",), "task": ("@tasks",)}.get(kind, ())
    shown = " ".join(shlex.quote(word) for word in (*words, *marks))
    return f"printf '%s\\n' {shown}" if shown else ":"


def fish(found: Iterable[Command]) -> str:
    """For fish 3 and newer."""
    every = tuple(found)
    paths = " ".join(shlex.quote(" ".join(one.path)) for one in every if one.path)
    flags = sorted(
        {
            shlex.quote(" ".join((*one.path, flag)))
            for one in every
            for option in one.options
            if option.valued
            for flag in option.flags
        }
    )
    lines = [
        "# Completion of aster for fish. Put it into ~/.config/fish/completions/aster.fish",
        f"set -g __aster_paths {paths}",
        f"set -g __aster_valued {' '.join(flags)}",
        "function __aster_at",
        "    set -l at",
        "    set -l skip 0",
        "    for word in (commandline -opc)[2..-1]",
        "        if test $skip -eq 1",
        "            set skip 0",
        '        else if contains -- (string trim -- "$at $word") $__aster_valued',
        "            set skip 1",
        '        else if contains -- (string trim -- "$at $word") $__aster_paths',
        "            set -a at $word",
        "        end",
        "    end",
        '    test "$at" = "$argv[1]"',
        "end",
        f"function __aster_tasks\n    {_TASKS}\nend",
        "complete -c aster -f",
    ]
    for one in every:
        lines += _fish_lines(one)
    return "\n".join(lines) + "\n"


def _fish_lines(one: Command) -> list[str]:
    at = _fish(" ".join(one.path))
    here = f"complete -c aster -n {_fish(f'__aster_at {at}')}"
    lines = [f"{here} -a {_fish(name)} -d {_fish(about)}" for name, about in one.actions]
    lines += [f"{here} -a {_fish(word)}" for word in one.words]
    lines += [f"{here} {_FISH_KINDS[one.kind]}"] if one.kind else []
    for option in one.options:
        names = " ".join(f"-l {flag[2:]}" if flag.startswith("--") else f"-s {flag[1:]}" for flag in option.flags)
        words = f" -a {_fish(' '.join(option.choices))}" if option.choices else ""
        takes = f" -r {_FISH_KINDS[option.kind]}" if option.kind else f" -x{words}" if option.valued else ""
        lines.append(f"{here} {names} -d {_fish(option.summary)}{takes}")
    return lines


_FISH_KINDS = {"file": "-F", "task": "-a '(__aster_tasks)'"}


def _fish(text: str) -> str:
    """A word as fish quotes it: a backslash and a quote are escaped by a backslash."""
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"
