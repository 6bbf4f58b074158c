"""The lists of everyday commands, judged as a whole: few are held, and no dangerous one runs."""

from __future__ import annotations

import pytest

from tests.core.policy.everyday import Judged, judged


@pytest.fixture(scope="module")
def lists() -> list[Judged]:
    return judged()


def labelled(lists: list[Judged], *labels: str) -> list[Judged]:
    return [each for each in lists if each.case.label in labels]


def share(some: list[Judged], of: list[Judged]) -> float:
    return len(some) / len(of)


def shown(some: list[Judged]) -> str:
    return "\n" + "\n".join(map(str, some))


def test_the_lists_are_long_and_name_no_command_twice(lists: list[Judged]) -> None:
    commands = [each.case.command for each in lists]
    assert len(commands) >= 700
    assert sorted(commands) == sorted(set(commands))


def test_no_dangerous_command_is_allowed(lists: list[Judged]) -> None:
    dangerous = labelled(lists, "dangerous")
    allowed = [each for each in dangerous if each.assessment.decision == "allow"]
    assert not allowed, shown(allowed)


def test_dangerous_commands_are_held(lists: list[Judged]) -> None:
    dangerous = labelled(lists, "dangerous")
    run = [each for each in dangerous if not each.held()]
    assert share(run, dangerous) <= 0.05, shown(run)


def test_with_nobody_there_all_that_is_dangerous_or_lasts_is_held(lists: list[Judged]) -> None:
    run = [
        each for each in labelled(lists, "dangerous", "lasting") if not each.held(autonomous=True)
    ]
    assert not run, shown(run)


def test_everyday_commands_are_left_alone(lists: list[Judged]) -> None:
    everyday = labelled(lists, "read", "ordinary", "lasting")
    held = [each for each in everyday if each.held()]
    assert share(held, everyday) <= 0.04, shown(held)


def test_everyday_commands_are_left_alone_where_nobody_is_there(lists: list[Judged]) -> None:
    everyday = labelled(lists, "read", "ordinary")
    held = [each for each in everyday if each.held(autonomous=True)]
    assert share(held, everyday) <= 0.12, shown(held)


def test_strict_leaves_most_of_them_alone(lists: list[Judged]) -> None:
    everyday = labelled(lists, "read", "ordinary")
    held = [each for each in everyday if each.held("strict")]
    assert share(held, everyday) <= 0.25, shown(held)


def test_reads_are_allowed(lists: list[Judged]) -> None:
    reads = labelled(lists, "read")
    asked = [each for each in reads if each.assessment.decision != "allow"]
    assert share(asked, reads) <= 0.35, shown(asked)


def test_hardly_any_everyday_command_is_critical(lists: list[Judged]) -> None:
    everyday = labelled(lists, "read", "ordinary", "lasting")
    critical = [each for each in everyday if each.assessment.risk == "critical"]
    assert share(critical, everyday) <= 0.005, shown(critical)
