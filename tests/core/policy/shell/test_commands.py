"""Commands with what feeds them, what they write, and the part of the text they belong to."""

from __future__ import annotations

import pytest

from watchgate.core.policy.judging.command_finder import MAX_COMMANDS, MAX_READ, commands
from watchgate.core.policy.shell.commands import Command


def named(text: str) -> dict[str, Command]:
    return {command.program: command for command in commands(text).commands}


def test_redirects_are_not_words() -> None:
    command = commands('a 2>/x >>y &>z <in 2>&1 3>&- > "o p" >|q').commands[0]
    assert [word.text for word in command.words] == ["a"]
    assert [(r.operator, r.target.text, r.writes, r.reads) for r in command.redirects] == [
        (">", "/x", True, False),
        (">>", "y", True, False),
        ("&>", "z", True, False),
        ("<", "in", False, True),
        (">&", "1", False, False),
        (">&", "-", False, False),
        (">", "o p", True, False),
        (">|", "q", True, False),
    ]


def test_an_ampersand_before_a_name_writes_a_file() -> None:
    assert commands("a >& f").commands[0].redirects[0].writes


@pytest.mark.parametrize("text", ["b && a > f", "b | a > f", "b; a 2>&1 > f", "! a > f"])
def test_a_redirect_belongs_to_the_last_command_before_it(text: str) -> None:
    found = named(text)
    assert any(redirect.writes for redirect in found["a"].redirects)
    assert "b" not in found or not found["b"].redirects


@pytest.mark.parametrize("text", ["(a; b) > f", "{ a; b; } > f", "for x in 1; do a; done > f"])
def test_a_redirect_of_a_group_is_a_command_of_its_own(text: str) -> None:
    bare = [command for command in commands(text).commands if not command.words]
    assert [r.target.text for command in bare for r in command.redirects] == ["f"]


def test_a_quoted_here_document_is_data() -> None:
    found = commands("cat <<'E'\n$(rm x)\n`y`\nE\nls")
    assert [command.program for command in found.commands] == ["cat", "ls"]
    assert found.commands[0].documents[0].text == "$(rm x)\n`y`\n"
    assert not found.opaque


def test_an_unquoted_here_document_is_expanded() -> None:
    found = commands("cat <<E\n$(rm x) $y\nE")
    assert [command.program for command in found.commands] == ["rm", "cat"]
    assert found.commands[1].documents[0].expands == "value"


def test_a_here_document_feeds_the_command_before_the_operator() -> None:
    found = commands("bash <<'E' && ls\nrm x\nE").commands
    assert [[word.text for word in command.words] for command in found] == [
        ["bash"],
        ["rm", "x"],
        ["ls"],
    ]


def test_pipelines_and_substitutions_feed_a_command() -> None:
    by_name = named("a | b $(c) | d")
    assert [c.program for c in by_name["b"].piped_from] == ["a"]
    assert [c.program for c in by_name["b"].built_from] == ["c"]
    assert [c.program for c in by_name["d"].piped_from] == ["a", "c", "b"]
    assert by_name["d"].reads_input
    assert not by_name["a"].reads_input


def test_a_group_is_fed_by_what_stands_before_it() -> None:
    by_name = named("a | while read l; do b; done")
    assert [c.program for c in by_name["b"].piped_from][:1] == ["a"]


def test_parts_are_counted_at_the_top_only() -> None:
    found = commands("a; b | sh -c 'c; d'; e $(f)").commands
    assert [(c.program, c.segment, c.nested) for c in found] == [
        ("a", 1, False),
        ("b", 2, False),
        ("sh", 3, False),
        ("c", 3, True),
        ("d", 3, True),
        ("f", 4, True),
        ("e", 4, False),
    ]


@pytest.mark.parametrize(
    "text",
    [
        "for x in 1 2; do a; b; done",
        "while a; do b; done",
        "until a; do b; done",
        "if a; then b; fi",
        "if false; then :; elif a; then b; fi",
        "case $x in y) a; b;; esac",
        "(a; b)",
        "{ a; b; }",
        "for ((i = 0; i < 3; i++)); do a; b; done",
        "f() { a; b; }",
        "select x in 1; do a; b; done",
    ],
)
def test_control_flow_is_looked_through(text: str) -> None:
    found = commands(text)
    assert {"a", "b"} <= {command.program for command in found.commands}
    assert not found.opaque


def test_assignments_are_told_from_words() -> None:
    command = commands("LANG=C PATH=/x a Y=1").commands[0]
    assert [word.text for word in command.assignments] == ["LANG=C", "PATH=/x"]
    assert [word.text for word in command.words] == ["a", "Y=1"]


def test_a_text_of_endless_commands_is_cut_and_opaque() -> None:
    found = commands("a;" * 1000)
    assert found.opaque
    assert len(found.commands) == MAX_COMMANDS


@pytest.mark.parametrize("first", ["bash -c 'a b'", "eval 'a b'", "`a b`"])
def test_a_script_in_an_early_command_is_read_whatever_follows_it(first: str) -> None:
    found = commands(first + "\nc" * 900)
    assert ["a", "b"] in [[word.text for word in command.words] for command in found.commands]
    assert found.opaque


def test_more_words_with_quotes_than_anybody_reads_are_opaque() -> None:
    assert not commands("a" + " 'b'" * 900).opaque
    found = commands("a" + " 'b'" * 1_100 + ' "$(c d)"')
    assert found.opaque
    assert {command.program for command in found.commands} == {"a", "c"}
    assert found.commands[-1].words[-1].dynamic


def test_braces_for_more_words_than_anybody_reads_are_opaque() -> None:
    assert not commands("a" + " {1..60}" * 10).opaque
    found = commands("a" + " {1..60}" * 200)
    assert found.opaque
    assert len(found.commands[-1].words) < 1_500


@pytest.mark.parametrize("wrapper", ["find . -exec ", "fd -x ", "watch ", "parallel ", "eval "])
def test_wrappers_in_wrappers_are_read_up_to_a_limit(wrapper: str) -> None:
    found = commands(wrapper * 20)
    assert found.opaque
    assert len(found.commands) <= MAX_COMMANDS
    assert sum(len(each.words) for each in found.commands[:-1]) <= MAX_READ
