"""Several cores as one picture: sessions named by host, each request to its own core alone."""

from __future__ import annotations

from typing import Any, cast

import anyio
import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.ui.fake_source import FOUND, FakeSource
from tests.ui.fleet_bench import Fleet, asked, call, core_record, decided, empty, record, until
from tests.ui.picture import CRITICAL, NOW_US, busy
from watchgate.core.model.agent_state import AgentState, install_command
from watchgate.core.model.views import GateView, Totals
from watchgate.core.presence.proof import Standing
from watchgate.link.control_lines import CoreLost
from watchgate.link.protocol import Presence, Push, Refusal, Request, Result
from watchgate.ui.fleet.fleet_source import shift

LATER_US = 90_000_000


@pytest.fixture
def fleet() -> Fleet:
    """This machine's core and another one's."""
    return Fleet("here", "lab2")


async def test_sessions_calls_and_requests_are_named_by_their_host(fleet: Fleet) -> None:
    fleet.cores["lab2"].snapshot = busy()
    async with fleet.running():
        state = fleet.bridge.state
    names = {view.label for view in state.sessions.values()}
    assert names == {"lab2:api-fix", "lab2:docs", "lab2:ci", "lab2:web"}
    assert {view.host for view in state.sessions.values()} == {"lab2"}
    view = state.pending[f"lab2/{CRITICAL}"]
    (told,) = (each for each in busy().pending if each.id == CRITICAL)
    assert (view.label, view.session) == ("lab2:api-fix", f"lab2/{told.session}")
    assert view.data == told.data, "what is decided about is as the core told it"
    assert state.calls.get((view.agent, view.session, view.call)) is not None


async def test_a_session_that_appears_later_is_named_by_its_host_too(fleet: Fleet) -> None:
    async with fleet.running():
        fleet.cores["here"].feed(call(11, "c1"))
        fleet.cores["lab2"].feed(call(11, "c1"), asked(12, "r2", "c1"))
        await until(lambda: len(fleet.bridge.state.rows) == 2 and fleet.bridge.state.pending)
        state = fleet.bridge.state
    assert {row.label for row in state.rows} == {"here:api", "lab2:api"}
    assert state.pending["lab2/r2"].label == "lab2:api"
    assert state.seq == 13, "all have numbers of one row"


async def test_a_decision_goes_to_the_core_that_asked_and_to_no_other(fleet: Fleet) -> None:
    async with fleet.running():
        fleet.cores["lab2"].feed(call(11, "c1"), asked(12, "r2", "c1"))
        await until(lambda: fleet.bridge.state.pending)
        digest = fleet.bridge.state.pending["lab2/r2"].data.digest
        answer = await fleet.bridge.ask(
            Request(id=1, verb="decide", request="lab2/r2", digest=digest, decision="deny")
        )
    assert isinstance(answer, Result)
    assert answer.ok["host"] == "lab2"
    assert not fleet.cores["here"].asked
    (sent,) = fleet.cores["lab2"].asked
    assert (sent.request, sent.digest, sent.decision) == ("r2", "digest of r2", "deny")


@pytest.mark.parametrize("name", ["", "r2", "lab2/", "lab3/r2", "/r2", "nobody's"])
async def test_what_no_core_asked_is_decided_nowhere(fleet: Fleet, name: str) -> None:
    async with fleet.running():
        fleet.cores["lab2"].feed(call(11, "c1"), asked(12, "r2", "c1"))
        await until(lambda: fleet.bridge.state.pending)
        answer = await fleet.bridge.call("decide", request=name, decision="deny")
    assert isinstance(answer, Refusal)
    assert answer.refused == "unknown_id"
    assert not any(core.asked for core in fleet.cores.values())


