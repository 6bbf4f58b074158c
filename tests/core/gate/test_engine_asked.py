"""What an agent asks a person: shown, answered where the agent can be told, else handed back."""

from __future__ import annotations

from typing import Any

import pytest

from tests.core.builders import BELOW, other, permission, post, pre, question
from tests.core.world import World
from watchgate.core.base.ids import digest
from watchgate.core.gate.operator_decisions import Refused
from watchgate.core.model.events import Can, Choice, Lane, Question, Tool, ToolCall
from watchgate.core.model.requests import Status
from watchgate.core.model.verdicts import SayAllow, SayAnswer, SayDeny, SayNothing
from watchgate.core.policy.rules.profiles import Profile

COLOUR = Question("Which colour?", choices=(Choice("red"), Choice("blue")), free_text=False)
NAME = Question("Which name?")


def same_call(asked_as: ToolCall, call_id: str) -> Tool:
    tool = asked_as.tool
    return Tool(tool.name, tool.native_name, tool.cls, tool.input, tool.input_hash, call_id)


@pytest.mark.parametrize("profile", ["watch", "guard", "strict"])
def test_a_question_waits_as_an_item_of_its_own_kind_in_every_profile(profile: Profile) -> None:
    world = World(profile)
    request = world.ask(question(COLOUR, NAME), 1)

    assert request.data.asks == "question"
    assert request.data.questions == (COLOUR, NAME)
    assert request.data.offered == ("answer", "deny", "handback")
    assert request.data.scopes == ("once",)
    assert (request.data.silence, request.data.risk) == ("handback", "low")


def test_an_answer_is_told_in_the_order_of_the_questions_once_it_is_on_disk() -> None:
    world = World()
    request = world.ask(question(COLOUR, NAME), 1)
    world.decide(request, "answer", answers=(("blue",), ("Ada",)))
    assert 1 not in world.replies, "not before the disk has it"
    world.commit()

    assert world.reply(1) == SayAnswer((("blue",), ("Ada",)))
    assert world.ending(request)["word"] == "answered-by-operator"
    assert world.ending(request)["answers"] == (("blue",), ("Ada",))


@pytest.mark.parametrize(
    ("answers", "fault"),
    [
        ((), "one answer for each question"),
        ((("blue",),), "one answer for each question"),
        ((("green",), ("Ada",)), "none of its choices"),
        ((("blue", "red"), ("Ada",)), "only one answer"),
        ((("blue",), ("",)), "cannot be empty"),
    ],
)
def test_an_answer_that_does_not_fit_is_refused_and_changes_nothing(
    answers: tuple[tuple[str, ...], ...], fault: str
) -> None:
    world = World()
    request = world.ask(question(COLOUR, NAME), 1)
    with pytest.raises(Refused, match=fault) as refused:
        world.decide(request, "answer", answers=answers)
    assert refused.value.code == "bad_request"
    assert request.status is Status.PENDING


def test_a_question_is_not_allowed_but_answered() -> None:
    world = World()
    request = world.ask(question(COLOUR), 1)
    with pytest.raises(Refused, match="watchgate answer") as refused:
        world.decide(request, "allow")
    assert refused.value.code == "not_offered"


def test_an_approval_and_a_plan_have_no_answer() -> None:
    world = World()
    for conn, event in enumerate((permission(), question(cls="plan")), 1):
        request = world.ask(event, conn)
        with pytest.raises(Refused, match="not offered"):
            world.decide(request, "answer", answers=(("yes",),))


def test_whoever_may_not_allow_may_not_answer_either() -> None:
    world = World()
    request = world.ask(question(COLOUR), 1)
    with pytest.raises(Refused) as refused:
        world.decide(request, "answer", answers=(("red",),), proof=BELOW)
    assert refused.value.code == "self_approval"


