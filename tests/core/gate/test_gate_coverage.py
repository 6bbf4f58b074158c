"""What ran, held against what passed the gate."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from tests.core.builders import batch, other, permission, post, pre, shell
from tests.core.world import World
from watchgate.core.gate.gate_coverage import (
    CAUSE_WORDS,
    ENDED_SESSIONS_MAX,
    TRANSCRIPT,
    Cause,
    SessionProcess,
)
from watchgate.core.model.events import Event, Lane, Tool

C1 = shell(call_id="c1")
KEY = ("claude", "one")


def ungated(world: World) -> list[tuple[str, bool]]:
    return [(r.data["cause"], r.data.get("alarm", True)) for r in world.all("effect.ungated")]


def counts(world: World, key: tuple[str, str] = KEY) -> tuple[int, int]:
    view = world.state.sessions[key]
    return view.passed, view.ran


def stream(event: Event) -> Event:
    return msgspec.structs.replace(
        event, native=f"item/{event.native}", agent="codex", lane=Lane.OBSERVE, numbering="exec"
    )


def test_a_call_that_the_gate_answered_is_counted_as_passed_and_raises_nothing() -> None:
    world = World()
    world.send(pre(C1), 1)
    world.allow(world.broker.open[world.broker.of_conn(1) or ""])
    world.send(post(C1))
    world.send(pre(shell("low", "c2"), lane=Lane.GATE_READ), 2)
    world.send(post(shell("low", "c2")))
    assert (counts(world), ungated(world)) == ((2, 2), [])


def test_a_call_that_no_event_told_of_is_an_alarm_once() -> None:
    world = World()
    world.send(pre(C1), 1)
    world.send(post(shell("low", "c9")))
    world.send(batch(shell("low", "c9")))
    assert ungated(world) == [("unknown", True)]
    row = world.state.rows[1]
    assert (row.stage, row.alarm, world.state.totals.alarms) == ("ran ungated", True, 1)
    assert "watchgate doctor" in row.why
    assert counts(world) == (0, 1)


def test_the_first_thing_ever_heard_of_a_session_may_have_begun_before_this_core() -> None:
    world = World()
    world.send(post(C1))
    assert ungated(world) == [("before-core", False)]
    assert (world.state.rows[0].alarm, world.state.totals.alarms) == (False, 0)


def test_a_gate_that_the_agent_did_not_wait_for_was_no_gate() -> None:
    world = World()
    world.ask(pre(C1), 1)
    world.hang_up(1)
    world.send(post(C1))
    assert ungated(world) == [("not-awaited", True)]
    assert counts(world) == (0, 1)


def test_a_call_that_is_only_watched_is_no_alarm_and_not_counted_as_passed() -> None:
    world = World(profile="watch")
    world.send(pre(C1, lane=Lane.OBSERVE))
    world.send(post(C1))
    assert (ungated(world), counts(world)) == ([], (0, 1))
    assert world.all("policy.ungated") == []
    assert world.state.sessions[KEY].gated is False


def test_a_permission_that_was_asked_for_is_no_alarm() -> None:
    world = World()
    world.ask(permission(C1), 1)
    world.hang_up(1)
    world.send(post(C1))
    assert ungated(world) == []


def test_an_interrupted_call_that_nobody_saw_begin_did_not_run() -> None:
    world = World()
    world.send(post(C1, ok=False, interrupted=True))
    assert ungated(world) == []


def test_each_call_is_recorded_and_the_first_of_a_cause_is_the_alarm_that_counts_them() -> None:
    world = World()
    world.send(other("session.start"))
    for number in range(60):
        world.send(post(shell("low", f"x{number}")))
    records = world.all("effect.ungated")
    assert [each.data.get("count", 1) for each in records] == list(range(1, 61))
    assert {each.data["first"] for each in records} == {"x0"}
    rows = list(world.state.rows)
    assert {row.stage for row in rows} == {"ran ungated"}
    assert [(row.call, row.speaks_for) for row in rows if row.alarm] == [("x0", 60)]
    assert world.state.totals.alarms == 1
    assert counts(world) == (0, 60)


def test_a_row_that_is_not_kept_any_more_hands_on_what_it_spoke_for() -> None:
    world = World()
    world.send(other("session.start"))
    world.send(post(shell("low", "x0")))
    world.state.calls.ring.first += 1  # as if other calls had pushed it out
    world.send(post(shell("low", "x1")))
    row = world.state.rows[world.state.rows.end - 1]
    assert (row.alarm, row.speaks_for) == (True, 2)


def transcript(call_id: str, **fields: Any) -> Event:
    return msgspec.structs.replace(post(shell("low", call_id), **fields), native=TRANSCRIPT)


def test_a_session_of_which_only_its_transcript_tells_is_an_alarm_from_its_first_call() -> None:
    world = World()
    world.send(transcript("c1"))
    assert ungated(world) == [("silent", True)]
    (record,) = world.all("policy.ungated")
    assert record.data["cause"] == "silent"
    assert world.state.sessions[KEY].gated is False


def test_an_agent_whose_hooks_are_not_installed_is_said_and_no_alarm() -> None:
    world = World()
    world.engine.coverage.set_process(*KEY, SessionProcess(installed=False))
    world.send(transcript("c1"))
    assert ungated(world) == [("not-installed", False)]
    assert world.all("policy.ungated")[0].data["alarm"] is False


def test_a_tool_of_a_gated_session_that_has_no_hook_is_no_alarm() -> None:
    world = World()
    world.send(pre(C1), 1)
    todo = Tool("Todo", "todo_write", "other", {}, "hash", "c2")
    world.send(msgspec.structs.replace(post(todo), native=TRANSCRIPT))
    assert ungated(world) == [("no-hook", False)]


def test_a_stream_that_is_watched_without_a_gate_on_purpose_is_said_and_no_alarm() -> None:
    world = World()
    for name in "ab":
        for event in (pre, post):
            told = stream(event(shell("low", name)))
            world.send(msgspec.structs.replace(told, no_gate=True))
    assert ungated(world) == [("intended", False)] * 2
    assert [r.data["alarm"] for r in world.all("policy.ungated")] == [False]
    assert [row.speaks_for for row in world.state.rows] == [2, 0]


def test_nobody_can_say_on_purpose_of_a_session_whose_hooks_are_heard() -> None:
    world = World()
    world.send(pre(shell("low", "call_1"), agent="codex"), 1)
    world.send(post(shell("low", "call_1"), agent="codex"))
    for event in (pre, post):
        told = stream(event(shell("high x", "item_7")))
        world.send(msgspec.structs.replace(told, no_gate=True))
    assert ungated(world) == [("unknown", True)]


def test_a_codex_stream_without_a_hook_is_a_session_that_is_not_gated() -> None:
    world = World()
    world.send(stream(other("session.start")))
    for name in "ab":
        world.send(stream(pre(shell("low", name))))
        world.send(stream(post(shell("low", name))))
    (record,) = world.all("policy.ungated")
    assert record.data["cause"] == "untrusted"
    assert ungated(world) == [("untrusted", True)] * 2, "each call that ran is an alarm"
    view = world.state.sessions["codex", "one"]
    assert (view.gated, view.cause) == (False, record.data["why"])


def test_a_codex_stream_beside_hooks_that_only_look_is_no_alarm() -> None:
    world = World(profile="watch")
    world.send(pre(shell("low", "call_1"), agent="codex", lane=Lane.OBSERVE))
    world.send(stream(pre(shell("low", "item_1"))))
    world.send(post(shell("low", "call_1"), agent="codex"))
    world.send(stream(post(shell("low", "item_1"))))
    assert (ungated(world), world.all("policy.ungated")) == ([], [])


def test_a_stream_and_hooks_of_one_session_tell_of_each_call_once() -> None:
    world = World()
    world.send(pre(shell("low", "call_1"), agent="codex"), 1)
    world.send(stream(pre(shell("low", "item_1"))))
    world.send(post(shell("low", "call_1"), agent="codex"))
    world.send(stream(post(shell("low", "item_1"))))
    assert counts(world, ("codex", "one")) == (1, 1)
    assert (ungated(world), len(world.state.rows)) == ([], 1)


def test_a_call_of_a_stream_that_no_hook_told_of_is_an_alarm_where_hooks_work() -> None:
    world = World()
    world.send(pre(shell("low", "call_1"), agent="codex"), 1)
    world.send(post(shell("low", "call_1"), agent="codex"))
    for event in (pre, post):
        world.send(stream(event(shell("high x", "item_7"))))
    assert ungated(world) == [("unknown", True)]


def edit(call_id: str, patch: str) -> Tool:
    return Tool("Edit", "apply_patch", "edit", {"patch": patch}, patch, call_id)


def test_a_patch_in_a_stream_is_the_one_that_the_hook_told_of() -> None:
    world = World()
    world.send(pre(edit("call_1", "whole"), agent="codex"), 1)
    for event in (pre, post):
        world.send(stream(event(edit("item_1", "paths"))))
    world.send(post(edit("call_1", "whole"), agent="codex"))
    assert (ungated(world), world.all("effect.contradicted")) == ([], [])
    assert counts(world, ("codex", "one")) == (1, 1)


def test_a_patch_inside_a_shell_command_has_a_harmless_cause() -> None:
    world = World()
    world.send(pre(shell("low apply_patch <<EOF", "call_1"), agent="codex"), 1)
    for event in (pre, post):
        world.send(stream(event(edit("item_1", "paths"))))
    assert ungated(world) == [("heredoc", False)]


@pytest.mark.parametrize("command", ["low ls", "low apply_patch <<EOF"])
def test_one_shell_command_explains_at_most_the_one_patch_in_it(command: str) -> None:
    world = World()
    world.send(pre(shell(command, "call_1"), agent="codex"), 1)
    for item in ("item_1", "item_2"):
        for event in (pre, post):
            world.send(stream(event(edit(item, item))))
    first = ("heredoc", False) if "apply_patch" in command else ("unknown", True)
    assert ungated(world) == [first, ("unknown", True)]


def test_a_stream_may_tell_of_the_patch_after_the_turn() -> None:
    world = World()
    world.send(pre(shell("low apply_patch <<EOF", "call_1"), agent="codex"), 1)
    world.send(other("turn.end", agent="codex"))
    for event in (pre, post):
        world.send(stream(event(edit("item_1", "paths"))))
    assert ungated(world) == [("heredoc", False)]


def test_who_leaves_the_relay_asks_in_its_own_terminal_and_passed_the_gate() -> None:
    world = World()
    world.send(pre(shell("low", "c1")), 1)
    world.ask(permission(shell("low")), 2)
    world.hang_up(2)
    world.send(post(shell("low", "c1")))
    assert (ungated(world), counts(world)) == ([], (1, 1))


def test_a_relay_that_was_left_says_nothing_of_the_gate_that_follows() -> None:
    world = World()
    world.ask(permission(shell("low", "c1")), 1)
    world.hang_up(1)
    world.send(pre(shell("low", "c1")), 2)
    world.send(post(shell("low", "c1")))
    assert (ungated(world), counts(world)) == ([], (1, 1))


def test_a_result_that_is_told_twice_is_no_second_call() -> None:
    world = World()
    world.send(pre(shell("low", "c1")), 1)
    for _ in range(2):
        world.send(post(shell("low", "c1")))
    assert (ungated(world), counts(world)) == ([], (1, 1))


def test_a_result_that_comes_after_the_turn_is_that_of_its_call() -> None:
    world = World()
    world.send(pre(shell("low", "c1")), 1)
    world.send(pre(shell("deny", "c2")), 2)
    world.send(other("turn.end"))
    world.send(post(shell("low", "c1")))
    world.send(post(shell("deny", "c2")))
    assert ungated(world) == []
    assert [r.data["alarm"] for r in world.all("effect.contradicted")] == ["DENIED BUT RAN"]


@pytest.mark.parametrize(
    ("around", "cause"),
    [
        (SessionProcess(hooks_off="--bare"), "hooks-off"),
        (SessionProcess(began_before=True), "began-before"),
        (SessionProcess(hooks_off="--bare", began_before=True), "hooks-off"),
        (SessionProcess(), "unknown"),
    ],
)
def test_what_the_system_tells_of_the_process_makes_the_cause(
    around: SessionProcess, cause: str
) -> None:
    world = World()
    world.engine.coverage.set_process(*KEY, around)
    world.send(post(C1))
    assert ungated(world) == [(cause, True)]
    assert ("--bare" in world.all("effect.ungated")[0].data["why"]) is bool(around.hooks_off)


def test_a_call_that_ran_while_the_gate_was_off_is_shown_so_and_is_no_alarm() -> None:
    world = World()
    world.send(pre(C1), 1)
    record = world.records[-1]
    off = {"what": "off", "until": 0, "name": "ann"}
    seq = world.state.seq + 1
    world.state.apply(msgspec.structs.replace(record, seq=seq, kind="policy.off", data=off))
    world.state.seq = record.seq  # the test's own record has no place in the world's chain
    world.send(pre(shell("low", "c2"), lane=Lane.OBSERVE))
    world.send(post(shell("low", "c2")))
    assert world.state.rows[1].stage == "ran ungated"
    assert (ungated(world), world.state.rows[1].alarm) == ([], False)


def test_which_calls_a_hook_told_of_is_known_by_their_ids() -> None:
    world = World()
    world.send(pre(C1), 1)
    world.send(post(shell("low", "c2")))

    def known(*names: str) -> list[bool]:
        knows = world.engine.coverage.knows_call
        return [knows(*KEY, shell("x", name)) for name in names]

    assert known("c1", "c2", "c3") == [True, True, False]
    world.send(other("session.end"))
    assert known("c1") == [True], "its transcript is read after its end"
    world.send(other("session.start"))
    assert known("c1") == [False]


def test_an_id_with_a_long_random_part_is_known_in_any_session() -> None:
    world = World()
    world.send(pre(shell("low", "toolu_01AbCdEfGhIjKlMnOp"), session="parent"), 1)
    knows = world.engine.coverage.knows_call
    assert knows("other-agent", "fork", shell("x", "toolu_01AbCdEfGhIjKlMnOp"))
    assert not knows("claude", "fork", shell("x", "toolu_01AbCdEfGhIjKlMnOq"))


def test_a_call_without_an_id_is_known_once_by_what_ran() -> None:
    world = World()
    for _ in range(2):
        world.send(pre(shell("low"), agent="gemini"), 1)
        world.send(post(shell("low"), agent="gemini"))
    knows = world.engine.coverage.knows_call
    tools = [shell("low", f"run_{n}") for n in range(3)]
    assert [knows("gemini", "one", tool) for tool in tools] == [True, True, False]
    assert not knows("gemini", "one", shell("high", "run_9"))


def test_a_stream_tells_of_its_session_itself() -> None:
    world = World()
    world.send(stream(other("session.start")))
    assert world.engine.coverage.knows_call("codex", "one", shell("low", "call_1"))


def test_a_call_that_is_told_of_after_the_end_began_no_earlier_than_this_core() -> None:
    world = World()
    world.send(pre(C1), 1)
    world.send(other("session.end"))
    world.send(post(shell("low", "c9")))
    assert ungated(world) == [("unknown", True)]


def test_a_call_that_was_answered_in_the_agents_own_dialog_had_passed_the_gate() -> None:
    world = World()
    world.send(pre(shell("low", "c1")), 1)
    request = world.ask(permission(shell("low")), 2)
    world.send(post(shell("low", "c1")))
    assert (ungated(world), counts(world)) == ([], (1, 1))
    assert world.ending(request)["word"] == "answered-elsewhere"


def test_a_call_that_still_runs_when_its_turn_ends_passed_no_gate_either() -> None:
    world = World()
    world.send(stream(other("session.start")))
    world.send(stream(pre(shell("low", "item_1"))))
    assert world.all("policy.ungated") == [], "its hook may still be on its way"
    world.send(stream(other("turn.interrupt")))
    (record,) = world.all("policy.ungated")
    assert (record.data["cause"], ungated(world)) == ("untrusted", [("untrusted", True)])
    assert world.state.rows[0].stage == "ran ungated"


def test_a_call_that_still_runs_and_that_a_gate_let_go_is_no_alarm() -> None:
    world = World()
    world.send(pre(shell("low", "call_1"), agent="codex"), 1)
    world.send(stream(pre(shell("low", "item_1"))))
    world.send(stream(other("turn.end")))
    assert (ungated(world), world.all("policy.ungated")) == ([], [])


def test_a_call_that_only_hooks_told_of_may_not_have_begun_when_its_turn_ends() -> None:
    world = World()
    world.send(pre(shell("low", "call_1"), agent="codex", lane=Lane.OBSERVE))
    world.send(other("turn.end", agent="codex"))
    assert (ungated(world), world.all("policy.ungated")) == ([], [])


@pytest.mark.parametrize(("trusted", "cause"), [(False, "untrusted"), (True, "unknown")])
def test_hooks_that_are_known_to_be_trusted_are_not_said_to_be_skipped(
    trusted: bool, cause: str
) -> None:
    world = World()
    world.engine.coverage.set_process("codex", "one", SessionProcess(trusted=trusted))
    for name in "ab":
        for event in (pre, post):
            world.send(stream(event(shell("low", name))))
    assert world.all("policy.ungated")[0].data["cause"] == cause


def test_a_likely_cause_reads_as_one() -> None:
    guesses: tuple[Cause, ...] = ("untrusted", "began-before", "not-awaited")
    for cause in guesses:
        assert "probably" in CAUSE_WORDS[cause]


def test_the_calls_of_a_session_that_ended_are_known_until_others_have_ended_too() -> None:
    world = World()
    for number in range(ENDED_SESSIONS_MAX + 1):
        session = f"s{number}"
        world.send(pre(C1, session=session, lane=Lane.OBSERVE))
        world.send(other("session.end", session=session))
    knows = world.engine.coverage.knows_call
    known = [knows("claude", f"s{n}", C1) for n in range(ENDED_SESSIONS_MAX + 1)]
    assert known == [False] + [True] * ENDED_SESSIONS_MAX
