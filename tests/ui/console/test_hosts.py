"""Several machines on the screen: how many answer, what is wrong with one, and where agents run."""

from __future__ import annotations

import msgspec
import pytest

from tests.ui.console_bench import OPTIONS, Hands, keys_as_pressed
from tests.ui.fake_source import FakeClock
from tests.ui.fleet_bench import Fleet, asked, call
from tests.ui.picture import NOW_US, busy
from watchgate.core.model.views import GateView
from watchgate.core.state.hosts import HostView
from watchgate.core.state.state import State
from watchgate.ui.console.app import WatchgateApp
from watchgate.ui.fleet.fleet_words import host_chips, hosts_words, off_here, why_lost
from watchgate.ui.source.core_bridge import Link
from watchgate.ui.view_model.console_options import Terminal
from watchgate.ui.view_model.overview import strip_view

SECOND_US = 1_000_000


def standing(*hosts: HostView) -> State:
    """A state in which hosts stand like this."""
    state = State()
    state.set_hosts(hosts, NOW_US)
    return state


def here(**gate: object) -> HostView:
    """This machine, which answers."""
    view = msgspec.convert(gate, GateView)
    return HostView(name="here", state="attached", local=True, gate=view)


def lost(**fields: object) -> HostView:
    """Another machine, which does not."""
    known = {"name": "lab2", "state": "lost", "retry_at": NOW_US + 4 * SECOND_US}
    return msgspec.convert({**known, **fields}, HostView)


def test_a_single_core_has_no_hosts_to_tell_of() -> None:
    state = State()
    assert (hosts_words(state, NOW_US), host_chips(state, NOW_US), off_here(state, NOW_US)) == (
        "",
        [],
        False,
    )
    assert strip_view(state, Link(), NOW_US, demo=False).hosts == ""


def test_how_many_answer_is_told() -> None:
    assert hosts_words(standing(here()), NOW_US) == "1 host"
    off = standing(here(off_until=0), HostView(name="lab3", state="attached"), lost())
    assert hosts_words(off, NOW_US) == "2 of 3 hosts, 1 NOT GATING"
    state = standing(here(), lost())
    assert hosts_words(state, NOW_US) == "1 of 2 hosts"
    view = strip_view(state, Link(state="attached"), NOW_US, demo=False)
    assert (view.hosts, view.away) == ("1 of 2 hosts", True)


def test_a_lost_one_says_what_waits_there_and_when_it_is_tried_again() -> None:
    assert host_chips(standing(here(), lost()), NOW_US) == [
        ("lab2 lost, next try in 4 s", "lab2 lost")
    ]
    (chip,) = host_chips(standing(here(), lost(waiting=2)), NOW_US)
    assert chip[0] == "lab2 lost, 2 requests wait there, next try in 4 s"
    (chip,) = host_chips(standing(here(), lost(waiting=1)), NOW_US + 9 * SECOND_US)
    assert chip[0] == "lab2 lost, 1 request waits there, next try in 0 s"
    (chip,) = host_chips(standing(here(), lost(why="the core is gone: it hung up")), NOW_US)
    assert chip == ("lab2 lost: it hung up, next try in 4 s", "lab2 lost")
    why = "no core at ssh://lab2: Permission denied\x1b[2J"
    assert why_lost(standing(here(), lost(why=why))) == ["lab2: Permission denied<U+001B>[2J"]


@pytest.mark.parametrize(
    ("gate", "chip"),
    [
        ({"off_until": 0}, "here GATE OFF"),
        ({"off_until": NOW_US - 1}, None),
        ({"journal": "lost: disk full"}, "here journal"),
        ({"profile": "watch"}, "here NOT GATING"),
        ({"policy": "x", "policy_broken": True}, "here policy"),
        ({"project_fault": "x"}, "here policy"),
    ],
)
def test_what_is_wrong_with_a_gate_is_told_of_its_own_machine(
    gate: dict[str, object], chip: str | None
) -> None:
    lab3 = HostView(name="lab3", state="attached")
    short = [each for _, each in host_chips(standing(here(**gate), lab3), NOW_US)]
    assert short == ([chip] if chip else [])


def test_the_worst_comes_first_and_of_many_only_the_number_is_told() -> None:
    many = [lost(name=f"lab{n}") for n in range(5)]
    chips = host_chips(standing(here(off_until=0), *many), NOW_US)
    assert [short for _, short in chips] == ["lab0 lost", "lab1 lost", "4 hosts more"]


