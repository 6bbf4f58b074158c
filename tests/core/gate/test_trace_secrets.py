"""A trace's rows tell who said what and how it ran, never what the tool got or gave back."""

from __future__ import annotations

from typing import get_args

import msgspec
import pytest

from tests.core.builders import ONLY_DENIES, other, post, pre, shell
from tests.core.world import World
from watchgate.core.dispatch.handlers import Handler
from watchgate.core.model.events import Event, Lane, Text, ToolResult
from watchgate.core.model.records import Record
from watchgate.core.model.verdicts import Defer, Inject, Modify, Report, Run, Verdict
from watchgate.core.secrets.redact import Content, journal_json

WORD = "xylophone"
KINDS = frozenset({"tool.pre", "tool.post", "prompt.submit", "message"})
CALL = shell(f"low {WORD}", "c1", description=WORD)
SAID: dict[str, Verdict] = {"modify": Modify({"command": f"low {WORD}"}), "inject": Inject(WORD)}


def prompt() -> Event:
    return msgspec.structs.replace(
        other("prompt.submit", lane=Lane.GATE, can=ONLY_DENIES), body=Text(WORD)
    )


def heard(event: Event, said: Verdict) -> Record:
    """The trace of an event that a gate answered so and an observer was told."""
    handlers = (Handler(id="gate", on=KINDS), Handler(id="log", on=KINDS, role="observer"))
    world = World(handlers=handlers)
    world.send(event, 1)
    assert WORD in msgspec.json.encode(world.asked[-1].invoke.event).decode(), "they are told all"
    for each in ("gate", "log"):
        verdict = said if each == "gate" else Defer()
        asked = next(a for a in world.asked if a.invoke.handler.id == each)
        run = Run(health="degraded", restarts=2)
        report = Report(verdict=verdict, run=run, text=WORD)
        world.do(world.engine.on_report(asked.dispatch_id, each, report, world.now))
    (trace,) = world.all("hook.trace")
    return trace


EVENTS = {
    "input": pre(CALL),
    "watched": pre(CALL, lane=Lane.OBSERVE),
    "output": msgspec.structs.replace(post(), body=ToolResult(CALL, ok=True, text=WORD)),
    "prompt": prompt(),
    "message": msgspec.structs.replace(other("message"), body=Text(WORD)),
}


@pytest.mark.parametrize("said", [Defer(), *SAID.values()], ids=lambda said: type(said).__name__)
@pytest.mark.parametrize("event", EVENTS.values(), ids=EVENTS.keys())
def test_sy_21_no_row_of_a_trace_holds_a_tools_input_or_output_or_a_message(
    event: Event, said: Verdict
) -> None:
    data = msgspec.to_builtins(heard(event, said).data)
    assert [row["handler"] for row in data["rows"]][:2] == ["gate", "log"]
    assert WORD not in msgspec.json.encode(data["rows"]).decode(), "as a console receives it"
    for content in get_args(Content):
        kept = msgspec.json.decode(journal_json(data, content))
        assert kept["rows"]
        assert WORD not in msgspec.json.encode(kept["rows"]).decode(), content


@pytest.mark.parametrize(("content", "kept"), [("full", True), ("commands", True), ("none", False)])
def test_the_words_of_a_rewrite_are_kept_where_those_of_the_call_are(
    content: Content, kept: bool
) -> None:
    data = {"native": "n", "rows": [], "tool": "Bash", "summary": "ls", "shown": WORD}
    assert (WORD in bytes(journal_json(data, content)).decode()) is kept


def test_sy_21_a_row_tells_hook_handler_action_time_health_and_restarts() -> None:
    data = msgspec.to_builtins(heard(pre(CALL), Defer()).data)
    row = data["rows"][0]
    assert (data["native"], row["handler"], row["verdict"]) == ("PreToolUse", "gate", "defer")
    assert row["duration_ms"] >= 0
    assert (row["run"]["health"], row["run"]["restarts"]) == ("degraded", 2)
