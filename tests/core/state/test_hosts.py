"""Several cores in one state: what is so of all, and what a lost one leaves."""

from __future__ import annotations

from tests.ui.fleet_bench import asked, call
from watchgate.core.model.records import Record
from watchgate.core.model.views import GateView
from watchgate.core.state.hosts import HostView, common_gate
from watchgate.core.state.restore import restore
from watchgate.core.state.state import State
from watchgate.ui.fleet.host_names import HostNames

NOW_US = 1_000_000


def host(
    name: str, *, there: bool = True, profile: str = "guard", off_until: int | None = None
) -> HostView:
    """A host that answers or is lost, with its gate."""
    gate = GateView(profile=profile, off_until=off_until)
    return HostView(name=name, state="attached" if there else "lost", gate=gate)


def of(name: str, record: Record) -> Record:
    """The record as it reads beside those of other hosts."""
    return HostNames(name).record(record, record.at)


def test_the_gate_is_off_where_it_is_off_everywhere_until_the_first_is_on_again() -> None:
    assert common_gate([], NOW_US) == GateView()
    assert common_gate([host("a", off_until=0), host("b")], NOW_US).off_until is None
    assert common_gate([host("a", off_until=0), host("b", off_until=0)], NOW_US).off_until == 0
    both = [host("a", off_until=0), host("b", off_until=NOW_US + 5)]
    assert common_gate(both, NOW_US).off_until == NOW_US + 5
    assert common_gate(both, NOW_US + 5).off_until is None


def test_a_lost_host_has_no_say_in_what_is_so_now() -> None:
    hosts = [host("a", there=False, profile="watch"), host("b", off_until=0)]
    gate = common_gate(hosts, NOW_US)
    assert (gate.profile, gate.off_until) == ("guard", 0)


def test_what_a_lost_host_asks_leaves_and_the_rest_stays() -> None:
    state = State()
    state.set_hosts([host("a"), host("b")], NOW_US)
    for number, name in enumerate(("a", "b")):
        state.apply(of(name, call(2 * number + 1, "c1")))
        state.apply(of(name, asked(2 * number + 2, f"of {name}", "c1")))
    state.set_hosts([host("a"), host("b", there=False)], NOW_US)
    assert list(state.pending) == ["a/of a"]
    stages = {row.label: row.stage for row in state.rows}
    assert stages == {"a:api": "pending", "b:api": "host lost"}
    assert {view.label: view.pending for view in state.sessions.values()} == {
        "a:api": 1,
        "b:api": 0,
    }


def test_labels_are_apart_on_each_host_by_themselves() -> None:
    state = restore(seq=0, core="", at=0, gate=GateView(), hosts=[host("a"), host("b")])
    for number, (name, session) in enumerate((("a", "x"), ("a", "y"), ("b", "x"))):
        state.apply(of(name, call(number + 1, "c", session=session)))
    assert [view.label for view in state.sessions.values()] == ["a:api", "a:api~y", "b:api"]


def test_a_session_without_a_folder_is_named_by_its_own_id() -> None:
    state = State()
    state.set_hosts([host("a")], NOW_US)
    state.apply(of("a", call(1, "c", session="0123456789", cwd="")))
    assert [view.label for view in state.sessions.values()] == ["a:01234567"]


def test_with_a_single_core_nothing_is_named_by_a_host() -> None:
    state = State()
    state.apply(call(1, "c", session="a/b"))
    (view,) = state.sessions.values()
    assert (view.label, view.host, state.host_of("a/b")) == ("api", "", "")


def test_the_place_of_an_agent_is_kept_after_its_request() -> None:
    state = State()
    state.apply(call(1, "c1"))
    state.apply(asked(2, "r1", "c1"))
    (view,) = state.sessions.values()
    assert (view.pid, view.env) == (77, {"TMUX_PANE": "%3"})