def test_a_switch_of_one_machine_is_not_the_switch_of_all() -> None:
    state = standing(here(off_until=0), HostView(name="lab2", state="attached"))
    assert off_here(state, NOW_US)
    assert state.gate.off_until is None
    assert strip_view(state, Link(state="attached"), NOW_US, demo=False).alert != "off"


class Shown(Hands):
    """A console on a fleet, and the places that it was sent to."""

    def __init__(self, fleet: Fleet) -> None:
        self.went: list[Terminal] = []
        options = msgspec.structs.replace(OPTIONS, go_to=self._go_to)
        app = WatchgateApp(fleet.source, fleet.clock, options, fleet.clock.now_s)
        super().__init__(app, fleet.clock)

    async def _go_to(self, where: Terminal) -> str:
        self.went.append(where)
        return "tmux shows pane %3"


async def test_o_never_goes_to_a_pane_that_is_another_machines() -> None:
    fleet = Fleet("here", "lab2", clock=FakeClock(NOW_US))
    shown = Shown(fleet)
    with keys_as_pressed():
        async with shown.app.run_test(size=(120, 40)) as pilot:
            shown.pilot = pilot
            await shown.until(lambda: len(shown.app.bridge.state.hosts) == 2)
            fleet.cores["lab2"].feed(call(11, "c1"), asked(12, "far", "c1"))
            await shown.until(lambda: shown.app.bridge.state.pending)
            await shown.press("o")
            assert "the agent runs on lab2, tmux pane %3, pid 77" in shown.screen
            assert not shown.went
            fleet.cores["here"].feed(call(11, "c1"), asked(12, "near", "c1"))
            await shown.until(lambda: len(shown.app.bridge.state.pending) == 2)
            await shown.press("tab", "o")
            await shown.until(lambda: shown.went)
            assert shown.went == [Terminal(agent_pid=77, env={"TMUX_PANE": "%3"})]


async def test_o_goes_by_the_call_under_the_cursor_when_no_request_is_open() -> None:
    fleet = Fleet("here", "lab2", clock=FakeClock(NOW_US))
    shown = Shown(fleet)
    with keys_as_pressed():
        async with shown.app.run_test(size=(120, 40)) as pilot:
            shown.pilot = pilot
            await shown.until(lambda: len(shown.app.bridge.state.hosts) == 2)
            fleet.cores["here"].feed(call(11, "c1"))
            await shown.until(lambda: len(shown.app.bridge.state.rows) == 1)
            await shown.press("o")
            assert "only a request tells" in shown.screen
            request = asked(12, "near", "c1")
            over = {"word": "denied-by-operator", "by": "ana", "waited_s": 1.0}
            end = msgspec.structs.replace(request, seq=13, kind="approval.decided", data=over)
            fleet.cores["here"].feed(request, end)
            await shown.until(lambda: shown.app.bridge.state.last)
            await shown.press("o")
            await shown.until(lambda: shown.went)


async def test_the_sessions_of_a_lost_machine_are_quiet_and_stay_with_their_host() -> None:
    fleet = Fleet("here", "lab2", clock=FakeClock(NOW_US))
    fleet.cores["lab2"].snapshot = busy()
    shown = Shown(fleet)
    with keys_as_pressed():
        async with shown.app.run_test(size=(120, 40)) as pilot:
            shown.pilot = pilot
            await shown.until(lambda: len(shown.app.bridge.state.hosts) == 2)
            fleet.cores["here"].feed(call(11, "c1"))
            await shown.until(lambda: len(shown.app.bridge.state.sessions) == 5)
            await shown.settle()
            lines = shown.text(shown.app.monitor.sessions)
            assert lines.index("lab2:api-fix") < lines.index("here:api"), "one waits for a person"
            fleet.cores["lab2"].lose("Timeout, lab2 is away")
            await shown.until(lambda: not shown.app.bridge.state.pending)
            await shown.settle()
            lines = shown.text(shown.app.monitor.sessions)
            assert "host lost" in lines
            assert lines.index("here:api") < lines.index("lab2:api-fix")
            assert "1 of 2 hosts" in shown.screen
            assert "lab2: Timeout, lab2 is away" in shown.screen
