"""What Copilot CLI's event logs tell of usage: answers while a run goes on, totals at its end."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.agents.usage.reads import JSON, in_parts, jsonl, left, one
from watchgate.agents.usage.copilot_usage import MAX_REQUESTS, CopilotReader

SESSION = "35059dc3-d928-4ffb-8616-b78938621d85"
PATH = f"/home/dev/.copilot/session-state/{SESSION}/events.jsonl"
MINUTE_US = 60_000_000
SUMMED = ("input", "output", "cache_read", "cache_5m", "reasoning")


def event(kind: str, minute: int = 0, **data: Any) -> dict[str, Any]:
    at = f"2026-11-02T09:{minute:02}:00.000Z"
    return {"type": kind, "id": f"{kind} {minute}", "timestamp": at, "data": data}


def answer(minute: int, output: int, **data: Any) -> dict[str, Any]:
    told = {"messageId": f"message-{minute:08}", "outputTokens": output, **data}
    return event("assistant.message", minute, **told)


def used(count: int | None = 1, **usage: int) -> dict[str, Any]:
    return {"requests": {"count": count, "cost": 3}, "usage": usage}


def ended(minute: int, **models: Any) -> dict[str, Any]:
    return event("session.shutdown", minute, modelMetrics=models, currentTokens=18_217)


START = event("session.start", sessionId=SESSION, context={"cwd": "/srv/app"}, selectedModel="m")
TOTALS = {"inputTokens": 1_000, "outputTokens": 90, "cacheReadTokens": 600, "cacheWriteTokens": 100}

RUN_OVER = ended(5, big=used(2, **TOTALS))


def read(*events: Any) -> CopilotReader:
    reader = CopilotReader(PATH)
    reader.read(jsonl(*events))
    return reader


def sums(reader: CopilotReader) -> dict[str, int]:
    calls = left(reader)
    return {name: sum(getattr(call, name) for call in calls) for name in SUMMED}


def test_an_answer_is_a_lower_bound_while_its_run_goes_on() -> None:
    asked = {"toolRequests": [{"toolCallId": "t-1"}], "interactionId": "i-1"}
    reader = read(START, answer(1, 413, **asked))
    call = one(reader)

    assert (call.session, call.model, call.output, call.is_lower_bound) == (SESSION, "m", 413, True)
    assert (call.turn, call.tools) == ("i-1", ("t-1",))
    assert reader.facts.cwd == "/srv/app"


def test_the_model_of_an_answer_may_be_told_after_it() -> None:
    ran = event("tool.execution_complete", 2, toolCallId="t", model="claude-opus-4.6")
    began = event("session.start", sessionId=SESSION)

    told = in_parts(CopilotReader(PATH), [jsonl(each) for each in (began, answer(1, 5), ran)])
    assert [call.model for call in told] == ["claude-opus-4.6"]
    assert one(read(START, answer(1, 5, model="n"))).model == "n"
    changed = event("session.model_change", newModel="k")
    assert one(read(START, changed, answer(1, 5))).model == "k"


def test_what_the_end_of_a_run_tells_takes_the_place_of_its_answers() -> None:
    events = [START, answer(1, 40), ended(5, big=used(**TOTALS, reasoningTokens=30))]

    (call,) = in_parts(CopilotReader(PATH), [jsonl(each) for each in events])

    assert (call.model, call.input, call.output, call.reasoning) == ("big", 300, 90, 30)
    assert (call.cache_read, call.cache_5m, call.is_lower_bound) == (600, 100, False)


def test_runs_of_a_resumed_session_add_up() -> None:
    reader = read(
        START,
        answer(1, 40),
        ended(5, big=used(**TOTALS)),
        event("session.resume", 6),
        answer(7, 50),
        ended(8, big=used(**TOTALS), small=used(inputTokens=7)),
        answer(9, 60),
    )
    found = sums(reader)

    assert (found["input"], found["output"], found["cache_read"]) == (607, 240, 1_200)
    assert reader.facts.context_used == 18_217


def test_an_end_that_tells_nothing_leaves_the_answers() -> None:
    assert one(read(START, answer(1, 40), ended(2))).output == 40
    assert one(read(START, answer(1, 40), ended(2, big=used()))).output == 40


def test_totals_are_spread_over_their_requests_at_the_times_of_the_answers() -> None:
    reader = read(START, answer(1, 5), answer(30, 5), ended(59, big=used(4, **TOTALS)))
    calls = left(reader)

    assert [call.input for call in calls] == [75, 75, 75, 75]
    first = calls[0].at_us
    assert [call.at_us - first for call in calls] == [0, 0, 29 * MINUTE_US, 29 * MINUTE_US]


@given(
    st.integers(0, 9_999) | st.none(),
    st.tuples(*(st.integers(0, 10**9) for _ in range(3))),
    st.integers(0, 10**9),
)
def test_spreading_changes_no_sum(
    count: int | None, figures: tuple[int, ...], reasoning: int
) -> None:
    output, read_tokens, written = figures
    usage = {
        "inputTokens": 5 + read_tokens + written,
        "outputTokens": output,
        "cacheReadTokens": read_tokens,
        "cacheWriteTokens": written,
        "reasoningTokens": reasoning,
    }
    reader = read(ended(5, big=used(count, **usage)))
    calls = left(reader)

    assert {name: sum(getattr(call, name) for call in calls) for name in SUMMED} == {
        "input": 5,
        "output": output,
        "cache_read": read_tokens,
        "cache_5m": written,
        "reasoning": min(reasoning, output),
    }
    assert 1 <= len(calls) <= MAX_REQUESTS
    assert all(call.reasoning <= call.output for call in calls)


def test_a_sub_agents_answer_is_told_apart() -> None:
    call = one(read(START, answer(1, 40, parentToolCallId="t-1")))

    assert (call.sub, call.side) == ("t-1", True)


@pytest.mark.parametrize("metrics", [{"big": 5}, {"big": {"usage": {"inputTokens": -1}}}])
def test_figures_that_cannot_be_taken_are_told(metrics: Any) -> None:
    reader = read(START, answer(1, 40), ended(2, small=used(inputTokens=7), **metrics))

    assert (sums(reader)["input"], reader.unreadable) == (7, 1)
    assert read(answer(1, -5), answer(2, 1 << 60)).unreadable == 2


def test_an_odd_field_that_does_not_matter_costs_nothing() -> None:
    reader = read(START | {"data": 5}, answer(1, 40, toolRequests="none"))

    assert (one(reader).output, reader.unreadable) == (40, 0)


def test_what_cannot_be_read_is_told() -> None:
    reader = CopilotReader(PATH)
    reader.read(b'{"type":"assistant.mess\n' + jsonl(START, answer(1, 4)))

    assert (one(reader).output, reader.unreadable) == (4, 1)


FIELDS = st.sampled_from(("type", "id", "timestamp", "data"))


@given(st.lists(st.dictionaries(FIELDS, JSON), max_size=4))
def test_nothing_in_a_file_is_ever_an_error(changes: list[dict[str, Any]]) -> None:
    known = [START, answer(1, 40), ended(2, big=used(**TOTALS))]
    for path in (PATH, "events.jsonl", ""):
        reader = CopilotReader(path)
        for each in changes:
            reader.read(jsonl(*(record | each for record in known)))
        msgspec.msgpack.encode(left(reader))


@given(st.lists(st.sampled_from([*(answer(n, n) for n in range(1, 6)), RUN_OVER, START])))
def test_it_does_not_matter_in_which_pieces_lines_come(events: list[dict[str, Any]]) -> None:
    lines = [jsonl(each) for each in events]

    whole = in_parts(CopilotReader(PATH), [b"".join(lines)])
    assert {*in_parts(CopilotReader(PATH), lines)} == {*whole}
