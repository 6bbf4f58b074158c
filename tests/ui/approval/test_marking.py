"""Marks: only what is alike is allowed together, and only what was marked."""

from __future__ import annotations

from typing import Any

import pytest

from tests.ui.open_requests import FIRST, SECOND, THIRD, asked
from watchgate.core.model.assessment import Finding, Segment
from watchgate.ui.approval.marking import Marks, alike, in_short

ONE = asked(id=FIRST)
SAME = asked("npm run build --mode production", id=SECOND)


def test_the_same_subcommand_under_the_same_rule_is_alike() -> None:
    assert alike(ONE, [ONE, SAME]) == 1


@pytest.mark.parametrize(
    ("what", "facts"),
    [
        ("another subcommand", {"command": "npm run deploy"}),
        ("another folder", {"cwd": "/home/ana/src/web"}),
        ("another rule", {"rule": "pkg.install"}),
        ("another finding", {"findings": (Finding("pkg.install", "installs", "medium"),)}),
        ("another risk", {"risk": "low"}),
        ("a text that could not be read", {"opaque": True}),
        (
            "words that are known only when it runs",
            {"segments": (Segment(1, (0, 4), ("npm", "run", "build"), dynamic=True),)},
        ),
    ],
)
def test_what_differs_in_more_than_arguments_is_not_alike(what: str, facts: dict[str, Any]) -> None:
    command = facts.pop("command", "npm run build --mode production")
    other = asked(command, id=SECOND, **facts)
    assert alike(ONE, [ONE, other]) == 0, what


def test_high_requests_are_alike_with_nothing() -> None:
    high = [asked(id=FIRST, risk="high"), asked(id=SECOND, risk="high")]
    assert alike(high[0], high) == 0


def test_marked_ones_are_allowed_together_only_through_one_of_them() -> None:
    marks = Marks()
    assert marks.toggle(ONE) == "#c1ah is marked"
    assert marks.together(FIRST) == ()
    assert marks.toggle(SAME) == "#d2bh is marked: a allows the 2 marked together"
    assert marks.together(FIRST) == (ONE, SAME)
    assert marks.together(THIRD) == ()


def test_a_mark_is_taken_away_by_the_same_key() -> None:
    marks = Marks()
    marks.toggle(ONE)
    marks.toggle(ONE)
    assert not marks.ids


def test_what_is_not_like_the_marked_ones_is_not_marked() -> None:
    marks = Marks()
    marks.toggle(ONE)
    said = marks.toggle(asked("npm publish", id=SECOND))
    assert said == "#d2bh is not like #c1ah, which is marked: not marked"
    assert marks.ids == {FIRST}


def test_a_settled_request_loses_its_mark_and_a_new_one_gets_none() -> None:
    marks = Marks()
    marks.toggle(ONE)
    marks.toggle(SAME)
    marks.keep({FIRST: ONE, THIRD: asked(id=THIRD)})
    assert marks.ids == {FIRST}


def test_a_request_whose_digest_changed_is_not_the_one_that_was_marked() -> None:
    marks = Marks()
    marks.toggle(ONE)
    marks.keep({FIRST: asked(id=FIRST, digest="0" * 64)})
    assert not marks.ids


def test_many_requests_that_were_decided_alike_are_counted_and_few_are_named() -> None:
    assert in_short(["#a denied", "#b denied", "#c denied"]) == [
        "#a denied", "#b denied", "#c denied",
    ]  # fmt: skip
    assert in_short([f"#{each} denied" for each in range(20)]) == ["20 denied"]
    mixed = ["#a denied", "#b denied", "#c denied", "#d was settled before"]
    assert in_short(mixed) == mixed
