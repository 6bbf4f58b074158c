"""AP-18: whatever ends a request, its record says who or what that was, when, and after how long.

Each end has words of its own: a person's no is never told for silence, nor silence for a person.
"""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.core.builders import permission, post, pre, shell
from tests.core.world import World
from watchgate.core.model.requests import ApprovalRequest

End = Callable[[World, ApprovalRequest], object]
WAITED_S = 7.25

ENDS: list[tuple[End, str, str]] = [
    (lambda w, r: w.decide(r, "allow"), "allowed-by-operator", "operator ann"),
    (lambda w, r: w.decide(r, "deny"), "denied-by-operator", "operator ann"),
    (lambda w, r: w.decide(r, "handback"), "handed-back-by-operator", "operator ann"),
    (lambda w, r: w.hang_up(1), "withdrawn", "the agent"),
    (lambda w, r: w.send(post()), "answered-elsewhere", "a sender that is not known"),
    (
        lambda w, r: w.do(w.engine.console_count(0, w.now)),
        "denied-no-approver",
        "watchgate",
    ),
    (
        lambda w, r: w.do(w.engine.close_all("denied-core-stopped", "", w.now)),
        "denied-core-stopped",
        "watchgate",
    ),
    (lambda w, r: w.do(w.engine.failed(1, "a fault", w.now)), "denied-failure", "watchgate"),
]


@pytest.mark.parametrize(("end", "word", "by"), ENDS, ids=[word for _, word, _ in ENDS])
def test_ap_18_the_record_of_an_end_names_who_or_what_it_was(end: End, word: str, by: str) -> None:
    world = World(unattended="deny")
    request = world.ask(pre(), 1)
    world.advance(WAITED_S)
    end(world, request)
    (record,) = world.all("approval.decided", request)
    assert (record.data["word"], record.data["by"]) == (word, by)
    assert record.data["waited_s"] == WAITED_S
    assert record.at == world.now.wall_us


def test_ap_18_silence_is_recorded_as_nobodys_word_after_the_whole_wait() -> None:
    world = World()
    request = world.ask(pre(), 1)
    world.advance(300)
    ending = world.ending(request)
    assert (ending["word"], ending["by"], ending["waited_s"]) == (
        "denied-by-timeout",
        "nobody",
        300.0,
    )


def test_ap_18_a_grants_answer_names_the_grant_and_whose_it_is() -> None:
    world = World("strict")
    world.allow(world.ask(pre(shell("medium x", "c1")), 1), scope="session")
    world.send(pre(shell("medium x", "c2")), 2)
    ending = world.all("approval.decided")[-1].data
    assert (ending["word"], ending["by"]) == ("allowed-by-grant", "grant #0001 of operator ann")


def test_ap_18_a_rules_denial_names_the_rule_and_no_person() -> None:
    world = World()
    world.send(pre(shell("deny x", "c1")), 1)
    data = world.all("tool.pre")[0].data
    assert (data["word"], data["rule"]) == ("denied-by-rule", "test.rule")
    assert world.all("approval.decided") == []


@pytest.mark.parametrize(
    ("unattended", "consoles", "left", "cause"),
    [
        ("deny", 0, False, "no console is attached"),
        ("deny", 1, True, "the last console left"),
    ],
)
def test_ap_3_a_denial_for_want_of_an_approver_says_which_want_it_was(
    unattended: str, consoles: int, left: bool, cause: str
) -> None:
    world = World(consoles=consoles, unattended=unattended)
    world.send(pre(), 1)
    if left:
        world.do(world.engine.console_count(0, world.now))
    (record,) = world.all("approval.decided")
    assert record.data["reason"] == cause


def test_ap_4_the_answer_of_a_connection_that_left_is_told_to_no_other() -> None:
    world = World()
    first = world.ask(pre(shell("high a", "a")), 1)
    second = world.ask(permission(shell("high b", "b")), 2)
    world.hang_up(1)
    assert world.pending == {second.id}
    assert world.broker.of_conn(1) is None
    assert world.ending(first)["word"] == "withdrawn"
