"""Values in a shell command stay values, whatever they contain; places where they could not are refused."""

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from aster.catalog.template import Template, Unfit

HOSTILE = [
    "; touch pwned",
    "$(touch pwned)",
    "`touch pwned`",
    "'; touch pwned; '",
    '"; touch pwned; "',
    "\n touch pwned\n",
    "a\\",
    "| tee pwned",
    "> pwned",
    "&& touch pwned &",
    "*",
    "~",
    "{a,b}",
    "!!",
    "$HOME",
    "#",
    "\u2028; touch pwned",
    "é ü 日本",
    "",
]


@pytest.mark.parametrize("value", HOSTILE)
def test_a_value_arrives_as_it_is_and_does_nothing(value: str, tmp_path: Path) -> None:
    command = Template("printf %s -- {word}; printf '|%s' x={word}", "shell").render({"word": value})
    done = subprocess.run(["/bin/bash", "-c", command], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (done.stdout, done.stderr) == (f"--{value}|x={value}", "")
    assert list(tmp_path.iterdir()) == []


@settings(max_examples=60, deadline=None)
@given(st.text(st.characters(blacklist_characters="\x00", blacklist_categories=("Cs",)), max_size=40))
def test_any_text_is_one_word(value: str) -> None:
    template = Template("printf '%s\\0' -- {a} b {a}", "shell")
    command = template.render({"a": value})
    done = subprocess.run(["/bin/bash", "-c", command], capture_output=True, check=False)
    assert done.stdout == b"\0".join([b"--", value.encode(), b"b", value.encode(), b""])


@pytest.mark.parametrize(
    "text",
    [
        'echo "{x}"',
        "echo '{x}'",
        "echo $'{x}'",
        "echo \"a'b\" '{x}'",
        "true # {x}",
        "cat <<END\n{x}\nEND",
        "cat <<< {x}",
        "echo `ls {x}`",
        "echo $(( {x} + 1 ))",
        "[[ {x} -eq 1 ]] && ls",
        "{x} --version",
        "ls; {x}",
        "eval {x}",
        "bash -c {x}",
        "sh -c 'ls' {x}",
        "ssh host {x}",
        "let {x}",
        "trap {x} EXIT",
        "echo {x} 'unclosed",
        'echo "$(cat {x})"',
    ],
)
def test_places_where_no_quoting_helps_are_refused(text: str) -> None:
    assert Template(text, "shell").problem() is not None


@pytest.mark.parametrize(
    "text",
    [
        "git log -n {x}",
        "git log --author={x} -- {y}",
        "grep -rn -- {x} . | head -n 5 > out.txt",
        "cd {x} && make",
        "echo $(wc -l {x})",
        "awk '{{print}}' {x}",
        "awk '{print $1}' {x}",
        'for f in {x}; do wc -l "$f"; done',
        'echo "it\'s" {x}',
        'echo ${HOME} "${USER}" {x}',
        "X={x} make",
    ],
)
def test_places_for_words_are_fine(text: str) -> None:
    assert Template(text, "shell").problem() is None


def test_a_value_is_no_option_unless_it_cannot_be_taken_for_one() -> None:
    with pytest.raises(Unfit, match="hyphen"):
        Template("git log {ref}", "shell").render({"ref": "--output=x"})
    with pytest.raises(Unfit, match="hyphen"):
        Template("git add -- {a}; git log {b}", "shell").render({"a": "x", "b": "-x"})
    assert Template("git add -- {a}", "shell").render({"a": "-x"}) == "git add -- -x"
    assert Template("git log --author={a}", "shell").render({"a": "-x"}) == "git log --author=-x"
    with pytest.raises(Unfit, match="NUL"):
        Template("echo {a}", "shell").render({"a": "\x00"})


def rendered(text: str, language: Any, **values: Any) -> Any:
    return Template(text, language).render(values)


def test_other_languages_have_other_rules() -> None:
    assert rendered("echo {a} {b} {c}", "shell", a=[1, "x y"], b=True, c=2.5) == "echo 1 'x y' true 2.5"
    assert rendered("{{a}} {a} ${{b}} ${c}", "text", a="'") == "{a} ' ${b} ${c}"
    assert rendered("notes/{a}.md", "path", a="today") == "notes/today.md"
    for escape in ("..", "../x", "/etc/x", "a/b", "", "a\x00"):
        with pytest.raises(Unfit):
            rendered("notes/{a}", "path", a=escape)
    assert rendered("https://x.test/?q={a}", "url", a="a b&c=/../#") == "https://x.test/?q=a%20b%26c%3D%2F..%2F%23"
    assert rendered("{a}", "text", a=[1, 2]) == [1, 2]
    with pytest.raises(Unfit, match="must be text"):
        rendered("x{a}", "text", a={"b": 1})
    assert json.dumps(Template("plain {} {A} { b }", "text").render({})) == '"plain {} {A} { b }"'
