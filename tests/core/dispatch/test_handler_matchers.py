"""Conditions on events: which calls they fit, down to the last JSON detail."""

from __future__ import annotations

import json
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.core.builders import other, post, pre, shell
from watchgate.core.dispatch.handler_matchers import (
    ANY,
    AgentCondition,
    CommandContains,
    CommandWord,
    Condition,
    FolderCondition,
    InputContains,
    InputEquals,
    InputRegex,
    Matcher,
    NeverCondition,
    SessionCondition,
    ToolPrefix,
    ToolRegex,
    json_equal,
)
from watchgate.core.dispatch.handler_matchers import ToolCondition as Named
from watchgate.core.model.events import Event, Tool

JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-3, 3) | st.sampled_from([0.0, 1.0, -1.5]) | st.text(),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3)
    ),
    max_leaves=8,
)


def calling(args: dict[str, Any], name: str = "fs:read", native: str = "fs_read") -> Event:
    return pre(Tool(name, native, "other", args, "hash"))


def fits(condition: Condition, event: Event) -> bool:
    return Matcher((condition,)).matches(event)


@pytest.mark.parametrize("name", ["fs_read", "fs:read"])
def test_sy_4_a_tool_filter_knows_both_names_of_a_tool(name: str) -> None:
    assert fits(Named((name,)), calling({}))
    assert fits(Named(("other", name)), calling({}))
    assert not fits(Named((name[:-1],)), calling({}))


@pytest.mark.parametrize(
    "condition", [Named(("",)), ToolPrefix(""), ToolRegex(""), CommandContains(""), InputRegex("")]
)
def test_sy_4_without_a_tool_no_tool_condition_holds(condition: Condition) -> None:
    assert not fits(condition, other("prompt.submit"))


@pytest.mark.parametrize(
    ("args", "text"),
    [
        ({"path": "a.py"}, '{"path":"a.py"}'),
        ({"b": 1, "a": 2}, '"b":1,"a":2'),
        ({"n": [1, 2]}, "[1,2]"),
        ({"x": None}, '"x":null'),
        ({"x": True}, "true"),
        ({}, "{}"),
    ],
)
def test_sy_5_a_text_is_looked_for_in_the_compact_json_of_the_input(
    args: dict[str, Any], text: str
) -> None:
    assert fits(InputContains(text), calling(args))
    assert not fits(InputContains(text + "!"), calling(args))


def test_sy_5_without_an_input_the_text_is_null() -> None:
    assert fits(InputContains("null"), other("prompt.submit"))
    assert fits(InputContains("ul"), other("prompt.submit"))
    assert not fits(InputContains("{}"), other("prompt.submit"))


@pytest.mark.parametrize(
    ("needle", "value", "found"),
    [
        ('say "hi"', 'say "hi"', False),
        (r"say \"hi\"", 'say "hi"', True),
        ("a\nb", "a\nb", False),
        (r"a\nb", "a\nb", True),
        ("a\\b", "a\\b", False),
        (r"a\\b", "a\\b", True),
        ("héllo", "héllo", True),
        ("日本", "日本", True),
        ("🙂", "🙂", True),
        (r"\u00e9", "é", False),
        ("</script>", "</script>", True),
        ("\x7f", "\x7f", True),
        (r"\u0001", "\x01", True),
        ("null", "null and void", True),
    ],
)
def test_sy_b5_a_needle_is_compared_with_the_text_as_json_escapes_it(
    needle: str, value: str, found: bool
) -> None:
    assert fits(InputContains(needle), calling({"text": value})) is found


def test_sy_b5_key_order_is_the_inputs_own_and_there_are_no_blanks() -> None:
    args = {"b": 1, "a": [1, 2]}
    assert fits(InputContains('"b":1,"a":[1,2]'), calling(args))
    assert not fits(InputContains('"a":[1,2],"b":1'), calling(args))
    assert not fits(InputContains('"b": 1'), calling(args))


def test_sy_b5_an_input_that_holds_null_is_not_a_missing_input() -> None:
    assert fits(InputContains("null"), calling({"x": None}))
    assert not fits(InputContains("null"), calling({"x": 0}))
    assert not fits(InputEquals(None), calling({"x": None}))
    assert not fits(InputEquals(None), calling({}))


@given(st.dictionaries(st.text(max_size=4), JSON, max_size=4), st.data())
def test_sy_5_every_piece_of_the_text_is_found_and_nothing_else(
    args: dict[str, Any], data: st.DataObject
) -> None:
    text = json.dumps(args, separators=(",", ":"), ensure_ascii=False)
    if text == msgspec.json.encode(args).decode():
        start = data.draw(st.integers(0, len(text)))
        assert fits(InputContains(text[start:]), calling(args))
    assert not fits(InputContains(text + " "), calling(args))


