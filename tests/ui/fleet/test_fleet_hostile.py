"""A core of another machine that is broken or means ill: it harms what it tells itself, no more."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from tests.ui.console_bench import OPTIONS, Hands, keys_as_pressed
from tests.ui.fake_source import FakeClock
from tests.ui.fleet_bench import Fleet, asked, call, core_record, decided, empty, record, until
from tests.ui.picture import NOW_US, busy
from watchgate.core.model.records import Record
from watchgate.core.model.session_view import SessionView
from watchgate.link.control_lines import CoreLost
from watchgate.link.protocol import Push, Refusal, Request, Result
from watchgate.ui.base.formats import short_id
from watchgate.ui.console.app import WatchgateApp
from watchgate.ui.fleet import fleet_calls
from watchgate.ui.fleet import fleet_source as fleet_module
from watchgate.ui.fleet import foreign_records as fleet_reading
from watchgate.ui.source.agent_titles import title

DAY_US = 86_400 * 1_000_000


@pytest.fixture
def fleet() -> Fleet:
    """This machine's core, and that of a machine that is not to be trusted."""
    return Fleet("here", "lab2")


def deep(levels: int) -> dict[str, Any]:
    """Objects within objects."""
    value: dict[str, Any] = {}
    for _ in range(levels):
        value = {"a": value}
    return value


async def ask_here(fleet: Fleet) -> None:
    """Lets this machine's core ask `r1`."""
    fleet.cores["here"].feed(call(11, "c1"), asked(12, "r1", "c1"))
    await until(lambda: "here/r1" in fleet.bridge.state.pending)


async def tell(fleet: Fleet, *told: Record) -> None:
    """Lets the other machine tell something, and a last thing by which one knows it was read."""
    seq = max((each.seq for each in told), default=11)
    fleet.cores["lab2"].feed(*told, call(seq + 1, "read"))
    await until(lambda: any(row.call == "read" for row in fleet.bridge.state.rows))


@pytest.mark.parametrize(
    "told",
    [
        decided(11, "r1", "c1"),
        decided(11, "here/r1", "c1", session="here/s1"),
        asked(12, "r1", "ls"),
        record(11, "approval.extended", request="r1", data={"deadline_at": NOW_US + 1}),
        record(11, "approval.facts", request="r1", data={"facts": [{"text": "nothing"}]}),
        record(11, "effect.undelivered", request="r1", data={"word": "withdrawn"}),
        core_record(11, "policy.started", profile="guard"),
    ],
)
async def test_what_it_tells_of_an_id_of_another_machine_changes_nothing_there(
    fleet: Fleet, told: Record
) -> None:
    async with fleet.running():
        await ask_here(fleet)
        before = fleet.bridge.state.pending["here/r1"]
        await tell(fleet, told)
        state = fleet.bridge.state
        assert state.pending["here/r1"] == before
        digest = before.data.digest
        await fleet.bridge.ask(
            Request(id=1, verb="decide", request="here/r1", digest=digest, decision="deny")
        )
    assert [each.request for each in fleet.cores["here"].asked] == ["r1"]
    assert not fleet.cores["lab2"].asked


@pytest.mark.parametrize("session", ["", "/", "here/s1", "s1"])
async def test_it_never_reads_as_this_machine(fleet: Fleet, session: str) -> None:
    cwd = "/src/here:api-fix"
    async with fleet.running():
        await ask_here(fleet)
        request = asked(12, "r2", "c9", session=session)
        await tell(fleet, call(11, "c9", session=session, cwd=cwd), request)
        fleet.cores["lab2"].feed(msgspec.structs.replace(request, seq=20, session=None))
        state = fleet.bridge.state
        view = state.pending["lab2/r2"]
        assert view.label.startswith("lab2:")
        assert state.host_of(view.session) == "lab2"
        fleet.cores["lab2"].lose()
        await until(lambda: fleet.stands("lab2") == "lost")
        assert list(state.pending) == ["here/r1"], "what it asked went with it"


async def test_nor_does_what_it_told_first(fleet: Fleet) -> None:
    view = SessionView(agent="claude", session="", label="", host="here")
    pending = msgspec.structs.replace(busy().pending[0], session="", label="")
    told = msgspec.structs.replace(empty(), sessions=(view,), pending=(pending,))
    fleet.cores["lab2"].snapshot = told
    async with fleet.running():
        state = fleet.bridge.state
    assert [(each.label, each.host) for each in state.sessions.values()] == [("lab2:", "lab2")]
    assert [each.label for each in state.pending.values()] == ["lab2:"]