@pytest.mark.parametrize("facts", [{"digest": None}, {"digest": "0" * 64}, {"shown_ms": 100}])
def test_an_answer_needs_what_an_allow_needs(facts: dict[str, Any]) -> None:
    world = World()
    request = world.ask(question(COLOUR), 1)
    with pytest.raises(Refused):
        world.decide(request, "answer", answers=(("red",),), **facts)
    assert request.status is Status.PENDING


def test_a_plan_is_allowed_or_denied_with_a_comment() -> None:
    world = World()
    good, bad = (
        world.ask(question(cls="plan", session=name), n) for n, name in ((1, "a"), (2, "b"))
    )
    assert good.data.asks == "plan"
    assert good.data.offered[:3] == ("allow", "deny", "handback")
    world.allow(good)
    world.decide(bad, "deny", reason="test it first")

    assert world.reply(1) == SayAllow()
    told = world.reply(2)
    assert isinstance(told, SayDeny)
    assert "test it first" in told.reason


def test_silence_hands_a_question_back_on_a_relay() -> None:
    world = World()
    request = world.ask(question(COLOUR, deadline_s=60.0), 1)
    world.advance(60.0)
    assert world.reply(1) == SayNothing()
    assert world.ending(request)["word"] == "handed-back-by-timeout"


def test_silence_denies_a_question_where_nobody_else_can_be_asked() -> None:
    world = World()
    world.ask(question(COLOUR, lane=Lane.GATE, deadline_s=60.0), 1)
    world.advance(60.0)
    assert isinstance(world.reply(1), SayDeny)


@pytest.mark.parametrize(
    ("cls", "can"), [("question", Can(deny=True)), ("plan", Can(deny=True, answer=True))]
)
def test_a_question_that_cannot_be_answered_here_is_handed_back_at_once(cls: str, can: Can) -> None:
    world = World()
    world.send(question(COLOUR, cls=cls, can=can), 1)  # type: ignore[arg-type]
    assert world.reply(1) == SayNothing()
    assert world.all("question"), "it is recorded all the same"
    assert not world.broker.open


def test_a_question_that_is_only_observed_is_recorded() -> None:
    world = World()
    world.send(question(COLOUR, lane=Lane.OBSERVE), 1)
    assert world.all("question")
    assert 1 not in world.replies


def test_a_question_whose_tool_came_back_was_answered_elsewhere() -> None:
    world = World()
    asked = question(COLOUR)
    assert isinstance(asked.body, ToolCall)
    world.send(pre(same_call(asked.body, "c1")), 9)
    request = world.ask(asked, 1)
    world.send(post(same_call(asked.body, "c1")))
    assert world.ending(request)["word"] == "answered-elsewhere"
    assert world.reply(1) == SayNothing()


def test_a_question_that_returns_with_its_answers_did_not_run_altered() -> None:
    world = World()
    asked = question(COLOUR)
    assert isinstance(asked.body, ToolCall)
    tool = same_call(asked.body, "c1")
    world.send(pre(tool), 9)
    request = world.ask(asked, 1)
    world.decide(request, "answer", answers=(("red",),))
    world.commit()
    answered = Tool(
        tool.name, tool.native_name, tool.cls, {"answers": "red"}, digest("other"), "c1"
    )
    world.send(post(answered))
    assert not world.all("effect.contradicted")
    assert world.all("effect.confirmed")


def test_a_turn_that_ends_retires_its_question() -> None:
    world = World()
    request = world.ask(question(COLOUR), 1)
    world.send(other("turn.end"))
    assert world.ending(request)["word"] == "answered-elsewhere"


def test_the_gate_of_a_questions_call_has_no_opinion_after_the_answer() -> None:
    """An answer is told on the lane that can take one; the other is handed back, never allowed."""
    world = World()
    asked = question(COLOUR)
    assert isinstance(asked.body, ToolCall)
    request = world.ask(asked, 1)
    world.decide(request, "answer", answers=(("red",),))
    world.commit()
    world.send(pre(asked.body.tool), 2)
    assert world.reply(2) == SayNothing()