@pytest.mark.parametrize(
    ("one", "two"),
    [
        ({"a": 1}, {"a": 1.0}),
        ({"a": 1}, {"a": True}),
        ({"a": 0}, {"a": False}),
        ({"a": None}, {"a": False}),
        ({"a": None}, {}),
        ({"a": [1]}, {"a": [1.0]}),
        ({"a": [1, 2]}, {"a": [2, 1]}),
        ({"a": [1]}, {"a": [1, 1]}),
        ({"a": {"b": 1}}, {"a": {"b": "1"}}),
        ({"a": "x"}, {"a": "x "}),
        ({"a": ""}, {"a": None}),
    ],
)
def test_sy_6_values_that_python_calls_equal_are_not(one: dict[str, Any], two: Any) -> None:
    assert not fits(InputEquals(two), calling(one))
    assert not fits(InputEquals(one), calling(two))
    assert fits(InputEquals(one), calling(json.loads(json.dumps(one))))


def test_sy_6_the_order_of_keys_is_no_difference() -> None:
    assert fits(
        InputEquals({"b": [{"d": 2, "c": 1}], "a": 0}), calling({"a": 0, "b": [{"c": 1, "d": 2}]})
    )


def test_sy_6_without_an_input_it_is_null() -> None:
    assert fits(InputEquals(None), other("prompt.submit"))
    assert not fits(InputEquals({}), other("prompt.submit"))


@given(JSON, JSON)
def test_sy_6_equality_is_that_of_the_canonical_json_text(one: Any, two: Any) -> None:
    texts = [json.dumps(value, sort_keys=True) for value in (one, two)]
    assert json_equal(one, two) is (texts[0] == texts[1])
    assert json_equal(one, json.loads(texts[0]))


def test_sy_7_all_conditions_must_hold_and_none_takes_everything() -> None:
    both = Matcher((InputContains("rm -rf"), InputEquals({"command": "rm -rf /"})))
    assert both.matches(pre(Tool("Bash", "Bash", "shell", {"command": "rm -rf /"}, "h")))
    assert not both.matches(pre(Tool("Bash", "Bash", "shell", {"command": "rm -rf ."}, "h")))
    assert ANY.matches(pre())
    assert ANY.matches(other("notice"))


@pytest.mark.parametrize(
    ("command", "word", "substring"),
    [
        ("rm -rf build", True, True),
        ("npm run confirm", False, True),
        ("prettier --format", False, True),
        ("terraform plan", False, True),
        ("cd /tmp && rm x", True, True),
        ("true;rm x", True, True),
        ("(rm x)", True, True),
        ("echo 'rm'", True, True),
        ("echo 'do not rm'", False, True),
        ('"rm" x', True, True),
        ("r\\m x", True, False),
        ("r''m x", True, False),
        ("echo a#b; rm x", True, True),
        ("echo `rm x`", True, True),
        ("echo $(rm x)", True, True),
        ("ls\nrm x", True, True),
        ("true && \\\n rm x", True, True),
        ("true && \\\nrm x", True, True),
        ("rm 'unclosed", True, True),
        ("farm 'unclosed", True, True),
        ("", False, False),
    ],
)
def test_sd_b3_a_word_of_a_command_is_not_a_piece_of_another_word(
    command: str, word: bool, substring: bool
) -> None:
    event = pre(shell(command))
    assert fits(CommandWord("rm"), event) is word
    assert fits(CommandContains("rm"), event) is substring


def test_sd_9_a_command_filter_is_a_substring_and_needs_a_command() -> None:
    assert fits(CommandContains("git push"), pre(shell("cd x && git push")))
    assert fits(CommandContains("git push"), post(shell("git push")))
    for event in (calling({"path": "git push"}), calling({"command": 5}), other("message")):
        assert not fits(CommandContains("git push"), event)


def test_an_argv_is_a_command_too() -> None:
    event = calling({"command": ["git", "push", "a b"]})
    assert fits(CommandContains("git push 'a b'"), event)
    assert fits(CommandWord("a b"), event)


@given(st.text(alphabet="rm ;&|()'\"\\x#\n", max_size=12))
def test_sd_b3_a_word_between_blanks_is_found_whatever_is_around_it(text: str) -> None:
    assert fits(CommandWord("rm"), pre(shell(f"{text}\nrm x")))


def test_a_regular_expression_looks_at_the_command_or_else_at_the_input() -> None:
    assert fits(InputRegex(r"push\s+--force"), pre(shell("git push  --force")))
    assert fits(InputRegex(r'"path":"/etc'), calling({"path": "/etc/passwd"}))
    assert not fits(InputRegex("("), pre())


def test_agent_session_and_folder() -> None:
    event = pre(cwd="/srv/app")
    assert [fits(AgentCondition(name), event) for name in ("claude", "codex")] == [True, False]
    assert [fits(SessionCondition(name), event) for name in ("one", "on")] == [True, False]
    assert [
        fits(FolderCondition(folder), event) for folder in ("/srv/app", "/srv/", "/", "/srv/ap")
    ] == [
        True,
        True,
        True,
        False,
    ]


def test_what_could_not_be_read_fits_nothing() -> None:
    for event in (pre(), other("notice")):
        assert not fits(NeverCondition("a fault"), event)


@given(
    st.permutations(
        [AgentCondition("claude"), Named(("Bash",)), CommandContains("x"), FolderCondition("/home")]
    )
)
def test_what_names_alone_decide_is_split_off_and_nothing_is_lost(order: list[Condition]) -> None:
    named, left = Matcher(tuple(order)).split()
    assert set(map(type, named)) == {AgentCondition, Named}
    assert sorted(map(repr, (*named, *left))) == sorted(map(repr, order))
