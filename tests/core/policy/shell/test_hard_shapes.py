"""Shapes in which parsers and shells disagree, and texts that nobody can read before they run."""

from __future__ import annotations

import subprocess
import sys
from itertools import product

import pytest

from watchgate.core.policy.judging.command_finder import commands

OPAQUE = [
    # a program that only the run knows
    "$X -rf /",
    '"$X" -rf /',
    "rm${IFS}-rf /",
    "/bin/r? -rf /",
    "$(echo rm) -rf /",
    "timeout $X rm -rf /",
    "nice -n $X rm -rf /",
    "r\u043c -rf /",
    # a text that only the run knows
    "eval $X",
    "bash -c $X",
    'bash -c "$X"',
    "xargs sh -c",
    "find . -exec sh -c 'rm {}' \\;",
    "ls | xargs -I{} bash -c 'rm {}'",
    "parallel bash -c {}",
    "echo cm0gLXJmIC8= | base64 -d | sh",
    "cat script | bash",
    "bash < script",
    "ls | ssh host",
    'source "$X"',
    "source <(ls)",
    "cat x | . /dev/stdin",
    "source",
    'echo "${x@P}"',
    # code of another language
    "python3 -c 'exec(x)'",
    "perl -e 'eval $x'",
    "node --eval 'x'",
    "python3 - <<'EOF'\nexec(x)\nEOF",
    # names that mean something else
    "ls() { rm -rf /; }; ls",
    "function git { rm -rf /; }; git status",
    "alias ls='rm -rf /'; ls",
    "hash -p /tmp/x ls",
    "enable -f x.so ls",
    # values that are run when they are computed
    "x='a[$(rm -rf /)]'; echo $((x))",
    "x='a[$(rm -rf /)]'; (( x ))",
    "x='a[$(rm -rf /)]'; [[ $x -eq 1 ]]",
    "test -v 'a[$(rm -rf /)]'",
    "printf -v 'a[$(rm -rf /)]' x",
    "unset 'a[$(rm -rf /)]'",
    "declare 'a[$(rm -rf /)]=1'",
    # back-ticks
    "echo `a`",
    "echo `a` `b`",
    "echo `a \\`b\\``",
    "cat <<E\n`a`\nE",
    # here-documents whose end is not where it seems
    "cat <<E\nx\nE \nrm -rf /\nE",
    "cat <<'E'\nx\nE\t\nrm -rf /\nE",
    "cat <<E\nno end",
    "cat <<E\nx\\\nE\nrm -rf /\nE",
    "cat <<'A' <<'B'\nx\nA\ny\nB\nrm -rf /",
    # texts that end in the middle
    "echo 'unterminated",
    'echo "unterminated',
    "echo $(unterminated",
    "echo )",
    "ls >",
    "ls &&",
    "a; ; b",
    # what may be one thing or the other
    "{rm,-rf,/}",
    "echo $((rm -rf /))",
    "echo '#'; rm -\\\nrf /",
    "1A=2 ls",
    "a <> b",
    # what the grammar passes over without a word
    "- {1..2}",
    "!{1..2}\\x",
    "$ ls",
    ">&$ ${x}",
    "a <& -rf b",
    "echo " + "{a,b}" * 12,
]

READ = [
    "echo 'it'\\''s'",
    "cat <<'E' > f\n`x` $(y) ' \" \\\nE",
    "cat <<E\nplain text, it's quoted\nE",
    "git commit -m \"$(cat <<'E'\na `b` c\nE\n)\"",
    "git commit -m 'use `x`'",
    "awk '{ print $1 }' f",
    'for f in *.py; do wc -l "$f"; done',
    "find . -name '*.py' -exec grep -n x {} +",
    "diff <(a) <(b)",
    'x=$(a); echo "$x"',
    "echo $((1 + 2)) ${#x} ${x%.py}",
    "test -f x && echo y",
    "[[ $x == y* ]] && a",
    "a 2>&1 | b",
    "a > /dev/null 2>&1",
    "time a | b",
    "! a",
    "curl -s x \\\n  -H 'A: b' \\\n  -d '{\"c\": 1}'",
    "jq '.a | {b, c}' f",
    "f() { a; }",
    "alias x='ls -la'",
    "a=(b c)",
]

# Lines that stand before others, what separates them, and commands that follow.
FIRST_LINES = [
    "a",
    "> f",
    "a | b | c",
    "! a | b | c",
    "a | b | c | d | e x",
    "a && b | c | d",
    "a | b | c\nd | e | f",
    "a | (b) | c",
    "export A=1",
    "(a | b | c)",
    "x=$(a | b | c)",
    "cat <<E | b | c\nq\nE",
]
SEPARATORS = [
    "\n",
    "\n\n",
    " # note\n",
    "\n# note\n",
    " \\\n\n",
    "; ",
    " && ",
    " || ",
    " & ",
    " |\n",
]
REDIRECTS = ["", " > out", " <<< text"]
NEXT_LINES = [
    "rm -rf x",
    "X=1 rm -rf x",
    "sudo rm -rf x",
    "! rm -rf x",
    "> x",
    "(rm -rf x)",
    "if t; then rm -rf x; fi",
    "for i in 1; do rm -rf x; done",
    "[[ -f x ]] && rm -rf x",
    "a | b | c\nrm -rf x",
    "export X=1",
    "rm <<E\nE",
]


