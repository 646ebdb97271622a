"""Scripts as structure: words as the shell would see them, wherever they stand."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aster.sandbox.bash_analysis import parse
from aster.sandbox.bash_words import Kind


def words(script: str) -> list[list[str]]:
    return [[word.text for word in command.words] for command in parse(script).commands]


@pytest.mark.parametrize(
    ("script", "expected"),
    [
        ("ls -la", [["ls", "-la"]]),
        ("r''m -rf \"a b\"/c\\ d", [["rm", "-rf", "a b/c d"]]),
        ("\\rm 'it'\\''s' \"q\\\"uote\" \"\\x\"", [["rm", "it's", 'q"uote', "\\x"]]),
        ("$'plain' a\\\n b", [["plain", "a", "b"]]),
        ("rm >log -rf x", [["rm", "-rf", "x"]]),
        ("a | b >f c", [["a"], ["b", "c"]]),
        ("! <x rm <x -rf /", [["rm", "-rf", "/"]]),
        ("cat <<EOF -n\nx\nEOF", [["cat", "-n"]]),
        ("<in cat -n", [["cat", "-n"]]),
        ("find . -exec rm {} \\;", [["find", ".", "-exec", "rm", "{}", ";"]]),
        ("a && b || c; (d); { e; }", [["a"], ["b"], ["c"], ["d"], ["e"]]),
        ("if a; then b; elif c; then d; else e; fi", [["a"], ["b"], ["c"], ["d"], ["e"]]),
        ("while a; do b; done; until c; do d; done", [["a"], ["b"], ["c"], ["d"]]),
        ("for x in y; do a; done; case x in y) b;; esac", [["a"], ["b"]]),
        ("f() { a; }; function g { b; }", [["a"], ["b"]]),
        ("! a; time b; a |& b", [["a"], ["time", "b"], ["a"], ["b"]]),
        (
            'echo `a` "$(b)" ${X:-$(c)} <(d)',
            [["echo", "`a`", '"$(b)"', "${X:-$(c)}", "<(d)"], ["a"], ["b"], ["c"], ["d"]],
        ),
        ("cat <<EOF\n$(a)\nEOF", [["cat"], ["a"]]),
        ("cat <<'EOF'\n$(a)\nEOF", [["cat"]]),
        ("x=$(a) b", [["b"], ["a"]]),
        ("[ -f x ] && a; [[ -n $(b) ]]", [["a"], ["b"]]),
        ("# rm x\na # rm y", [["a"]]),
        ("a <<EOF && b\nx\nEOF", [["a"], ["b"]]),
    ],
)
def test_commands_are_found_wherever_they_are(script: str, expected: list[list[str]]) -> None:
    assert sorted(words(script)) == sorted(expected)
    assert parse(script).understood


@pytest.mark.parametrize(
    ("word", "kind", "fixed"),
    [
        ("plain", Kind.LITERAL, ""),
        ("'*'", Kind.LITERAL, ""),
        ("\\*", Kind.LITERAL, ""),
        ("{}", Kind.LITERAL, ""),
        ("a/*.py", Kind.GLOB, "a/"),
        ("'a b'/x?", Kind.GLOB, "a b/x"),
        ("a/[bc]d", Kind.GLOB, "a/"),
        ("a/{b,c}", Kind.GLOB, "a/"),
        ("{a,b}*", Kind.GLOB, ""),
        ("a/*/../..", Kind.DYNAMIC, ""),
        ("a/{b,../../c}", Kind.DYNAMIC, ""),
        ("$X", Kind.DYNAMIC, ""),
        ('"$X"', Kind.DYNAMIC, ""),
        ("a$(b)", Kind.DYNAMIC, ""),
        ("$((1 + 2))", Kind.DYNAMIC, ""),
        ("$'\\x72'", Kind.LITERAL, ""),
        ("~root/x", Kind.DYNAMIC, ""),
        ("~/x", Kind.LITERAL, ""),
    ],
)
def test_what_is_known_of_a_word(word: str, kind: Kind, fixed: str) -> None:
    found = parse(f"echo {word}").commands[0].words[1]
    assert (found.kind, found.fixed) == (kind, fixed)


def test_a_tilde_counts_only_unquoted() -> None:
    _, open_tilde, quoted = parse("echo ~/x '~/x'").commands[0].words
    assert (open_tilde.tilde, quoted.tilde) == (True, False)


def test_a_quoted_word_stays_one() -> None:
    found = parse('echo $X "$X" "$@" *').commands[0].words
    assert [word.splits for word in found] == [False, True, False, True, True]


@pytest.mark.parametrize(
    ("script", "expected"),
    [
        ("a > f", [(">", "f")]),
        ("a >> f 2>&1", [(">>", "f"), (">&", "1")]),
        ("a &> f", [("&>", "f")]),
        ("{ a; } >| f", [(">|", "f")]),
        ("while a; do b; done < in > out", [("<", "in"), (">", "out")]),
        ("> f", [(">", "f")]),
        ("cat <<EOF > f\nx\nEOF", [("<<", None), (">", "f")]),
        ("cat <<< x", [("<<", None)]),
    ],
)
def test_redirections(script: str, expected: list[tuple[str, str | None]]) -> None:
    found = [(redirect.operator, redirect.target and redirect.target.text) for redirect in parse(script).redirects]
    assert found == expected


def test_the_rest_of_the_structure() -> None:
    script = parse("X=1 a; export Y=2; f() { b; }; c & for z in 1; do d $(e); done; unset Q")
    assert set(script.assignments) >= {"X", "Y", "z"}
    assert script.functions == ("f",)
    assert script.background
    assert script.substitutions
    plain = parse("a && b")
    assert (plain.assignments, plain.functions, plain.background, plain.substitutions) == ((), (), False, False)


@pytest.mark.parametrize(
    "script",
    [
        'echo "',
        "if a",
        "a )",
        "r\\\nm x",
        "a \x00 b",
        "$(",
        "a\n\\\nrm x",
        "a\n\\rm x",
        "! ! rm x",
        ">x <<E rm x\nE\n",
    ],
)
def test_what_is_not_understood_is_flagged(script: str) -> None:
    assert not parse(script).understood


@given(st.text(alphabet="ab \"'\\$(){}<>|&;*~\n`#=[]", max_size=40))
def test_nothing_makes_it_fail(script: str) -> None:
    for command in parse(script).commands:
        assert command.words
