"""What rollouts of Codex CLI tell of usage."""

from __future__ import annotations

from typing import Any

import pytest

from tests.agents.usage.codex_rollout import (
    AT_US,
    PATH,
    THREAD,
    amount,
    calls,
    counted,
    jsonl,
    line,
    meta,
    read,
    turn,
    used,
)

OTHER = "019fa149-0000-7000-8000-000000000002"
ROOT = "019fa149-0000-7000-8000-000000000003"


def spawned(parent: str) -> dict[str, Any]:
    spawn = {"parent_thread_id": parent, "depth": 1, "agent_nickname": "Ada"}
    return {"subagent": {"thread_spawn": spawn}}


def test_each_time_the_totals_change_is_a_call_with_counts_that_do_not_overlap() -> None:
    first = amount(2_500, 300, 500, reasoning_output_tokens=200)
    second = amount(1_000, 125, 250, reasoning_output_tokens=75)
    both = amount(3_500, 425, 750, reasoning_output_tokens=275)
    one, two = calls(meta(), turn(), counted(first, first), counted(both, second))
    assert (one.input, one.cache_read, one.output, one.reasoning) == (2_000, 500, 300, 200)
    assert (two.input, two.cache_read, two.output, two.reasoning) == (750, 250, 125, 75)
    assert (one.model, one.session, one.sub, one.turn) == ("gpt-6-sol", THREAD, "", "t1")
    assert (one.at_us, one.request, one.side) == (AT_US, one.id, False)
    assert one.id != two.id


def test_what_was_written_into_a_cache_is_a_part_of_the_input_too() -> None:
    told = amount(100, 10, 40, cache_write_input_tokens=30)
    (call,) = calls(counted(told, told))
    assert (call.input, call.cache_read, call.cache_5m, call.read) == (30, 40, 30, 100)


def test_older_rollouts_do_not_tell_what_was_written_into_a_cache() -> None:
    old, new = amount(100, 10), amount(100, 10, cache_write_input_tokens=0)
    assert [call.writes_in_input for call in calls(counted(old, old))] == [True]
    assert [call.writes_in_input for call in calls(counted(new, new))] == [False]


def test_parts_that_are_larger_than_the_whole_make_nothing_negative() -> None:
    told = amount(10, 5, 90, cache_write_input_tokens=90, reasoning_output_tokens=90)
    (call,) = calls(counted(told, told))
    assert (call.input, call.cache_read, call.cache_5m, call.reasoning) == (0, 10, 0, 5)


def test_totals_that_are_told_again_unchanged_are_no_call() -> None:
    told = amount(10, 5)
    lines = [counted(told, told, at=f"2026-11-02T09:00:0{n}Z") for n in range(4)]
    assert len(calls(meta(), *lines)) == 1


def test_without_the_last_amount_a_call_is_the_difference_of_the_totals() -> None:
    totals = [amount(10, 5), amount(40, 9, 20), amount(40, 9, 20)]
    assert [(c.input, c.cache_read, c.output) for c in calls(*map(counted, totals))] == [
        (10, 0, 5),
        (10, 20, 4),
    ]


def test_a_last_amount_counts_though_the_totals_hold_more_that_was_never_told() -> None:
    lines = [counted(amount(1_000, 90), amount(10, 5)), counted(amount(1_500, 95), amount(20, 5))]
    assert [call.input for call in calls(*lines)] == [10, 20]


def test_a_last_amount_of_nothing_leaves_the_difference_of_the_totals() -> None:
    lines = [counted(amount(10, 5)), counted(amount(30, 9), amount(0, total_tokens=700))]
    assert [(call.input, call.output) for call in calls(*lines)] == [(10, 5), (20, 4)]


def test_totals_that_only_say_that_the_context_is_full_are_no_call() -> None:
    told = amount(10, 5)
    full = counted(amount(10, 5, total_tokens=272_000), amount(0, total_tokens=271_985))
    found = calls(counted(told, told), used("t1"), full, counted(amount(40, 9), amount(30, 4)))
    assert [(call.input, call.output, call.tools) for call in found] == [
        (10, 5, ()),
        (30, 4, ("t1",)),
    ]


def test_totals_that_fell_begin_anew() -> None:
    told = (amount(100, 50), amount(30, 10))
    assert [call.input for call in calls(*map(counted, told))] == [100, 30]
    lines = [counted(total, total) for total in told]
    assert [call.input for call in calls(*lines)] == [100, 30]


def test_a_resumed_thread_counts_on_from_where_it_was() -> None:
    reader = read(meta(), turn(), counted(amount(10, 5)))
    assert len(reader.take()) == 1
    reader.read(jsonl(turn(turn_id="t2"), counted(amount(10, 5)), counted(amount(25, 9))))
    assert [(call.input, call.output, call.turn) for call in reader.take()] == [(15, 4, "t2")]
    assert reader.take() == []


def test_an_event_without_figures_tells_rate_limits_only() -> None:
    told = line("event_msg", {"type": "token_count", "info": None, "rate_limits": None})
    reader = read(meta(), told)
    assert (reader.take(), reader.unreadable) == ([], 0)


def test_a_model_that_no_line_names_stays_unnamed() -> None:
    assert [call.model for call in calls(meta(), counted(amount(10, 5)))] == [""]


