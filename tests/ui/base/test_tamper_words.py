"""A changed file of the gate is told once with a bell, and stays on screen until it is mended."""

from __future__ import annotations

from collections.abc import Mapping

from tests.core.builders import START
from watchgate.core.model.records import Record, TamperedData
from watchgate.core.model.views import GateView
from watchgate.core.state.hosts import HostView
from watchgate.core.state.state import State
from watchgate.ui.base.tamper_words import tampered_words
from watchgate.ui.fleet.fleet_words import host_chips
from watchgate.ui.notifications.notices import Notices
from watchgate.ui.source.core_bridge import Link
from watchgate.ui.view_model.overview import journal_words, strip_view

HOOKS = TamperedData(
    part="hooks", path="/a", what="the entries are gone", agent="claude", mend="watchgate install c"
)
CLIENT = TamperedData(part="client", path="/b", what="the client is another", mend="mend it")
TRIED = TamperedData(part="attempt", path="", what="sh tried to allow a call", mend="look")
NOW = START.wall_us
ATTACHED = Link(state="attached")


def gate(*found: TamperedData) -> GateView:
    return GateView(tampered=found)


def test_the_newest_is_named_with_its_mend_and_the_others_are_counted() -> None:
    assert tampered_words(gate(), whole=True) == ""
    assert tampered_words(gate(HOOKS), whole=True) == "claude hooks changed: watchgate install c"
    assert tampered_words(gate(HOOKS, CLIENT), whole=False) == "hook client changed and 1 other"


def test_an_attempt_is_an_alarm_and_no_changed_file() -> None:
    words = tampered_words(gate(CLIENT, TRIED), whole=False)
    assert words == "no person tried to decide and 1 other"
    state = State()
    state.gate = gate(TRIED)
    assert strip_view(state, ATTACHED, NOW, demo=False).attempted
    state.gate = gate(CLIENT)
    assert not strip_view(state, ATTACHED, NOW, demo=False).attempted


def test_the_strip_counts_them() -> None:
    state = State()
    state.gate = gate(HOOKS, CLIENT)
    assert strip_view(state, ATTACHED, NOW, demo=False).tampered == 2


def test_what_comes_is_told_once_and_what_was_there_at_first_is_not() -> None:
    state, notices = State(), Notices()
    state.gate = gate(HOOKS)
    assert notices.look(state, ATTACHED, NOW) == []
    state.gate = gate(HOOKS, CLIENT)
    (notice,) = notices.look(state, ATTACHED, NOW)
    assert (notice.kind, notice.text, notice.rings) == ("tampered", "the client is another", True)
    assert notices.look(state, ATTACHED, NOW) == []
    state.gate = gate()
    assert notices.look(state, ATTACHED, NOW) == []
    state.gate = gate(HOOKS)
    assert len(notices.look(state, ATTACHED, NOW)) == 1


def test_another_machines_files_are_told_with_its_name() -> None:
    state = State()
    state.hosts["lab"] = HostView(name="lab", state="attached", gate=gate(HOOKS))
    whole = "lab claude hooks changed: watchgate install c there"
    assert host_chips(state, NOW) == [(whole, "lab claude hooks changed")]


def test_text_from_outside_stays_on_its_line() -> None:
    hostile = TamperedData(
        part="hooks", path="/a", what="x", agent="a\u202e\n" * 30, mend="m\x1b[2J"
    )
    words = tampered_words(gate(hostile), whole=True)
    assert words.isprintable()
    assert len(words) < 120


def test_a_lost_journal_is_named_with_what_it_means() -> None:
    assert journal_words(GateView(), whole=True) == ""
    lost = GateView(journal="disk full")
    assert journal_words(lost, whole=True) == "journal lost, acting calls denied: disk full"
    assert journal_words(lost, whole=False) == "journal lost"


def test_a_new_core_begins_without_alarms_and_finds_them_again() -> None:
    state = State()
    tampered = {"part": "hooks", "path": "/a", "what": "w", "agent": "claude"}
    state.apply(record(1, "policy.tampered", tampered))
    state.apply(record(2, "policy.tampered", {**tampered, "what": "worse"}))
    assert [each.what for each in state.gate.tampered] == ["worse"]
    state.apply(record(3, "policy.started", {"what": "core started", "profile": "guard"}))
    assert state.gate.tampered == ()
    state.apply(record(4, "policy.tampered", tampered))
    state.apply(record(5, "policy.intact", tampered))
    assert (state.gate.tampered, state.skipped) == ((), 0)


def record(seq: int, kind: str, data: Mapping[str, object]) -> Record:
    return Record(v=1, seq=seq, core="c", at=NOW, kind=kind, data=dict(data))