async def test_the_same_id_on_two_machines_is_two_requests(fleet: Fleet) -> None:
    async with fleet.running():
        for core in fleet.cores.values():
            core.feed(call(11, "c1"), asked(12, "twins", "c1"))
        await until(lambda: len(fleet.bridge.state.pending) == 2)
        await fleet.bridge.call("decide", request="lab2/twins", decision="deny")
        assert [request.request for request in fleet.cores["lab2"].asked] == ["twins"]
        assert not fleet.cores["here"].asked
        fleet.cores["lab2"].feed(decided(13, "twins", "c1"))
        await until(lambda: fleet.bridge.state.last)
    assert list(fleet.bridge.state.pending) == ["here/twins"]


async def test_the_switch_is_that_of_this_machine_and_the_answer_says_so(fleet: Fleet) -> None:
    async with fleet.running():
        answer = await fleet.bridge.call("off", seconds=60)
    assert isinstance(answer, Result)
    assert answer.ok["host"] == "here"
    assert [request.verb for request in fleet.cores["here"].asked] == ["off"]
    assert not fleet.cores["lab2"].asked


async def test_all_hear_that_somebody_is_there(fleet: Fleet) -> None:
    async with fleet.running():
        await fleet.bridge.hello()
    assert [core.greeted for core in fleet.cores.values()] == [1, 1]


async def test_grants_are_those_of_all_and_are_taken_back_where_they_were_given(
    fleet: Fleet,
) -> None:
    grant = {"id": "g1", "scope": "session", "agent": "claude", "session": "s1", "folder": "",
             "tool": "Bash", "summary": "ls", "by": "ana", "given_at": NOW_US}  # fmt: skip
    fleet.cores["lab2"].answer = lambda request: Result(id=1, ok={"grants": [grant]})
    async with fleet.running():
        fleet.cores["lab2"].feed(record(11, "grant.given", data=grant))
        await until(lambda: fleet.bridge.state.grants)
        assert fleet.bridge.state.grants["lab2/g1"].session == "lab2/s1"
        answer = await fleet.bridge.call("grants")
        assert isinstance(answer, Result)
        assert [each["session"] for each in answer.ok["grants"]] == ["lab2/s1"]
        await fleet.bridge.call("revoke", grant="lab2/g1")
    assert [request.verb for request in fleet.cores["here"].asked] == ["grants"]
    assert [request.verb for request in fleet.cores["lab2"].asked] == ["grants", "revoke"]


async def test_a_search_is_put_to_each_in_its_own_words(fleet: Fleet) -> None:
    def found(at: int) -> Any:
        return lambda request: Result(id=1, ok={"records": [{"at": at, "session": "s1"}]})

    fleet.cores["here"].answer, fleet.cores["lab2"].answer = found(1), found(2)
    async with fleet.running():
        answer = await fleet.bridge.call("search", filter="risk:high")
        assert isinstance(answer, Result)
        assert [each["session"] for each in answer.ok["records"]] == ["lab2/s1", "here/s1"]
        await fleet.bridge.call("search", filter="session:lab2/s1 risk:high")
        await fleet.bridge.call("search", filter="host:here rm", what="calls")
        await fleet.bridge.call("search", filter="rm", what="calls")
    assert [r.filter for r in fleet.cores["here"].asked] == ["risk:high", "rm", "rm"]
    assert [r.filter for r in fleet.cores["lab2"].asked] == ["risk:high", "session:s1 risk:high"]


async def test_agents_are_those_of_all_machines_each_with_its_name(fleet: Fleet) -> None:
    fleet.cores["lab2"].agents = FOUND[1:]
    async with fleet.running():
        told = await fleet.bridge.call("list", what="agents")

    assert isinstance(told, Result)
    rows = [(each["host"], each["agent"]) for each in told.ok["agents"]]
    assert rows == [("", "claude"), ("", "codex"), ("lab2", "codex")]
    states = msgspec.convert(told.ok["agents"], list[AgentState])
    assert install_command(states) == "watchgate install claude codex", "on this machine alone"