async def test_it_names_its_own_agents_and_renames_none_that_is_known(fleet: Fleet) -> None:
    first = {"nova": "Nova of here"}
    titles = {"claude": "Codex", "nova": "another Nova", "orbit": "Orbit"}
    fleet.cores["here"].snapshot = msgspec.structs.replace(empty(), titles=first)
    fleet.cores["lab2"].snapshot = msgspec.structs.replace(empty(), titles=titles)
    async with fleet.running():
        shown = {agent: title(agent) for agent in titles}
    assert shown == {"claude": "Claude", "nova": "Nova of here", "orbit": "Orbit"}


@pytest.mark.parametrize("titles", [{"nova": "N" * 5_000}, {"n" * 5_000: "Nova"}], ids=len)
def test_a_title_without_an_end_is_not_taken(titles: dict[str, str]) -> None:
    snapshot = msgspec.structs.replace(empty(), titles=titles)
    with pytest.raises(CoreLost, match="the title of an agent in it has no end"):
        fleet_reading.checked(snapshot)


@pytest.mark.parametrize("gap", [(11, -(10**18)), (10**18, 11), (0, 10**40)])
async def test_no_gap_turns_the_numbers_back(fleet: Fleet, gap: tuple[int, int]) -> None:
    async with fleet.running():
        fleet.cores["lab2"].pushes.append(Push(gap=gap))
        await tell(fleet)
        await ask_here(fleet)
        assert 0 <= fleet.bridge.skipped <= fleet_module.GAP_MAX


async def slept(fleet: Fleet, times: int) -> None:
    """Waits until one waits for its next try, for so many times."""
    await until(lambda: len(fleet.slept) >= times)


BAD: list[tuple[str, dict[str, Any]]] = [
    ("tool.pre", {"summary": ["ls"]}),
    ("tool.pre", {"tool": {"name": 5}}),
    ("tool.pre", {"tool": {"name": "x" * 1_001}}),
    ("tool.pre", {"sub": {"type": [1]}}),
    ("tool.post", {"ok": True, "took_ms": "long"}),
    ("tool.post", {"ok": True, "took_ms": 10**400}),
    ("approval.requested", {"timeout_s": "soon"}),
    ("approval.requested", {"tool": {**call(1, "c").data["tool"], "name": "x" * 1_001}}),
    ("approval.requested", {"agent_pid": 10**400}),
    ("approval.requested", {"tool": {**call(1, "c").data["tool"], "input": deep(500)}}),
    ("approval.extended", {"deadline_at": "never"}),
    ("approval.decided", {"word": "denied-by-operator", "by": 5, "waited_s": 1.0}),
    ("approval.decided", {"word": "denied-by-operator", "by": "a", "waited_s": "x"}),
    ("effect.contradicted", {"word": "deny", "alarm": ["x"]}),
    ("usage", {"total_cost_usd": "much"}),
    ("policy.off", {"until": "always"}),
    ("policy.journal", {"detail": 5}),
    ("policy.paused", {"until": 10**400, "why": "x"}),
]


@pytest.mark.parametrize(("kind", "changes"), BAD)
async def test_a_record_that_cannot_be_read_is_passed_over(
    fleet: Fleet, kind: str, changes: dict[str, Any]
) -> None:
    data = {**asked(1, "r2", "c1").data, **call(1, "c1").data, **changes}
    new = kind.startswith("tool.") or kind == "approval.requested"
    request, ref = ("r7", "c7") if new else ("r2", "c1")
    async with fleet.running():
        fleet.cores["lab2"].feed(call(11, "c1"), asked(12, "r2", "c1"))
        await until(lambda: fleet.bridge.state.pending)
        before = told(fleet)
        await tell(fleet, record(13, kind, call=ref, request=request, data=data))
        assert told(fleet) == before


def told(fleet: Fleet) -> tuple[object, ...]:
    """What the other machine's records made of the picture, but for the last thing that it told."""
    state = fleet.bridge.state
    return (
        {row.call: row for row in state.rows if row.call != "read"},
        dict(state.pending),
        tuple(state.settled),
        [(view.cost_usd, view.paused_until) for view in state.sessions.values()],
        state.hosts["lab2"].gate,
    )


async def test_a_request_may_hold_whatever_number_an_agent_sends(fleet: Fleet) -> None:
    request = asked(12, "r2", "c1")
    request.data["tool"]["input"]["timeout"] = 10**40
    async with fleet.running():
        await tell(fleet, call(11, "c1"), request)
        assert "lab2/r2" in fleet.bridge.state.pending


TIMES = [0, -1, -(10**18), 253_402_300_800_000_000, 2**63 - 1, 10**30]


