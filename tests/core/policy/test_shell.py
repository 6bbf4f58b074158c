"""The scanner: words, pipelines and positions."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from watchgate.core.policy.commands import MAX_COMMANDS, MAX_READ, commands
from watchgate.core.policy.shell import scan


def words(text: str) -> list[list[str]]:
    return [[word.text for word in found.words] for found in commands(text).found]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a b  c", [["a", "b", "c"]]),
        ("a 'b c' \"d e\"", [["a", "b c", "d e"]]),
        ("a\\ b c", [["a b", "c"]]),
        ("a;b&&c||d|e&f\ng", [["a"], ["b"], ["c"], ["d"], ["e"], ["f"], ["g"]]),
        ("a '' \"\"", [["a", "", ""]]),
        ("a # b; c", [["a"]]),
        ("a#b", [["a#b"]]),
        ("a \"x'y\" 'x\"y'", [["a", "x'y", 'x"y']]),
        ('a "\\$b\\"" \\$', [["a", '$b"', "$"]]),
        ("a $'\\x41\\n\\u00e9\\101\\''", [["a", "A\n\u00e9A'"]]),
        ("a 2>&1 >b <c 3>&-", [["a"]]),
        ("X=1 Y=2 a", [["a"]]),
        ("a $HOME ${B}", [["a", "$HOME", "${B}"]]),
    ],
)
def test_words_are_what_the_shell_would_see(text: str, expected: list[list[str]]) -> None:
    assert words(text) == expected


def test_redirects_are_not_words() -> None:
    simple = scan('a 2>/x >>y &>z <in 2>&1 > "o p"').pipelines[0][0]
    targets = [(r.operator, r.target.text, r.writes) for r in simple.redirects]
    assert targets == [
        (">", "/x", True),
        (">>", "y", True),
        ("&>", "z", True),
        ("<", "in", False),
        (">", "o p", True),
    ]


def test_a_quoted_here_document_is_data() -> None:
    found = commands("cat <<'E'\n$(rm x)\nE\nls")
    assert words("cat <<'E'\n$(rm x)\nE\nls") == [["cat"], ["ls"]]
    assert not found.opaque


def test_an_unquoted_here_document_is_expanded() -> None:
    assert ["rm", "x"] in words("cat <<E\n$(rm x)\nE")


def test_a_here_document_feeds_the_command_before_the_operator() -> None:
    assert words("bash <<'E' && ls\nrm x\nE") == [["bash"], ["rm", "x"], ["ls"]]


def test_a_word_knows_where_it_stands() -> None:
    text = "echo a; sh -c 'cd x && rm \"b c\"'"
    found = commands(text).found
    spans = {w.text: text[w.start : w.end] for command in found for w in command.words}
    assert spans["rm"] == "rm"
    assert spans["b c"] == '"b c"'


def test_pipelines_and_substitutions_feed_a_command() -> None:
    found = commands("a | b $(c) | d").found
    by_name = {command.program: command for command in found}
    assert [c.program for c in by_name["b"].piped_from] == ["a"]
    assert [c.program for c in by_name["b"].built_from] == ["c"]
    assert [c.program for c in by_name["d"].piped_from] == ["a", "c", "b"]


def test_parts_are_counted_at_the_top_only() -> None:
    found = commands("a; b | sh -c 'c; d'; e").found
    assert [(c.program, c.segment) for c in found] == [
        ("a", 1),
        ("b", 2),
        ("sh", 3),
        ("c", 3),
        ("d", 3),
        ("e", 4),
    ]


def test_a_text_of_endless_commands_is_cut_and_opaque() -> None:
    found = commands("a;" * 1000)
    assert found.opaque
    assert len(found.found) == MAX_COMMANDS


@pytest.mark.parametrize("wrapper", ["find . -exec ", "fd -x ", "watch ", "parallel ", "eval "])
@pytest.mark.parametrize("count", [20, 1000])
def test_wrappers_in_wrappers_are_read_up_to_a_limit(wrapper: str, count: int) -> None:
    found = commands(wrapper * count)
    assert found.opaque
    assert len(found.found) <= MAX_COMMANDS
    assert sum(len(each.words) for each in found.found[:-1]) <= MAX_READ


@given(st.text(alphabet="ab '\"\\$()`{}<>|&;\n#=E"))
def test_any_text_is_scanned_and_positions_point_into_it(text: str) -> None:
    for command in commands(text).found:
        for word in command.words:
            assert len(word.at) == len(word.text)
            assert 0 <= word.start <= word.end <= len(text)
