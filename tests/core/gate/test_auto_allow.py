"""An allow rule is told to an agent only where the configuration says so, and from the disk."""

from __future__ import annotations

import pytest

from tests.core.builders import ONLY_DENIES, permission, pre, shell
from tests.core.world import World
from watchgate.core.model.events import Lane
from watchgate.core.model.verdicts import SayAllow, SayDeny, SayNothing
from watchgate.core.policy.rules.profiles import Profile


def test_without_it_an_allow_rule_only_hands_back() -> None:
    world = World()
    world.send(pre(shell("allow x", "c1")), 1)
    assert world.reply(1) == SayNothing()


@pytest.mark.parametrize("profile", ["guard", "strict"])
def test_with_it_the_agent_is_told_once_the_allow_is_on_disk(profile: Profile) -> None:
    world = World(profile, auto_allow=True)
    world.send(pre(shell("allow x", "c1")), 1)
    assert 1 not in world.replies
    world.commit()
    assert world.reply(1) == SayAllow()
    (decided,) = world.all("approval.decided")
    assert (decided.data["word"], decided.data["by"]) == ("allowed-by-rule", "rule test.rule")


def test_where_the_disk_refuses_it_nothing_is_allowed() -> None:
    world = World("strict", auto_allow=True)
    world.send(pre(shell("allow x", "c1")), 1)
    world.commit(ok=False)
    assert isinstance(world.reply(1), SayDeny)


def test_without_a_journal_it_hands_back() -> None:
    world = World(auto_allow=True)
    world.engine.status.journal_lost = "disk full"
    world.send(pre(shell("allow x", "c1"), lane=Lane.GATE_READ), 1)
    assert world.reply(1) == SayNothing()


@pytest.mark.parametrize("word", ["low", "medium", "high", "unknown"])
def test_nothing_but_an_allow_rule_is_ever_told_so(word: str) -> None:
    world = World(auto_allow=True)
    world.send(pre(shell(f"{word} x", "c1")), 1)
    assert not world.commits
    assert world.replies.get(1, [SayNothing()]) == [SayNothing()]


def test_an_agent_that_cannot_be_told_is_handed_back() -> None:
    world = World(auto_allow=True)
    world.send(pre(shell("allow x", "c1"), can=ONLY_DENIES), 1)
    assert world.reply(1) == SayNothing()


def test_in_watch_nothing_is_told() -> None:
    world = World("watch", auto_allow=True)
    world.send(pre(shell("allow x", "c1")), 1)
    assert world.reply(1) == SayNothing()


def test_the_agents_own_question_is_answered_by_the_rule() -> None:
    world = World(auto_allow=True)
    world.send(permission(shell("allow x", "c1")), 1)
    world.commit()
    assert world.reply(1) == SayAllow()


def test_without_it_the_agents_own_question_is_put_to_an_operator() -> None:
    world = World()
    world.ask(permission(shell("allow x", "c1")), 1)
