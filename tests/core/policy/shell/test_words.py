"""Words are what the shell would pass on, and say what is only known at run time."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from watchgate.core.policy.judging.command_finder import commands
from watchgate.core.policy.shell.commands import Word


def words(text: str) -> list[list[str]]:
    return [[word.text for word in found.words] for found in commands(text).commands]


def last_word(text: str) -> Word:
    return commands(text).commands[-1].words[-1]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a b  c", [["a", "b", "c"]]),
        ("a 'b c' \"d e\"", [["a", "b c", "d e"]]),
        ("a\\ b c", [["a b", "c"]]),
        ("a;b&&c||d|e&f\ng", [["a"], ["b"], ["c"], ["d"], ["e"], ["f"], ["g"]]),
        ("a '' \"\"", [["a", "", ""]]),
        ("a # b; c", [["a"]]),
        ("a \"x'y\" 'x\"y'", [["a", "x'y", 'x"y']]),
        ('a "\\$b\\"" \\$', [["a", '$b"', "$"]]),
        ("a $'\\x41\\n\\u00e9\\101\\''", [["a", "A\n\u00e9A'"]]),
        ('a $"b c"', [["a", "b c"]]),
        ("a 2>&1 >b <c 3>&-", [["a"]]),
        ("X=1 Y=2 a", [["a"]]),
        ("a $HOME ${B}", [["a", "$HOME", "${B}"]]),
        ("a > f b c", [["a", "b", "c"]]),
        (">f a b", [["a", "b"]]),
        ("a\u00a0b c", [["a\u00a0b", "c"]]),
    ],
)
def test_words_are_what_the_shell_would_see(text: str, expected: list[list[str]]) -> None:
    assert words(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a -del{ete,x}", ["a", "-delete", "-delx"]),
        ("a {b,c}{1,2}", ["a", "b1", "b2", "c1", "c2"]),
        ("a {1..3} {c..a} {01..03..2}", ["a", "1", "2", "3", "c", "b", "a", "01", "03"]),
        ("a '{b,c}' \\{b,c} {b} {}", ["a", "{b,c}", "{b,c}", "{b}", "{}"]),
        ("a x{b,{c,d}}y", ["a", "xby", "xcy", "xdy"]),
    ],
)
def test_braces_become_the_words_that_they_stand_for(text: str, expected: list[str]) -> None:
    found = commands(text)
    assert [word.text for word in found.commands[0].words] == expected
    assert not found.opaque


@pytest.mark.parametrize(
    ("text", "expands", "prefix"),
    [
        ("a b", "", "b"),
        ("a *.py", "glob", ""),
        ("a src/*.py", "glob", "src/"),
        ("a '*'", "", "*"),
        ("a x[12]", "glob", "x"),
        ("a $x", "words", ""),
        ('a "$x"', "value", ""),
        ('a "--file=$x"', "value", "--file="),
        ("a --file=$x", "words", "--file="),
        ("a '$x'", "", "$x"),
        ('a "$@"', "words", ""),
        ('a "${x[@]}"', "words", ""),
        ("a $(b)", "words", ""),
        ('a "$(b)"', "value", ""),
        ("a <(b)", "value", ""),
        ("a $((1+2))", "value", ""),
        ("a $?", "value", ""),
        ("a ~/b", "", "~/b"),
    ],
)
def test_a_word_says_what_the_shell_would_make_of_it(text: str, expands: str, prefix: str) -> None:
    word = next(c for c in commands(text).commands if c.program == "a").words[-1]
    assert (word.expands, word.prefix) == (expands, prefix)


def test_a_word_knows_where_it_stands() -> None:
    text = "echo a; sh -c 'cd x && rm \"b c\"'"
    found = commands(text).commands
    spans = {w.text: text[w.start : w.end] for command in found for w in command.words}
    assert spans["rm"] == "rm"
    assert spans["b c"] == '"b c"'


@given(st.text(alphabet="ab '\"\\$()`{}<>|&;\n#=E,.1\u00e9"))
def test_any_text_is_read_and_positions_point_into_it(text: str) -> None:
    for command in commands(text).commands:
        for word in (*command.words, *command.assignments, *command.documents):
            assert len(word.at) == len(word.text)
            assert 0 <= word.start <= word.end <= len(text)
            assert all(word.start <= position < word.end for position in word.at)
            assert word.text.startswith(word.prefix)
            hash(word)
