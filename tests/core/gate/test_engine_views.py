"""Hooks of a stream that only reports change what is shown, and the record says so."""

from __future__ import annotations

import msgspec

from tests.core.builders import other, post, pre, shell
from tests.core.world import World
from watchgate.core.dispatch.handlers import Handler
from watchgate.core.model.call_row import CallRow
from watchgate.core.model.events import Event, Lane
from watchgate.core.model.records import Record
from watchgate.core.model.verdicts import Abort, Allow, Block, Defer, Modify
from watchgate.core.state.restore import restore
from watchgate.core.state.state import State

ON = frozenset({"tool.pre", "tool.post", "message", "turn.end"})
TIDY = Handler(id="tidy", on=ON)


def started(command: str, call: str) -> Event:
    """A command that a stream reports to have begun."""
    event = pre(shell(command, call), lane=Lane.OBSERVE)
    return msgspec.structs.replace(event, native="item.started/command_execution")


def changed(command: str, call: str) -> Event:
    """A file change: a stream reports only its end."""
    event = post(shell(command, call))
    return msgspec.structs.replace(event, native="item.completed/file_change")


def over() -> Event:
    """The end of the turn, which no hook here is registered for by this name."""
    return other("turn.end")


def watching(*handlers: Handler) -> World:
    return World(handlers=handlers or (TIDY,), preset="sdk-first-match")


def row(state: State, call: str) -> CallRow:
    found = state.calls.get(("claude", "one", call))
    assert found is not None
    return found


def hidden(world: World) -> dict[str, str]:
    return {each.call: each.hidden_by for each in world.state.rows}


def tick(world: World, event: Event) -> list[str]:
    """The event a second later: a stream's lines come one after the other."""
    world.advance(1)
    return world.send(event)


def test_sd_15_a_rewrite_shows_the_replacement_and_says_who_wrote_it() -> None:
    world = watching()
    tick(world, started("low rm -rf build", "c1"))
    world.says("tidy", Modify({"command": "clean up"}))
    shown = row(world.state, "c1")
    assert (shown.shown, shown.shown_by) == ("clean up", "tidy")
    assert shown.summary == "low rm -rf build", "what ran is kept"
    assert shown.stage == "running"
    (trace,) = world.all("hook.trace")
    assert (trace.data["summary"], trace.data["shown"]) == ("low rm -rf build", "clean up")
    assert world.all("tool.pre")[0].data["summary"] == "low rm -rf build"


def test_sd_15_under_a_preset_that_is_not_about_the_view_nothing_is_shown_rewritten() -> None:
    world = World(handlers=[TIDY], preset="console")
    tick(world, started("low ls", "c1"))
    world.says("tidy", Modify({"command": "clean up"}))
    assert (row(world.state, "c1").shown_by, row(world.state, "c1").shown) == ("", "")
    assert not world.all("hook.trace")[0].data.get("shown")


def test_sd_17_an_abort_hides_the_call_and_what_follows_in_its_turn() -> None:
    world = watching()
    tick(world, started("low one", "c1"))
    world.says("tidy", Abort("enough"))
    tick(world, started("low two", "c2"))
    world.says("tidy", Allow())
    tick(world, changed("low three", "c3"))
    assert hidden(world) == {"c1": "tidy", "c2": "tidy", "c3": "tidy"}
    kept = [each.data["summary"] for each in world.records if each.kind.startswith("tool.")]
    assert kept == ["low one", "low two", "low three"], "the record keeps all"
    assert row(world.state, "c2").summary == "low two"


def test_sd_17_the_next_turn_is_shown_again() -> None:
    world = watching()
    tick(world, started("low one", "c1"))
    world.says("tidy", Abort("enough"))
    tick(world, over())
    tick(world, started("low two", "c2"))
    assert hidden(world)["c2"] == ""


def test_sd_17_an_abort_that_comes_after_its_turn_hides_nothing_of_the_next() -> None:
    world = watching()
    tick(world, started("low one", "c1"))
    tick(world, over())
    world.says("tidy", Abort("too late"))
    tick(world, started("low two", "c2"))
    assert hidden(world) == {"c1": "tidy", "c2": ""}


def test_sd_17_a_call_that_waits_for_an_answer_is_never_hidden() -> None:
    world = watching()
    tick(world, started("low one", "c1"))
    world.says("tidy", Abort("enough"))
    world.send(pre(shell("high", "c2")), 2)
    assert world.broker.of_conn(2) is not None
    assert hidden(world)["c2"] == ""


def test_sd_17_other_sessions_are_shown() -> None:
    world = watching()
    tick(world, started("low one", "c1"))
    world.says("tidy", Abort("enough"))
    tick(world, msgspec.structs.replace(started("low two", "c2"), session="two"))
    assert hidden(world)["c2"] == ""


def test_sd_17_a_console_that_joins_later_hides_the_same() -> None:
    world = watching()
    tick(world, started("low one", "c1"))
    world.says("tidy", Abort("enough"))
    seen, before = world.state, len(world.records)
    late = restore(
        seq=seen.seq,
        core=seen.core,
        at=seen.at,
        gate=seen.gate,
        sessions=tuple(seen.sessions.values()),
        rows=tuple(seen.rows),
    )
    tick(world, started("low two", "c2"))
    for record in world.records[before:]:
        late.apply(record)
    assert row(late, "c2").hidden_by == row(world.state, "c2").hidden_by == "tidy"


def test_sd_18_the_event_is_on_record_then_gates_decide_then_the_view_changes() -> None:
    first = Handler(id="first", on=ON, on_failure="open")
    decides = Handler(id="decides", on=ON)
    never = Handler(id="never", on=ON)
    told = Handler(id="told", on=ON, role="observer")
    world = watching(first, decides, never, told)
    assert tick(world, started("low one", "c1")) == ["tool.pre"], "whatever hooks say, it is there"
    world.says("first", Modify({"command": "other"}, "a view"))
    assert [a.invoke.handler.id for a in world.asked] == ["told", "first"], "a first answer decides"
    assert hidden(world) == {"c1": ""}
    observed = world.asked[0].invoke.event
    assert observed.tool is not None
    assert observed.tool.input == {"command": "low one"}, "an observer is told the raw event"
    assert world.says("told", Defer()) == ["hook.trace"]
    assert rows_of(world.records[-1]) == [
        ("first", "modify"),
        ("decides", "after-stop"),
        ("never", "after-stop"),
        ("told", "defer"),
    ]
    assert row(world.state, "c1").shown_by == "first"


def test_sd_18_gates_are_asked_one_after_another_until_one_answers() -> None:
    gates = [Handler(id=name, on=ON, timeout_s=2, on_failure="open") for name in ("slow", "hides")]
    world = watching(*gates)
    tick(world, started("low one", "c1"))
    assert [a.invoke.handler.id for a in world.asked] == ["slow"]
    assert world.advance(2) == []
    assert [a.invoke.handler.id for a in world.asked] == ["slow", "hides"]
    assert hidden(world) == {"c1": ""}, "nothing is hidden before somebody said so"
    assert world.says("hides", Block("noise")) == ["hook.trace"]
    assert hidden(world) == {"c1": "hides"}


def rows_of(record: Record) -> list[tuple[str, str]]:
    rows = msgspec.to_builtins(record.data)["rows"]
    return [(each["handler"], each.get("why") or each.get("verdict")) for each in rows]
