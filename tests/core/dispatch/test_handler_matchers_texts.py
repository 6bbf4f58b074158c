"""The matcher texts that each hook system writes."""

from __future__ import annotations

from typing import Any, get_args

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.core.builders import other, pre, shell
from tests.core.dispatching import handler
from watchgate.core.dispatch.handler_bus import Bus
from watchgate.core.dispatch.handler_config import (
    MatchConfig,
    MatcherError,
    matcher_from_config,
    read_matcher,
    why_impossible,
)
from watchgate.core.dispatch.handler_matchers import ANY, InputEquals, Matcher, NeverCondition
from watchgate.core.dispatch.handlers import RegistrationError
from watchgate.core.dispatch.presets import CONSOLE, PRESETS, DispatchPolicy, ProtocolName
from watchgate.core.model.events import Event, SessionChange, Tool

PROTOCOLS: tuple[ProtocolName, ...] = get_args(ProtocolName)


def using(name: str) -> Event:
    return pre(Tool(name, name, "other", {}, "hash"))


def fitting(protocol: ProtocolName, text: str | None, *names: str) -> list[str]:
    matcher = read_matcher(protocol, text)
    return [name for name in names if matcher.matches(using(name))]


@pytest.mark.parametrize("text", [None, "*"])
def test_cx_23_no_matcher_or_a_star_takes_every_tool(text: str | None) -> None:
    assert read_matcher("codex-fork-v1", text) == ANY


def test_cx_24_a_star_at_the_end_is_a_prefix() -> None:
    names = ("shell", "shell_command", "my_shell", "Shell")
    assert fitting("codex-fork-v1", "shell*", *names) == ["shell", "shell_command"]


def test_cx_25_a_star_elsewhere_is_a_letter() -> None:
    assert fitting("codex-fork-v1", "*shell", "shell", "my_shell", "*shell") == ["*shell"]
    names = ("read_a_file", "read_*_file")
    assert fitting("codex-fork-v1", "read_*_file", *names) == ["read_*_file"]
    assert fitting("codex-fork-v1", "a*b*", "a*bc", "axbc") == ["a*bc"]
    assert fitting("codex-fork-v1", "sh.ll", "shell") == []


@given(st.text(max_size=8), st.text(min_size=1, max_size=8))
def test_cx_25_a_text_means_itself_or_one_prefix(text: str, name: str) -> None:
    matcher = read_matcher("codex-fork-v1", text)
    exact, prefix = name == text, text.endswith("*") and name.startswith(text[:-1])
    assert matcher.matches(using(name)) is (exact or prefix)


@pytest.mark.parametrize("text", [None, "", "*"])
def test_cx_47_absent_empty_or_a_star_take_all(text: str | None) -> None:
    assert read_matcher("codex-fork-v2", text) == ANY


def test_cx_47_a_matcher_is_searched_for_anywhere() -> None:
    names = ("Bash", "BashOutput", "mcp__bash", "Read")
    assert fitting("codex-fork-v2", "Bash", *names) == ["Bash", "BashOutput"]
    assert fitting("codex-fork-v2", "^Bash$|^R", *names) == ["Bash", "Read"]


def test_cx_47_a_session_hook_matches_how_the_session_changed() -> None:
    def began(what: str) -> Event:
        return msgspec.structs.replace(other("session.start"), body=SessionChange(what))

    matcher = read_matcher("codex-fork-v2", "startup|clear")
    fits = [matcher.matches(began(what)) for what in ("startup", "resume", "clear")]
    assert fits == [True, False, True]
    assert not read_matcher("codex-fork-v2", "(").matches(began("startup"))


@pytest.mark.parametrize("protocol", ["codex-fork-v2", "codex"])
def test_cx_69_a_matcher_is_ignored_where_there_is_nothing_to_match(
    protocol: ProtocolName,
) -> None:
    assert read_matcher(protocol, "Bash").matches(other("prompt.submit"))
    assert why_impossible(read_matcher(protocol, "Bash")) is None


def test_cx_26_the_first_version_looks_at_tools_only() -> None:
    matcher = read_matcher("codex-fork-v1", "shell*")
    began = msgspec.structs.replace(other("session.start"), body=SessionChange("startup"))
    assert [matcher.matches(each) for each in (began, other("notice"), pre())] == [
        True,
        True,
        False,
    ]


def test_cx_48_a_pattern_is_held_against_both_names_of_a_tool() -> None:
    event = pre(Tool("Bash", "exec_command", "shell", {"command": "ls"}, "hash"))
    for text in ("^Bash$", "^exec_command$"):
        assert read_matcher("codex-fork-v2", text).matches(event)
    assert not read_matcher("codex-fork-v2", "^shell$").matches(event)


@pytest.mark.parametrize("text", ["(", "[", "*a", "a{2,1}", "(?<x"])
@pytest.mark.parametrize("protocol", ["codex-fork-v2", "codex"])
def test_cx_47_cx_69_a_broken_pattern_never_fits(protocol: ProtocolName, text: str) -> None:
    assert isinstance(read_matcher(protocol, text).conditions[0], NeverCondition)
    assert fitting(protocol, text, "Bash", text) == []
    assert "no regular expression" in (why_impossible(read_matcher(protocol, text)) or "")


@pytest.mark.parametrize("text", [None, "", "*"])
def test_cx_69_absent_empty_or_a_star_take_all(text: str | None) -> None:
    assert read_matcher("codex", text) == ANY


