"""Shapes in which parsers and shells disagree, and texts that nobody can read before they run."""

from __future__ import annotations

import subprocess
import sys

import pytest

from watchgate.core.policy.shell.finder import commands

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
    "perl -e 'unlink'",
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


@pytest.mark.parametrize("text", OPAQUE)
def test_what_is_not_understood_is_opaque_and_says_why(text: str) -> None:
    found = commands(text)
    assert found.opaque
    assert found.why


@pytest.mark.parametrize("text", READ)
def test_what_people_write_is_not_opaque(text: str) -> None:
    found = commands(text)
    assert (found.opaque, found.why) == (False, "")


@pytest.mark.parametrize("space", ["\x0c", "\r", "\x0b", "\xa0", "\u2003"])
def test_what_the_shell_takes_for_a_letter_separates_no_words(space: str) -> None:
    assert commands(f"a{space}b").found[0].words[0].text == f"a{space}b"


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
    assert [word.text for word in commands(text).found[-1].words] == words


def test_a_long_text_of_ordinary_commands_is_read_to_the_end() -> None:
    written = "cat > f <<'E'\n" + "x = {'a': (1, 2), \"b\": `c`}\n" * 300 + "E\nrm -rf build"
    found = commands(written)
    assert not found.opaque
    assert found.found[-1].program == "rm"
    assert not commands(" && ".join(["ls -la 'a b' \"$x\" | grep -v x > /dev/null"] * 60)).opaque


def test_without_the_parser_every_command_is_opaque() -> None:
    code = (
        "import sys\n"
        "sys.modules['tree_sitter'] = None\n"
        "from watchgate.core.policy.shell.finder import commands\n"
        "for text in ('ls', 'git status', 'rm -rf /', ''):\n"
        "    found = commands(text)\n"
        "    assert found.opaque and not found.found, text\n"
        "    assert 'parser' in found.why\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)