def test_a_change_of_the_model_is_that_of_the_calls_after_it() -> None:
    first, second = counted(amount(10, 5)), counted(amount(20, 9))
    found = calls(turn("gpt-6.1-sol"), first, turn(None), turn("gpt-6.1-terra"), second)
    assert [call.model for call in found] == ["gpt-6.1-sol", "gpt-6.1-terra"]


def test_a_thread_is_named_by_its_file_until_it_says_who_it_is() -> None:
    facts = read().facts
    assert (facts.thread, facts.session, facts.parent, facts.cwd) == (THREAD, THREAD, "", "")
    facts = read(meta(OTHER)).facts
    assert (facts.thread, facts.session, facts.cwd) == (OTHER, OTHER, "/src")


def test_a_fork_is_a_session_of_its_own_that_knows_its_parent() -> None:
    facts = read(meta(OTHER, forked_from_id=THREAD), meta(THREAD, forked_from_id=ROOT)).facts
    assert (facts.thread, facts.parent) == (OTHER, THREAD)
    assert (facts.session, facts.sub) == (OTHER, "")


@pytest.mark.parametrize(
    "told",
    [
        {"source": spawned(THREAD)},
        {"source": spawned(THREAD), "forked_from_id": THREAD},
        {"source": "cli", "thread_source": "subagent", "parent_thread_id": THREAD},
    ],
)
def test_a_spawned_thread_is_a_sub_agent_of_its_parents_session(told: dict[str, Any]) -> None:
    reader = read(meta(OTHER, **told), counted(amount(10, 5)))
    facts = reader.facts
    assert (facts.thread, facts.parent) == (OTHER, THREAD)
    assert (facts.session, facts.sub) == (THREAD, OTHER)
    assert [(call.session, call.sub) for call in reader.take()] == [(THREAD, OTHER)]


def test_a_fork_that_copied_its_parents_figures_has_the_same_ids_for_them() -> None:
    own = [counted(amount(10 * n, n), amount(10, 1)) for n in range(1, 4)]
    copied = [{**each, "timestamp": "2026-11-02T11:00:00Z"} for each in own]
    parent = calls(meta(), turn(), *own)
    head: tuple[Any, ...] = (meta(OTHER, forked_from_id=THREAD), meta(), turn())
    fork = calls(*head, *copied, copied[-1], counted(amount(90, 9), amount(60, 6)))
    assert [call.id for call in fork[:3]] == [call.id for call in parent]
    assert len(fork) == 4
    assert fork[3].id not in {call.id for call in parent}


def test_the_same_figures_after_another_beginning_have_other_ids() -> None:
    (_, one), (_, two) = (
        calls(counted(amount(first)), counted(amount(50), amount(10))) for first in (10, 20)
    )
    assert one.id != two.id


def test_the_tools_of_a_call_are_those_since_the_call_before() -> None:
    limits_only = line("event_msg", {"type": "token_count", "info": None})
    lines = [
        used("a"),
        used("b", "custom_tool_call"),
        limits_only,
        counted(amount(10, 5)),
        used("b", "function_call_output"),
        used("c", "local_shell_call"),
        counted(amount(10, 5)),
        counted(amount(20, 9)),
        counted(amount(30, 10)),
    ]
    assert [call.tools for call in calls(*lines)] == [("a", "b"), ("c",), ()]


def test_the_context_is_what_the_newest_call_read_and_wrote() -> None:
    first, second = amount(10, 5), amount(30, 9)
    facts = read(counted(first, first, window=272_000), counted(amount(40, 14), second)).facts
    assert (facts.context_used, facts.context_size) == (39, 272_000)


def test_after_a_compaction_the_context_is_the_agents_own_estimate_and_no_call() -> None:
    first = amount(200_000, 5)
    reader = read(counted(first, first), counted(first, amount(0, total_tokens=9_000)))
    assert reader.facts.context_used == 9_000
    assert len(reader.take()) == 1


def test_lines_of_before_there_were_payloads_name_the_thread_and_tell_no_usage() -> None:
    head: dict[str, Any] = {
        "id": OTHER,
        "timestamp": "2025-06-01T10:00:00Z",
        "instructions": None,
        "git": {},
    }
    state = {"record_type": "state"}
    said = {"type": "message", "id": "m1", "role": "user", "content": [{"type": "input_text"}]}
    reader = read(head, state, said, {"type": "function_call", "call_id": "a"})
    assert (reader.facts.thread, reader.take(), reader.unreadable) == (OTHER, [], 0)


def test_usage_is_never_taken_from_what_a_tool_returned() -> None:
    fake = counted(amount(999))
    quoted = line("response_item", {"type": "function_call_output", "output": str(fake)})
    nested = line("response_item", {"type": "message", "content": [fake]})
    assert calls(quoted, nested, {**fake, "type": "response_item"}) == []


def test_an_event_with_an_amount_and_without_totals_cannot_be_read() -> None:
    told = {"type": "token_count", "info": {"last_token_usage": amount(5)}}
    reader = read(line("event_msg", told))
    assert (reader.take(), reader.unreadable) == ([], 1)


def test_a_file_of_another_name_is_its_own_thread() -> None:
    assert read(path="/tmp/demo.jsonl").facts.thread == "demo"
    assert read(path=PATH.replace("/", "\\")).facts.thread == THREAD