@pytest.mark.parametrize("at", TIMES)
async def test_its_clock_is_no_reason_to_count_the_day_anew_or_to_fail(
    fleet: Fleet, at: int
) -> None:
    fleet.cores["here"].snapshot = busy()
    fleet.cores["lab2"].snapshot = msgspec.structs.replace(busy(), now=at or 1)
    shown = Hands(WatchgateApp(fleet.source, fleet.clock, OPTIONS, fleet.clock.now_s), fleet.clock)
    with keys_as_pressed():
        async with shown.app.run_test(size=(160, 45)) as pilot:
            shown.pilot = pilot
            state = shown.app.bridge.state
            await shown.until(lambda: len(shown.app.bridge.state.hosts) == 2)
            await shown.until(lambda: shown.app.bridge.state.hosts["here"].here)
            far = asked(50_002, "far", "c1", deadline_at=at)
            told = (call(50_001, "c1"), far, decided(50_003, "x", "c1"))
            fleet.cores["lab2"].feed(*(msgspec.structs.replace(each, at=at) for each in told))
            await shown.settle()
            await shown.press("v", "escape", "2", "3", "4", "5", "1")
            state = shown.app.bridge.state
            assert state.at <= NOW_US + DAY_US
            assert state.totals.allowed_by_operator >= busy().totals.allowed_by_operator
            assert all(row.at <= shown.app.bridge.now_us() for row in state.rows)


@pytest.mark.parametrize(
    "numbers",
    [{"calls": 10**400}, {"cost_usd": 1e308}, {"recent": ((1, 2**62),)}, {"cwd": "/" * 70_000}],
)
async def test_a_snapshot_of_numbers_without_measure_is_not_shown(
    fleet: Fleet, numbers: dict[str, Any]
) -> None:
    view = msgspec.structs.replace(SessionView(agent="a", session="s", label="x"), **numbers)
    fleet.cores["lab2"].snapshot = msgspec.structs.replace(empty(), sessions=(view,))
    async with fleet.running_with("here"):
        await until(lambda: fleet.stands("lab2") == "lost")
        assert "cannot be read" in fleet.bridge.state.hosts["lab2"].why
        assert fleet.stands("here") == "attached"


async def test_what_it_says_of_itself_has_an_end(fleet: Fleet) -> None:
    refused = Refusal(id=1, refused="failed", message="x" * 9_000)
    fleet.cores["lab2"].answer = lambda request: refused
    async with fleet.running():
        answer = await fleet.bridge.call("decide", request="lab2/r2", decision="deny")
        assert isinstance(answer, Refusal)
        assert len(answer.message) == fleet_reading.WHY_CHARS
        fleet.cores["lab2"].lose("x" * 9_000)
        await until(lambda: fleet.stands("lab2") == "lost")
        assert len(fleet.bridge.state.hosts["lab2"].why) == fleet_reading.WHY_CHARS