async def test_one_that_is_lost_leaves_the_others_at_work(fleet: Fleet) -> None:
    async with fleet.running():
        fleet.cores["lab2"].feed(call(11, "c1"), asked(12, "r2", "c1"))
        fleet.cores["here"].feed(call(11, "c1"), asked(12, "r1", "c1"))
        await until(lambda: len(fleet.bridge.state.pending) == 2)
        fleet.cores["lab2"].lose("the network is down")
        await until(lambda: fleet.stands("lab2") == "lost")
        bridge, state = fleet.bridge, fleet.bridge.state
        assert bridge.link.state == "attached"
        assert list(state.pending) == ["here/r1"]
        lab2 = state.hosts["lab2"]
        assert (lab2.waiting, lab2.tries, lab2.retry_at) == (1, 1, NOW_US + 1_000_000)
        assert "the network is down" in lab2.why
        row = state.calls.get(("claude", "lab2/s1", "c1"))
        assert row is not None
        assert (row.glyph, row.stage) == ("?", "host lost")
        answer = await bridge.call("decide", request="lab2/r2", decision="deny")
        assert isinstance(answer, Refusal)
        assert answer.message == "lab2 is not reachable: nothing was done there"
        fleet.cores["here"].feed(call(13, "c2"))
        await until(lambda: len(state.rows) == 3)


async def test_one_that_comes_back_has_its_part_rebuilt_in_the_order_of_time(
    fleet: Fleet,
) -> None:
    async with fleet.running():
        fleet.cores["lab2"].feed(call(11, "old"))
        await until(lambda: len(fleet.bridge.state.rows) == 1)
        fleet.cores["lab2"].lose()
        await until(lambda: fleet.stands("lab2") == "lost")
        fleet.cores["here"].feed(call(11, "newest"))
        await until(lambda: len(fleet.bridge.state.rows) == 2)
        fleet.wait_over()
        await until(lambda: fleet.bridge.state.hosts["lab2"].tries == 2)
        told = busy()
        fleet.cores["lab2"].revive(msgspec.structs.replace(told, rows=told.rows[-3:]))
        fleet.wait_over()
        await until(lambda: fleet.stands("lab2") == "attached")
        state = fleet.bridge.state
        assert set(state.pending) == {f"lab2/{view.id}" for view in told.pending}
        assert [row.at for row in state.rows] == sorted(row.at for row in state.rows)
        assert {row.summary for row in state.rows} >= {"newest"}
        assert state.hosts["lab2"].waiting == 0
        assert fleet.slept[:2] == [1, 2]


async def test_a_core_that_starts_anew_clears_its_own_requests_alone(fleet: Fleet) -> None:
    async with fleet.running():
        for name, core in fleet.cores.items():
            core.feed(call(11, "c1"), asked(12, f"of {name}", "c1"))
        await until(lambda: len(fleet.bridge.state.pending) == 2)
        fleet.cores["lab2"].feed(core_record(13, "policy.started", profile="strict"))
        await until(lambda: len(fleet.bridge.state.pending) == 1)
        state = fleet.bridge.state
    assert list(state.pending) == ["here/of here"]
    assert state.hosts["lab2"].gate.profile == "strict"
    assert state.gate.profile == "guard"


async def test_a_gate_that_is_off_somewhere_is_off_there_alone(fleet: Fleet) -> None:
    async with fleet.running():
        fleet.cores["lab2"].feed(core_record(11, "policy.off", until=0), call(12, "c1"))
        await until(lambda: len(fleet.bridge.state.rows) == 1)
        state = fleet.bridge.state
        assert state.hosts["lab2"].gate.off_until == 0
        assert state.gate.off_until is None
        fleet.cores["here"].feed(core_record(11, "policy.off", until=NOW_US + 5))
        await until(lambda: state.gate.off_until is not None)
        assert state.gate.off_until == NOW_US + 5, "until the first of them is on again"


async def test_another_clock_counts_down_right_by_ours(fleet: Fleet) -> None:
    deadline = NOW_US + LATER_US + 30_000_000
    fleet.cores["lab2"].snapshot = msgspec.structs.replace(busy(), now=NOW_US + LATER_US)
    async with fleet.running():
        fleet.cores["lab2"].feed(asked(48_212, "r2", "c1", deadline_at=deadline))
        await until(lambda: "lab2/r2" in fleet.bridge.state.pending)
        state = fleet.bridge.state
    assert fleet.bridge.now_us() == NOW_US
    assert state.pending["lab2/r2"].data.deadline_at == NOW_US + 30_000_000
    assert state.pending["lab2/r2"].at == NOW_US - LATER_US
    (was,) = (view for view in busy().pending if view.id == CRITICAL)
    assert state.pending[f"lab2/{CRITICAL}"].at == was.at - LATER_US


