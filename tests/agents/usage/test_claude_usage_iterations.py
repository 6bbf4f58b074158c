"""Responses that the server made in more than one step."""

from __future__ import annotations

from typing import Any

from tests.agents.usage.claude_transcript import calls, read, said, usage


def step(kind: str, *figures: int, **over: Any) -> dict[str, Any]:
    names = ("input_tokens", "output_tokens", "cache_read_input_tokens")
    return {"type": kind, **dict(zip(names, figures, strict=True)), **over}


def test_one_step_is_the_response_itself() -> None:
    (call,) = calls(said(usage(iterations=[step("message", 10, 20, 300)])))
    assert not call.is_lower_bound


def test_steps_that_add_up_to_the_response_are_told_with_it() -> None:
    steps = [step("message", 4, 5, 100), step("message", 6, 15, 200)]
    (call,) = calls(said(usage(iterations=steps)))
    assert (call.input, call.output, call.is_lower_bound) == (10, 20, False)


def test_steps_that_do_not_add_up_make_the_response_a_lower_bound() -> None:
    steps = [step("message", 10, 20, 300), step("message", 6, 15, 200)]
    assert [call.is_lower_bound for call in calls(said(usage(iterations=steps)))] == [True]


def test_steps_of_an_unknown_kind_make_the_response_a_lower_bound() -> None:
    steps = [step("message", 10, 20, 300), step("rerun", 6, 15, 200)]
    assert [call.is_lower_bound for call in calls(said(usage(iterations=steps)))] == [True]


def test_an_adviser_is_a_call_of_its_own_model_beside_the_response() -> None:
    steps = [
        step("message", 4, 5, 100),
        step("advisor_message", 900, 80, 0, model="claude-fable-5"),
        step("message", 6, 15, 200),
    ]
    line = said(usage(iterations=steps))
    own, adviser = calls(line, line)
    assert (own.input, own.output, own.model, own.is_lower_bound) == (
        10,
        20,
        "claude-opus-5-5",
        False,
    )
    assert (adviser.id, adviser.request) == ("msg_1/1", "req_1")
    assert (adviser.input, adviser.output, adviser.model) == (900, 80, "claude-fable-5")
    assert (adviser.session, adviser.turn, adviser.at_us) == (own.session, own.turn, own.at_us)


def test_a_compaction_that_the_response_leaves_out_is_counted() -> None:
    told = {"input_tokens": 0, "output_tokens": 0, "iterations": [step("compaction", 144, 276, 0)]}
    (call,) = calls(said(told))
    assert (call.id, call.input, call.output) == ("msg_1/0", 144, 276)
    assert call.model == "claude-opus-5-5"


def test_the_context_is_what_the_last_step_read() -> None:
    steps = [step("message", 4, 5, 490_000), step("message", 6, 15, 493_000)]
    told = usage(input_tokens=10, cache_read_input_tokens=983_000, iterations=steps)
    assert read(said(told)).facts.context_used == 493_006
