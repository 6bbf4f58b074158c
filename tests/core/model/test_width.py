"""A grant answers by its width, and nothing in it leads out of the folder."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.core.builders import START
from tests.core.gate.grants.calls import allowed, asked, call, finding, judged, segments, tool
from watchgate.core.gate.grant_book import Grants
from watchgate.core.gate.grant_rules import why_no_grant
from watchgate.core.model.assessment import Assessment
from watchgate.core.model.standing_grant import WIDTHS, GrantRule, Width, stay_inside, width_of

SCOPES = ("turn", "session", "15m", "always")
WORK = (finding("work.test", effect="ordinary"),)
TEST = "pytest -q"


def granted(
    width: Width | None, scope: str = "session", command: str = TEST, **more: Any
) -> Grants:
    grants = Grants()
    found = judged(command, findings=more.pop("findings", WORK))
    grants.give(allowed(asked(call(command), found), scope, width=width, **more), START)
    return grants


def covers(grants: Grants, command: str, found: Assessment | None = None, **fields: Any) -> bool:
    event = call(command, **fields)
    assert event.tool is not None
    found = found or judged(command, findings=WORK)
    return grants.covering(event, event.tool, found, START) is not None


def test_an_allow_for_good_is_for_the_program_where_nothing_else_was_chosen() -> None:
    assert [width_of(scope, None) for scope in SCOPES] == ["exact", "exact", "exact", "program"]
    assert width_of("always", "exact") == "exact"


@pytest.mark.parametrize("scope", SCOPES)
@pytest.mark.parametrize(
    ("width", "again", "further", "another"),
    [("exact", True, False, False), ("program", True, True, False), ("folder", True, True, True)],
)
def test_each_width_lets_through_more(
    scope: str, width: Width, again: bool, further: bool, another: bool
) -> None:
    grants = granted(width, scope)
    answered = [covers(grants, each) for each in (TEST, "pytest tests/a.py", "make build")]
    assert answered == [again, further, another]


@pytest.mark.parametrize("scope", ["turn", "session", "15m"])
@pytest.mark.parametrize("width", ["program", "folder"])
def test_ap_8_a_wide_grant_that_is_not_for_good_ends_with_its_session(
    scope: str, width: Width
) -> None:
    grants = granted(width, scope)
    assert not covers(grants, TEST, session="two")
    assert not covers(grants, TEST, agent="codex")
    grants.end_session("claude", "one", START)
    assert not covers(grants, TEST)
    assert grants.permanent() == ()


@pytest.mark.parametrize("width", ["program", "folder"])
def test_a_wide_grant_for_a_turn_or_15_minutes_ends_with_those(width: Width) -> None:
    turn, quarter = granted(width, "turn"), granted(width, "15m")
    assert not covers(turn, TEST, turn="t2")
    turn.end_turn("claude", "one", START)
    assert not covers(turn, TEST)
    assert quarter.next_deadline() == START.mono_s + 900
    quarter.expire(START.plus(900))
    assert not covers(quarter, TEST)


def test_a_grant_for_the_folder_comes_back_in_a_new_core() -> None:
    (kept,) = granted("folder", "always").permanent()
    again = Grants()
    again.restore((kept,), START)
    assert covers(again, "make build", session="two")
    assert not covers(again, "make build", cwd="/elsewhere")


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize(
    "graver",
    [
        {"risk": "high"},
        {"risk": "critical"},
        {"risk": "unknown"},
        {"opaque": True},
        {"decision": "deny"},
        {"findings": (finding(),)},
        {"findings": (finding("git.push", effect="lasting"),)},
        {"findings": (*WORK, finding("x", always_ask=True))},
        {"findings": (*WORK, finding("policy.redirect"))},
        {"segments": segments(TEST, dynamic=True), "findings": WORK},
        {"segments": segments(TEST, unworded=True), "findings": WORK},
    ],
)
def test_no_width_answers_what_is_graver_or_was_not_found_then(
    width: Width, graver: dict[str, Any]
) -> None:
    grants = granted(width, "always")
    assert covers(grants, TEST)
    found = judged(TEST, **{"findings": WORK, **graver})
    assert not covers(grants, TEST, found)


@pytest.mark.parametrize("width", ["program", "folder"])
@pytest.mark.parametrize(
    "words",
    [
        ("/tmp/x",),
        ("~/x",),
        ("..",),
        ("a/../../b",),
        ("--rootdir=/srv",),
        ("--rootdir=../other",),
        ("-C/srv",),
        ("-C..",),
        ("https://evil.example/x",),
        ("git@evil.example:x",),
        ("evil.example:x",),
        ("--repo", "evil/x"),
        ("--repo=evil/x",),
        ("-R", "evil/x"),
        ("--profile", "prod"),
        ("--endpoint-url", "evil.example"),
        ("--context=prod",),
        ("--host", "evil.example"),
        ("$HOME/x",),
        ("C:\\x",),
    ],
)
def test_ap_8_further_words_stay_in_the_folder(width: Width, words: tuple[str, ...]) -> None:
    assert not covers(granted(width, "always"), " ".join(("pytest", *words)))


@pytest.mark.parametrize(
    "word", ["tests/a.py::test", "a.py::test", "a.py:12", "main:main", "lint:fix"]
)
def test_a_colon_alone_names_no_other_machine(word: str) -> None:
    assert stay_inside([word])


def test_a_change_of_the_folder_is_not_in_the_folder() -> None:
    grants = granted("folder")
    assert not covers(grants, "x", judged("cd web", TEST, findings=WORK))


@pytest.mark.parametrize(
    ("command", "fields", "width", "says"),
    [
        (TEST, {}, "exact", ""),
        (TEST, {}, "program", ""),
        (TEST, {"findings": WORK}, "folder", ""),
        (TEST, {}, "folder", "no rule knows a command of it"),
        ("pytest /srv/x", {"findings": WORK}, "folder", "part 1 leads out of the folder"),
        (TEST, {"risk": "high"}, "exact", "of high risk is decided each time"),
        (TEST, {"risk": "high"}, "folder", "of high risk is decided each time"),
    ],
)
def test_why_a_width_is_not_offered(
    command: str, fields: dict[str, Any], width: Width, says: str
) -> None:
    data = asked(call(command), judged(command, **fields)).data
    found = why_no_grant(data, width)
    assert says in found
    assert bool(found) is bool(says)


def test_a_tool_without_words_is_allowed_as_a_tool() -> None:
    edit = tool("Edit", "edit", file_path="a.py")
    data = asked(call(TEST), judged("Edit"), tool=edit).data
    assert why_no_grant(data, "program") == ""
    assert "allow the tool" in why_no_grant(data, "exact")
    assert "allow the tool" in why_no_grant(data, "folder")


def test_a_program_whose_words_led_out_is_allowed_in_these_words() -> None:
    grants = granted("program", command="pytest /srv/x")
    assert covers(grants, "pytest /srv/x")
    assert not covers(grants, "pytest /srv/x -q")
    assert not covers(grants, "pytest a")


NAMES = st.from_regex(r"[A-Za-z0-9_][A-Za-z0-9_.+-]{0,12}", fullmatch=True)


@given(st.lists(NAMES, min_size=1, max_size=4))
def test_names_below_the_folder_stay_inside(names: list[str]) -> None:
    assert stay_inside(("/".join(names), f"--out={'/'.join(names)}", f"./{names[0]}"))


@given(st.sampled_from(("", "--to=", "a,", "-o", "x:", "'")), NAMES)
def test_a_path_from_the_root_or_above_never_stays_inside(before: str, name: str) -> None:
    for start in ("/", "../", "~/") if before != "-o" else ("/", "../"):
        assert not stay_inside((f"{before}{start}{name}",))


def test_a_rule_of_ones_own_goes_with_the_program_alone() -> None:
    rule = GrantRule(words=("pytest",), more=True)
    request = asked(call(TEST), judged(TEST))
    for width in ("exact", "folder"):
        with pytest.raises(ValueError, match="only the width program"):
            Grants().give(allowed(request, "always", rule, width=width), START)