def test_a_time_between_question_and_answer_is_right() -> None:
    assert shift(100, 150, 200) == 0
    assert shift(100, 50, 200) == 100
    assert shift(100, 1_150, 200) == -1_000


async def test_when_none_answers_the_core_is_lost_as_with_a_single_one(fleet: Fleet) -> None:
    async with fleet.running():
        fleet.cores["lab2"].lose("ssh said no")
        await until(lambda: fleet.stands("lab2") == "lost")
        fleet.cores["here"].lose("it closed the connection")
        await until(lambda: fleet.bridge.link.lost)
        assert "ssh said no" in fleet.bridge.link.why
        with pytest.raises(CoreLost):
            await fleet.bridge.call("list")
        fleet.cores["here"].revive(empty(20))
        fleet.bridge.retry_now()
        await until(lambda: fleet.bridge.link.state == "attached")
        assert (fleet.stands("here"), fleet.stands("lab2")) != ("lost", "lost")


async def test_the_picture_does_not_wait_for_one_that_is_slow(fleet: Fleet) -> None:
    fleet.cores["lab2"].absent = True
    async with fleet.running():
        assert fleet.bridge.link.state == "attached"
        await until(lambda: fleet.stands("lab2") == "lost")


async def test_nobody_there_names_every_reason(fleet: Fleet) -> None:
    for core in fleet.cores.values():
        core.absent = True
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(fleet.bridge.run)
        await until(lambda: fleet.bridge.link.lost)
        tasks.cancel_scope.cancel()
    assert fleet.bridge.link.why.count("nobody listens") == 2


async def test_the_counters_of_the_day_are_those_of_all(fleet: Fleet) -> None:
    counted = msgspec.structs.replace(empty(), totals=Totals(allowed_by_operator=2, alarms=1))
    for core in fleet.cores.values():
        core.snapshot = counted
    async with fleet.running():
        totals = fleet.bridge.state.totals
    assert (totals.allowed_by_operator, totals.alarms) == (4, 2)


async def test_a_goodbye_and_a_gap_of_one_are_its_own(fleet: Fleet) -> None:
    async with fleet.running():
        lab2 = fleet.cores["lab2"]
        lab2.pushes.append(Push(gap=(11, 14)))
        lab2.feed(call(15, "c1"))
        await until(lambda: fleet.bridge.skipped == 4 and len(fleet.bridge.state.rows) == 1)
        lab2.absent = True
        lab2.pushes.append(Push(closed="it was stopped"))
        lab2.something.set()
        await until(lambda: fleet.stands("lab2") == "lost")
        assert "it was stopped" in fleet.bridge.state.hosts["lab2"].why
        assert fleet.bridge.link.state == "attached"


@st.composite
def _steps(draw: st.DrawFn) -> list[str]:
    return draw(st.lists(st.sampled_from(("here", "lab2", "lab3", "turn")), max_size=40))


@given(_steps())
def test_in_any_interleaving_each_keeps_its_order_and_hears_of_its_own_alone(
    steps: list[str],
) -> None:
    anyio.run(_interleaved, steps)