async def test_one_that_asks_without_end_is_left(
    fleet: Fleet, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in (fleet_module, fleet_reading):
        monkeypatch.setattr(module, "REQUESTS_MAX", 3)
    async with fleet.running():
        await ask_here(fleet)
        lab2 = fleet.cores["lab2"]
        lab2.absent = True
        lab2.feed(call(11, "c1"), *(asked(12 + n, f"r{n}", "c1") for n in range(4)))
        await until(lambda: len(fleet.bridge.state.pending) == 5)
        lab2.feed(call(20, "c2"))
        await until(lambda: fleet.stands("lab2") == "lost")
        assert list(fleet.bridge.state.pending) == ["here/r1"]
        assert "more than 3 open requests" in fleet.bridge.state.hosts["lab2"].why


async def test_a_switch_that_is_turned_without_end_is_drawn_as_it_stands(fleet: Fleet) -> None:
    async with fleet.running():
        woken = fleet.woken
        turned: tuple[tuple[str, dict[str, Any]], ...] = (
            ("policy.off", {"until": 0}),
            ("policy.on", {}),
        )
        records = [core_record(11 + n, turned[n % 2][0], **turned[n % 2][1]) for n in range(401)]
        await tell(fleet, *records)
        assert fleet.bridge.state.hosts["lab2"].gate.off_until == 0
        assert fleet.woken - woken < 10


async def test_one_that_comes_and_goes_is_tried_ever_less_often(fleet: Fleet) -> None:
    fleet.cores["lab2"].pushes.append(Push(closed="not today"))
    async with fleet.running_with("here"):
        for times in range(1, 4):
            await slept(fleet, times)
            fleet.cores["lab2"].pushes.append(Push(closed="not today"))
            fleet.wait_over()
        await slept(fleet, 4)
        assert fleet.slept == [1, 2, 4, 8]


async def test_one_that_held_for_long_is_tried_again_at_once(fleet: Fleet) -> None:
    async with fleet.running():
        for _ in range(2):
            await until(lambda: fleet.stands("lab2") == "attached")
            fleet.clock.advance(fleet_module.STEADY_S)
            fleet.cores["lab2"].pushes.append(Push(closed="over"))
            fleet.cores["lab2"].something.set()
            await until(lambda: fleet.stands("lab2") == "lost")
            fleet.wait_over()
        assert fleet.slept == [1, 1]


async def test_one_that_greets_and_then_tells_nothing_is_lost(
    fleet: Fleet, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fleet_module, "ATTACH_S", 0)
    fleet.cores["lab2"].mute = True
    async with fleet.running_with("here"):
        await until(lambda: fleet.stands("lab2") == "lost")
        assert "it greeted" in fleet.bridge.state.hosts["lab2"].why


ANSWERS: list[dict[str, Any]] = [
    {"deadline_at": "soon"},
    {"records": 5},
    {"records": [5]},
    {"calls": {"at": 1}},
    {"records": [deep(500)]},
]


@pytest.mark.parametrize("answer", ANSWERS)
async def test_an_answer_that_cannot_be_read_is_none(fleet: Fleet, answer: dict[str, Any]) -> None:
    fleet.cores["lab2"].answer = lambda request: Result(id=1, ok=answer)
    fleet.cores["here"].answer = lambda request: Result(id=1, ok={"records": [{"at": 1}]})
    async with fleet.running():
        if "deadline_at" in answer:
            with pytest.raises(CoreLost, match="lab2 gave an answer that cannot be read"):
                await fleet.bridge.call("extend", request="lab2/r2", seconds=60)
        found = await fleet.bridge.call("search", filter="x")
        assert isinstance(found, Result)
        assert found.ok["records"] == [{"at": 1}], "those of the others are told"


async def test_times_in_answers_are_put_in_order_whatever_they_are(fleet: Fleet) -> None:
    fleet.cores["here"].answer = lambda _: Result(id=1, ok={"records": [{"at": "noon"}]})
    fleet.cores["lab2"].answer = lambda _: Result(id=1, ok={"records": [{"at": 5}]})
    async with fleet.running():
        found = await fleet.bridge.call("search", filter="x")
    assert isinstance(found, Result)
    assert [each["at"] for each in found.ok["records"]] == [5, "noon"]


async def test_one_that_never_answers_is_not_waited_for(
    fleet: Fleet, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fleet_calls, "ANSWERED_WITHIN_S", 0)
    fleet.cores["lab2"].hangs = True
    async with fleet.running():
        with pytest.raises(CoreLost, match="lab2 has not answered within"):
            await fleet.bridge.call("decide", request="lab2/r2", decision="deny")


@pytest.mark.parametrize("hangs", [True, False])
async def test_a_denial_of_all_reaches_the_others_when_one_hangs_or_is_lost(hangs: bool) -> None:
    fleet = Fleet("lab2", "here", clock=FakeClock(NOW_US))
    app = WatchgateApp(fleet.source, fleet.clock, OPTIONS, fleet.clock.now_s)
    hands = Hands(app, fleet.clock)
    with keys_as_pressed():
        async with app.run_test(size=(120, 40)) as pilot:
            hands.pilot = pilot
            await hands.until(lambda: len(app.bridge.state.hosts) == 2)
            for name, core in fleet.cores.items():
                soon = NOW_US + (100 if name == "lab2" else 200) * 1_000_000
                core.feed(call(11, "c1"), asked(12, "r", "c1", deadline_at=soon))
            await hands.until(lambda: len(app.bridge.state.pending) == 2)
            await hands.until(lambda: app.operator.drawn_id == "lab2/r")
            lab2 = fleet.cores["lab2"]
            lab2.hangs = hangs
            if not hangs:
                lab2.answer = _gone
            await hands.press("D", "D")
            await hands.until(lambda: fleet.cores["here"].asked)
            (sent,) = fleet.cores["here"].asked
            assert (sent.verb, sent.request, sent.decision) == ("decide", "r", "deny")


async def test_without_this_machines_core_there_is_no_switch_to_turn() -> None:
    fleet = Fleet("lab2", local=False)
    async with fleet.running():
        for verb in ("off", "on", "stop"):
            answer = await fleet.bridge.call(verb, seconds=60)
            assert isinstance(answer, Refusal)
            assert "on the machine that is meant" in answer.message
    assert not fleet.cores["lab2"].asked


def test_an_id_reads_the_same_whichever_machine_it_is_of() -> None:
    assert short_id("lab2/a41fq7") == short_id("a41fq7") == "#a41f"


def _gone(_request: Request) -> Result:
    raise CoreLost("it closed the connection")
