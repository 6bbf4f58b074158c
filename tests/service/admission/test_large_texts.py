"""What is done ahead in a thread is what the loop would have done, and the loop does it no more."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec
import pytest

from tests.service.desk import Desk
from watchgate.agents.agent_facts import traits_in
from watchgate.agents.registry import ADAPTERS
from watchgate.agents.streams.stream_source import Source
from watchgate.core.base.patterns import allowance
from watchgate.core.chain.hash_chain import START, Chain
from watchgate.core.config.config import Config
from watchgate.core.dispatch.handlers import Handler
from watchgate.core.gate.engine import Engine
from watchgate.core.gate.policy_gate import PolicyGate
from watchgate.core.model.events import Lane
from watchgate.core.model.large_inputs import Holders
from watchgate.core.model.verdicts import Defer, Report
from watchgate.core.secrets import secret_finder
from watchgate.core.secrets.redact import journal_json
from watchgate.service.policies.policy_files import shipped
from watchgate.service.wire.framing import FrameHead

GATE = FrameHead(agent="claude", lane=Lane.GATE, length=0, native="PreToolUse", deadline_s=60.0)
SECRET = "ghp_" + "a1B2" * 9
LONG = "curl -d '" + "some words, more of them; " * 400 + f"' http://h/{SECRET}"
HUGE = f"cat <<END\n{LONG * 12}\nEND"
INPUTS: dict[str, tuple[str, dict[str, Any]]] = {
    "a command": ("Bash", {"command": LONG}),
    "a command of which records keep a part": ("Bash", {"command": HUGE}),
    "a file": ("Write", {"file_path": "/etc/hosts", "content": LONG}),
    "a tool of nobody's": ("Frobnicate", {"text": [LONG, "--token", SECRET]}),
}


class Judged(Desk):
    """A hub that judges by the shipped policy and leaves records as a journal has them."""

    def __init__(self, *handlers: Handler) -> None:
        super().__init__("strict")
        gate = PolicyGate("strict", lambda _cwd: shipped(), home="/home/u", own=())
        config = Config(profile="strict")
        engine = Engine(config, gate, self._id, handlers, traits=traits_in(ADAPTERS))
        self.hub.engine = self.hub.observed._engine = engine
        self.hub.recorder.chain = Chain(
            "core", START, lambda data: journal_json(data, "commands"), Holders()
        )

    def rows(self) -> list[bytes]:
        return [row.data or b"" for row in self.paper.rows]


@pytest.fixture
def looked(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The texts that were looked through, other than the JSON of whole records."""
    texts: list[str] = []
    whole = secret_finder._secrets

    def counting(text: str) -> list[secret_finder.Secret]:
        texts.append(text)
        return whole(text)

    monkeypatch.setattr(secret_finder, "_secrets", counting)
    return texts


def claude(name: str, given: dict[str, Any]) -> bytes:
    return msgspec.json.encode(
        {
            "session_id": "one",
            "hook_event_name": "PreToolUse",
            "cwd": "/home/u/app",
            "permission_mode": "default",
            "tool_name": name,
            "tool_input": given,
            "tool_use_id": "c1",
        }
    )


def own(name: str, given: dict[str, Any]) -> bytes:
    told = {"watchgate": 1, "kind": "tool.pre", "agent": "acp", "session": "s", "tool": name}
    cls = "shell" if name == "Bash" else "other"
    return msgspec.json.encode(told | {"tool_class": cls, "input": given, "ask": True}) + b"\n"


@pytest.mark.parametrize("given", INPUTS.values(), ids=INPUTS.keys())
def test_a_frame_leaves_the_same_records_and_no_long_text_is_looked_through_again(
    given: tuple[str, dict[str, Any]], looked: list[str]
) -> None:
    at_once, ahead = Judged(), Judged()
    raw = claude(*given)
    at_once.hub.frame(GATE, raw, at_once.conn())
    frame = ahead.hub.prepared(ahead.hub.received(GATE, raw, 7))
    assert frame.prepared is not None
    ahead.hub.ahead(frame.prepared)()
    looked.clear()
    ahead.hub.take(frame, ahead.conn())
    assert [text for text in looked if len(text) > 256] == []
    assert ahead.hub.engine.broker.open
    assert ahead.rows() == at_once.rows()
    assert SECRET.encode() not in b"".join(ahead.rows())


@pytest.mark.parametrize("given", INPUTS.values(), ids=INPUTS.keys())
def test_so_does_a_line(given: tuple[str, dict[str, Any]], looked: list[str]) -> None:
    at_once, ahead = Judged(), Judged()
    raw = own(*given)
    list(at_once.hub.lines(raw, Source("g"), at_once.conn))
    source = Source("g")
    prepared = ahead.hub.lines_prepared(raw, source)()
    ahead.hub.ahead(prepared)()
    looked.clear()
    list(ahead.hub.lines(raw, source, ahead.conn, prepared.secrets))
    assert [text for text in looked if len(text) > 256] == []
    assert ahead.hub.engine.broker.open
    assert ahead.rows() == at_once.rows()


def test_a_line_that_is_read_ahead_changes_nothing_of_its_source() -> None:
    desk, source = Judged(), Source("g")
    started = b'{"type":"thread.started","thread_id":"t"}\n'
    desk.hub.lines_prepared(started, source)()
    assert source.session == ""
    list(desk.hub.lines(started, source, desk.conn))
    assert source.session == "t"
    item = {"id": "i", "type": "command_execution", "status": "in_progress", "command": "ls"}
    line = msgspec.json.encode({"type": "item.started", "item": item}) + b"\n"
    (event,) = desk.hub.lines_prepared(line, source)().events
    assert event.session == "t"


def test_an_unreadable_line_is_taken_as_it_is() -> None:
    desk = Judged()
    prepared = desk.hub.lines_prepared(b'{"x":\n', Source("g"))()
    desk.hub.ahead(prepared)()
    list(desk.hub.lines(b'{"x":\n', Source("g"), desk.conn, prepared.secrets))
    assert "unknown" in desk.kinds()


@pytest.fixture
def now_ns() -> Iterator[list[int]]:
    """The processor time of all threads, as far as they look at it."""
    now = [0]
    allowance.measure_by(lambda: now[0])
    yield now
    allowance.measure_by(None)


def test_work_beside_the_loop_pauses_when_it_looks_at_its_time(now_ns: list[int]) -> None:
    pauses: list[int] = []
    with allowance.pausing(pauses.append), allowance.one_text():
        allowance.check()
        now_ns[0] = 7
        allowance.check()
    with allowance.one_text():
        allowance.check()
    assert pauses == [0, 7]


def test_what_is_known_of_texts_outlasts_the_handlers_that_are_asked_first(
    looked: list[str],
) -> None:
    desk = Judged(Handler(id="guard", on=frozenset({"tool.pre"})))
    raw = claude("Bash", {"command": HUGE})
    frame = desk.hub.prepared(desk.hub.received(GATE, raw, 7))
    assert frame.prepared is not None
    desk.hub.ahead(frame.prepared)()
    desk.hub.take(frame, desk.conn())
    looked.clear()
    ((dispatch_id, _),) = desk.runs.asked
    desk.hub.on_report(dispatch_id, "guard", Report(verdict=Defer()))
    assert desk.hub.engine.broker.open
    assert [text for text in looked if len(text) > 256] == []