async def _interleaved(steps: list[str]) -> None:
    fleet = Fleet("here", "lab2", "lab3")
    sent: dict[str, list[str]] = {name: [] for name in fleet.cores}
    seq = dict.fromkeys(fleet.cores, 10)
    async with fleet.running():
        for step in steps:
            if step == "turn":
                await anyio.lowlevel.checkpoint()
                continue
            ref = f"{step}-{len(sent[step])}"
            sent[step].append(ref)
            fleet.cores[step].feed(call(seq[step] + 1, ref), asked(seq[step] + 2, ref, ref))
            seq[step] += 2
        every = [ref for refs in sent.values() for ref in refs]
        await until(lambda: len(fleet.bridge.state.pending) == len(every))
        state = fleet.bridge.state
        assert state.seq == 10 + 2 * len(every)
        for name, refs in sent.items():
            rows = [row for row in state.rows if row.session == f"{name}/s1"]
            assert [row.call for row in rows] == refs
        for ref in reversed(every):
            name = f"{ref.partition('-')[0]}/{ref}"
            await fleet.bridge.call("decide", request=name, decision="deny")
        for name, refs in sent.items():
            assert [request.request for request in fleet.cores[name].asked] == refs[::-1]


async def test_a_console_that_looked_elsewhere_for_a_while_finds_all_again(fleet: Fleet) -> None:
    async with fleet.running():
        fleet.cores["lab2"].feed(call(11, "c1"), asked(12, "r2", "c1"))
        await until(lambda: fleet.bridge.state.pending)
    fleet.cores["lab2"].absent = True
    async with fleet.running():
        await until(lambda: fleet.stands("lab2") == "lost")
        assert not fleet.bridge.state.pending
        assert fleet.bridge.state.hosts["lab2"].waiting == 1
        assert len(fleet.bridge.state.rows) == 1


async def test_what_was_settled_elsewhere_leaves_the_picture(fleet: Fleet) -> None:
    async with fleet.running():
        lab2: FakeSource = fleet.cores["lab2"]
        lab2.feed(call(11, "c1"), asked(12, "r2", "c1"), decided(13, "r2", "c1"))
        await until(lambda: fleet.bridge.state.last)
        last = fleet.bridge.state.last
    assert last is not None
    assert (last.label, last.by, last.session) == ("lab2:api", "operator ana", "lab2/s1")
    assert not fleet.bridge.state.pending


async def test_the_gates_profile_is_that_of_the_first_that_answers(fleet: Fleet) -> None:
    fleet.cores["here"].absent = True
    gate = GateView(profile="strict")
    fleet.cores["lab2"].snapshot = msgspec.structs.replace(empty(), gate=gate)
    async with fleet.running():
        assert fleet.bridge.state.gate.profile == "strict"


async def test_the_terminal_is_unlocked_at_the_core_that_refused(fleet: Fleet) -> None:
    fleet.cores["here"].presence = Presence(standing="locked", why="here", pin=True)
    fleet.cores["lab2"].presence = Presence(standing="locked", why="lab2", pin=True)
    async with fleet.running():
        told = await fleet.bridge.call("presence", request="lab2/r2")
        assert isinstance(told, Result)
        assert told.ok["why"] == "lab2"
        await fleet.bridge.call("unlock", request="lab2/r2", pin="correct horse")
        await fleet.bridge.call("unlock", request="lab2/r2", code="418207")
    assert [(each.verb, each.pin, each.code) for each in fleet.cores["lab2"].asked] == [
        ("unlock", "correct horse", None),
        ("unlock", None, "418207"),
    ]
    assert not fleet.cores["here"].asked


async def test_without_a_request_the_first_core_on_which_it_is_locked_is_meant(
    fleet: Fleet,
) -> None:
    fleet.cores["lab2"].presence = Presence(standing="locked", why="lab2", pin=True)
    async with fleet.running():
        told = await fleet.bridge.call("presence")
        assert isinstance(told, Result)
        assert (told.ok["standing"], told.ok["host"]) == ("locked", "lab2")
        await fleet.bridge.call("unlock", pin="correct horse")
    assert [each.verb for each in fleet.cores["lab2"].asked] == ["unlock"]
    assert not fleet.cores["here"].asked


async def test_how_a_terminal_stands_is_lost_with_a_core_that_says_it_in_no_known_way(
    fleet: Fleet,
) -> None:
    odd = Presence(standing=cast("Standing", "perhaps"))
    fleet.cores["lab2"].presence = odd
    async with fleet.running():
        with pytest.raises(CoreLost, match="lab2 gave an answer that cannot be read"):
            await fleet.bridge.call("presence")