@pytest.mark.parametrize("text", OPAQUE)
def test_what_is_not_understood_is_opaque_and_says_why(text: str) -> None:
    found = commands(text)
    assert found.opaque
    assert found.why


@pytest.mark.parametrize("text", READ)
def test_what_people_write_is_not_opaque(text: str) -> None:
    found = commands(text)
    assert (found.opaque, found.why) == (False, "")


@pytest.mark.parametrize("first", FIRST_LINES)
def test_the_commands_of_a_line_are_the_same_behind_any_other_line(first: str) -> None:
    for before, separator, line, behind in product(REDIRECTS, SEPARATORS, NEXT_LINES, REDIRECTS):
        above, below = first + before, line + behind
        text = f"{above}{separator}{below}\necho done"
        found = _run_by(text)
        expected = [*_run_by(above), *_run_by(below), ["echo", "done"]]
        assert found == expected or commands(text).opaque, text


@pytest.mark.parametrize("first", ["a | b | c", "a | b | c > f\nd | e | f", "> f"])
@pytest.mark.parametrize("line", ["rm -rf x > y", "[[ -f x ]] && rm -rf x", "export X=1 > y"])
def test_a_line_behind_a_pipeline_is_read_as_a_line_of_its_own(first: str, line: str) -> None:
    found = commands(f"{first}\n{line}")
    assert not found.opaque
    assert _run_by(f"{first}\n{line}") == [*_run_by(first), *_run_by(line)]
    assert found.commands[-1].span[0] > len(first)


@pytest.mark.parametrize(
    "around",
    [
        "{{ {}; }}",
        "if t; then {}; fi",
        "if {}; then t; fi",
        "while t; do {}; done",
        "case q in a) {};; esac",
        "f() {{ {}; }}",
        'echo "$({})"',
        "cat <({})",
        "bash -c '{}'",
        "bash <<E\n{}\nE",
        "ssh h '{}'",
    ],
)
def test_a_line_behind_a_pipeline_is_read_in_any_surroundings(around: str) -> None:
    for first, line in product(["a | b | c", "> f"], ["rm -rf x > y", "[[ -f q ]] && rm -rf x"]):
        text = around.format(f"{first}\n{line}")
        assert ["rm", "-rf", "x"] in _run_by(text) or commands(text).opaque, text


def test_many_lines_that_the_grammar_joins_are_read_or_opaque() -> None:
    assert not commands("a | b | c\n" * 30 + "rm -rf x > y").opaque
    nested = "a | b | c\n" + "[[ a | b | c\n" * 20 + "rm -rf x > y"
    assert commands(nested).opaque or _run_by(nested)[-1] == ["rm", "-rf", "x"]


def _run_by(text: str) -> list[list[str]]:
    """The words of each command in a text."""
    return [[word.text for word in command.words] for command in commands(text).commands]


@pytest.mark.parametrize("space", ["\x0c", "\r", "\x0b", "\xa0", "\u2003"])
def test_what_the_shell_takes_for_a_letter_separates_no_words(space: str) -> None:
    assert commands(f"a{space}b").commands[0].words[0].text == f"a{space}b"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("\\ a b", [" a", "b"]),
        ('"a"\\ b', ["a b"]),
        ("a \\  b", ["a", " ", "b"]),
        ("a {1..2}\\ b", ["a", "1 b", "2 b"]),
        ("x=1 fi", ["fi"]),
        (">f done", ["done"]),
    ],
)
def test_escaped_blanks_and_late_keywords_are_words(text: str, words: list[str]) -> None:
    assert [word.text for word in commands(text).commands[-1].words] == words


def test_a_long_text_of_ordinary_commands_is_read_to_the_end() -> None:
    written = "cat > f <<'E'\n" + "x = {'a': (1, 2), \"b\": `c`}\n" * 300 + "E\nrm -rf build"
    found = commands(written)
    assert not found.opaque
    assert found.commands[-1].program == "rm"
    assert not commands(" && ".join(["ls -la 'a b' \"$x\" | grep -v x > /dev/null"] * 60)).opaque


def test_without_the_parser_every_command_is_opaque() -> None:
    code = (
        "import sys\n"
        "sys.modules['tree_sitter'] = None\n"
        "from watchgate.core.policy.judging.command_finder import commands\n"
        "for text in ('ls', 'git status', 'rm -rf /', ''):\n"
        "    found = commands(text)\n"
        "    assert found.opaque and not found.commands, text\n"
        "    assert 'parser' in found.why\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)