@pytest.mark.parametrize(
    ("text", "taken"),
    [
        ("Edit|Write", ["Edit", "Write"]),
        ("Edit", ["Edit"]),
        ("mcp__fs__read", ["mcp__fs__read"]),
        ("Edit|", ["Edit"]),
        ("mcp__.*", ["mcp__fs__read"]),
        ("Edit.?", ["Edit", "MultiEdit"]),
        ("^Edit$", ["Edit"]),
        ("rit", []),
        ("ri.e", ["Write"]),
    ],
)
def test_cx_69_plain_alternatives_are_exact_and_the_rest_is_a_pattern(
    text: str, taken: list[str]
) -> None:
    names = ("Edit", "Write", "MultiEdit", "mcp__fs__read", "Bash")
    assert fitting("codex", text, *names) == taken


def test_codewhale_conditions_are_globs_over_the_whole_name() -> None:
    names = ("exec_shell", "exec_python", "my_exec_shell", "read_file")
    assert fitting("codewhale", "exec_*", *names) == ["exec_shell", "exec_python"]
    assert fitting("codewhale", "*_shell", *names) == ["exec_shell", "my_exec_shell"]
    assert fitting("codewhale", "read_fil?", *names) == ["read_file"]
    assert fitting("codewhale", "read.file", *names) == []


@pytest.mark.parametrize("protocol", ["sandbox-env", "codex-notify"])
def test_hooks_of_some_systems_have_no_matcher(protocol: ProtocolName) -> None:
    assert read_matcher(protocol, None) == read_matcher(protocol, "") == ANY
    assert "no matcher" in (why_impossible(read_matcher(protocol, "Bash")) or "")


@pytest.mark.parametrize("protocol", ["console", "codex-fork-v1", "codewhale"])
def test_an_empty_text_is_no_star(protocol: ProtocolName) -> None:
    assert fitting(protocol, "", "Bash", "") == []


@given(st.sampled_from(PROTOCOLS), st.text(alphabet="ab*?[](){}|.^$\\_ \n", max_size=10))
def test_no_text_raises_and_none_but_a_star_or_nothing_takes_all(
    protocol: ProtocolName, text: str
) -> None:
    matcher = read_matcher(protocol, text)
    matcher.matches(using("Bash"))
    assert (matcher == ANY) <= (text in {"", "*"})


@pytest.mark.parametrize(
    ("match", "fits"),
    [
        ({}, True),
        ({"tool": "Bash"}, True),
        ({"tool": "Ba*"}, True),
        ({"tool": "*"}, True),
        ({"tool": "Read"}, False),
        ({"command_contains": "push"}, True),
        ({"command_word": "pus"}, False),
        ({"command_word": "push"}, True),
        ({"input_contains": '"command":"git'}, True),
        ({"input_equals": {"command": "git push"}}, True),
        ({"input_equals": {"command": "git"}}, False),
        ({"regex": "^git "}, True),
        ({"agent": "codex"}, False),
        ({"agent": "claude", "session": "one", "cwd": "/home/u"}, True),
        ({"tool": "Bash", "command_word": "push", "cwd": "/srv"}, False),
    ],
)
def test_every_key_of_a_match_table_counts(match: dict[str, Any], fits: bool) -> None:
    assert matcher_from_config(MatchConfig(**match)).matches(pre(shell("git push"))) is fits


def test_a_match_table_may_ask_for_no_input_at_all() -> None:
    assert matcher_from_config(MatchConfig(input_equals=None)) == Matcher((InputEquals(None),))


@pytest.mark.parametrize("key", ["tool", "command_word", "regex", "agent", "cwd"])
def test_an_empty_key_of_a_match_table_is_refused(key: str) -> None:
    with pytest.raises(MatcherError, match=rf"match.{key} = '' is empty: give it a text"):
        matcher_from_config(MatchConfig(**{key: ""}))


@pytest.mark.parametrize(
    ("key", "text", "why"),
    [
        ("regex", "(", "is no regular expression: missing"),
        ("tool", "*shell", "has a star that is not at its end"),
        ("tool", "mcp__*__read", "has a star that is not at its end"),
        ("cwd", "~/app", "is no absolute path"),
    ],
)
def test_a_match_that_could_never_fit_is_refused(key: str, text: str, why: str) -> None:
    with pytest.raises(MatcherError) as refused:
        matcher_from_config(MatchConfig(**{key: text}))
    assert str(refused.value).startswith(f"match.{key} = '{text}' {why}")


@pytest.mark.parametrize(
    "match",
    [{"tool": "Bash"}, {"command_contains": "rm"}, {"regex": "rm"}, {"input_contains": "x"}],
)
@pytest.mark.parametrize("preset", PRESETS.values(), ids=PRESETS)
def test_cw_26_sd_b5_a_condition_that_never_fits_its_event_is_refused(
    preset: DispatchPolicy, match: dict[str, str]
) -> None:
    matcher = matcher_from_config(MatchConfig(**match))
    Bus(preset, [handler("x", "tool.pre", "tool.post", match=matcher)])
    with pytest.raises(RegistrationError, match=r"a match on tools never fits prompt\.submit"):
        Bus(preset, [handler("x", "tool.pre", "prompt.submit", match=matcher)])


def test_conditions_without_a_tool_fit_any_event() -> None:
    Bus(
        CONSOLE,
        [handler("x", "notice", match=matcher_from_config(MatchConfig(agent="a", cwd="/srv")))],
    )
