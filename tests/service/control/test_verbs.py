from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

import anyio
import msgspec
import pytest

from tests.core.builders import START
from tests.service.control.counter import AGENT, TERMINAL, Counter
from tests.service.foreign import GOOD, install
from watchgate.core.config.config import AgentsSection, Config
from watchgate.core.model.events import Lane
from watchgate.link.protocol import Refusal, Result, Verb
from watchgate.service.hub import hub
from watchgate.service.system import off_switch
from watchgate.service.system.process_table import Proc


async def test_list_has_what_the_contract_names(counter: Counter) -> None:
    request = await counter.held()
    assert request["summary"] == "high"
    assert (request["agent"], request["session"], request["lane"]) == ("claude", "one", "gate")
    assert (request["tool"], request["risk"], request["deadline_s"]) == ("Bash", "high", 3600)
    assert request["received_at"] == START.wall_us


@pytest.mark.parametrize("ok", [True, False])
async def test_an_allow_is_confirmed_only_once_the_disk_has_it(counter: Counter, ok: bool) -> None:
    request = await counter.held()
    answers: list[Result | Refusal] = []
    facts = {"digest": request["digest"], "decision": "allow", "confirmed": True}

    async def decide() -> None:
        answers.append(await counter.ask("decide", request=request["id"], **facts))

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(decide)
        await anyio.wait_all_tasks_blocked()
        assert not answers
        counter.desk.paper.written(ok)
    (answer,) = answers
    if ok:
        assert isinstance(answer, Result)
        assert answer.ok["word"] == "allowed-by-operator"
    else:
        assert isinstance(answer, Refusal)
        assert (answer.refused, answer.word) == ("already_settled", "denied-no-journal")


async def test_an_allow_that_a_hung_disk_has_not_taken_is_not_called_one(
    counter: Counter, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(hub, "WRITTEN_S", 0)
    request = await counter.held()
    facts = {"digest": request["digest"], "decision": "allow", "confirmed": True}
    refusal = await counter.refused("decide", request=request["id"], **facts)
    assert refusal.refused == "failed"
    assert "has not taken the allow yet" in refusal.message


async def test_what_was_observed_before_a_request_to_the_core_is_known_to_it(
    counter: Counter,
) -> None:
    counter.desk.moments = []
    relay = await counter.held(lane=Lane.RELAY, event="PermissionRequest")
    counter.desk.send("high", Lane.OBSERVE, event="PostToolUse")
    said = await counter.refused(
        "decide", request=relay["id"], decision="allow", digest=relay["digest"], confirmed=True
    )
    assert (said.refused, said.word) == ("already_settled", "answered-elsewhere")
    assert counter.desk.kinds()[-2:] == ["tool.post", "approval.decided"], "no allow on record"


async def test_what_was_observed_before_a_console_left_is_recorded_before_that(
    counter: Counter,
) -> None:
    counter.desk.moments = []
    await counter.ok("attach")
    counter.desk.send("ls", Lane.OBSERVE, event="Stop")
    counter.verbs.gone(counter.operator)
    assert counter.desk.kinds()[-2:] == ["turn.end", "console.detached"]


async def test_sessions_are_listed_too(counter: Counter) -> None:
    await counter.held()
    (session,) = (await counter.ok("list", what="sessions"))["sessions"]
    assert (session.agent, session.session, session.pending) == ("claude", "one", 1)


async def test_show_tells_an_open_request_whole_and_a_settled_one_with_its_end(
    counter: Counter,
) -> None:
    request = await counter.held()
    whole = (await counter.ok("show", request=request["id"][:4]))["request"]
    assert whole["tool"]["input"] == {"command": "high"}
    assert (whole["status"], "ended" in whole) == ("pending", False)
    await counter.ok("decide", request=request["id"], decision="deny", reason="no", as_="kim")
    ended = (await counter.ok("show", request=request["id"]))["request"]["ended"]
    assert (ended["word"], ended["reason"]) == ("denied-by-operator", "no")
    assert ended["by"] == "operator kim (pid 50, clear)"


async def test_a_decision_names_who_took_it_and_where(counter: Counter) -> None:
    request = await counter.held()
    await counter.ok("attach")
    await counter.ok("decide", request=request["id"], decision="deny", as_="kim")
    assert counter.desk.last("approval.decided")["by"] == "operator kim (console 3, clear)"


async def test_the_second_decision_is_told_who_won(counter: Counter) -> None:
    request = await counter.held()
    facts = {"request": request["id"], "digest": request["digest"], "confirmed": True}
    done = await counter.ok("decide", decision="deny", as_="kim", **facts)
    assert done["word"] == "denied-by-operator"
    late = await counter.refused("decide", decision="allow", as_="ann", **facts)
    assert late.refused == "already_settled"
    assert "kim" in (late.by or "")
    assert (late.word, late.at) == ("denied-by-operator", START.wall_us)


@pytest.mark.parametrize(
    ("fields", "code"),
    [
        ({"digest": None}, "bad_request"),
        ({"digest": "0" * 64}, "digest_mismatch"),
        ({"scope": "always"}, "not_offered"),
        ({"input": {"command": "high"}}, "bad_request"),
        ({"confirmed": False}, "not_armed"),
        ({"shown_ms": 100}, "not_armed"),
        ({"stop": True}, "bad_request"),
        ({"request": "zzzz"}, "unknown_id"),
        ({"request": ""}, "bad_request"),
        ({"decision": None}, "bad_request"),
    ],
)
async def test_an_allow_that_is_not_in_order_changes_nothing(
    counter: Counter, fields: dict[str, Any], code: str
) -> None:
    request = await counter.held()
    right = {
        "request": request["id"],
        "decision": "allow",
        "digest": request["digest"],
        "confirmed": True,
    }
    assert (await counter.refused("decide", **(right | fields))).refused == code
    assert len((await counter.ok("list"))["requests"]) == 1


async def test_after_the_deadline_it_is_too_late(counter: Counter) -> None:
    request = await counter.held()
    counter.desk.clock.advance(request["deadline_s"] + 1)
    late = await counter.refused("decide", request=request["id"], decision="deny")
    assert late.refused == "too_late"


async def test_a_command_below_the_agent_may_deny_and_never_allow(counter: Counter) -> None:
    counter.desk.agents[7] = AGENT
    below = counter.caller(Proc(60, "600", "watchgate"), Proc(55, "550", "sh"), AGENT, TERMINAL)
    request = await counter.held()
    facts = {"request": request["id"], "digest": request["digest"], "confirmed": True}
    for decision in ("allow", "handback"):
        refusal = await counter.refused("decide", below, decision=decision, **facts)
        assert refusal.refused == "self_approval"
    assert await counter.ok("decide", below, decision="deny", **facts)


async def test_an_unknown_peer_may_deny_and_never_allow(counter: Counter) -> None:
    nobody = counter.caller()
    request = await counter.held()
    facts = {"request": request["id"], "digest": request["digest"], "confirmed": True}
    refusal = await counter.refused("decide", nobody, decision="allow", **facts)
    assert refusal.refused == "self_approval"
    assert (await counter.refused("off", nobody, seconds=60)).refused == "self_approval"
    assert await counter.ok("decide", nobody, decision="deny", **facts)


async def test_extend_moves_the_deadline_within_what_the_client_waits(counter: Counter) -> None:
    request = await counter.held(deadline_s=3_700.0)
    longer = await counter.ok("extend", request=request["id"], seconds=60, as_="kim")
    assert longer["deadline_at"] == request["deadline_at"] + 60_000_000
    assert "kim" in counter.desk.last("approval.extended")["by"]
    clamped = await counter.ok("extend", request=request["id"], seconds=3_600)
    assert clamped["deadline_at"] == START.plus(3_695).wall_us
    late = await counter.refused("extend", request=request["id"], seconds=1)
    assert late.refused == "too_late"


@pytest.mark.parametrize("seconds", [None, 0, -1, 86_401, 10**400])
async def test_extend_wants_a_sane_number(counter: Counter, seconds: int | None) -> None:
    request = await counter.held()
    refusal = await counter.refused("extend", request=request["id"], seconds=seconds)
    assert refusal.refused == "bad_request"


async def test_off_writes_the_switch_and_its_record_and_on_takes_both_back(
    counter: Counter,
) -> None:
    counter.desk.paper.at_once = True
    until = (await counter.ok("off", seconds=600, as_="kim"))["until"]
    assert until == START.plus(600).wall_us
    assert off_switch.read_switch(counter.off, START) == off_switch.OffSwitch(until // 1_000_000)
    record = counter.desk.last("policy.off")
    assert (record["until"], "kim" in record["name"]) == (until, True)
    assert counter.desk.hub.recorder.state.gate.off_until == until
    await counter.ok("on")
    assert not counter.off.exists()
    assert counter.desk.hub.recorder.state.gate.off_until is None


async def test_off_and_on_are_told_once_their_records_are_on_disk(
    counter: Counter, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(hub, "WRITTEN_S", 0)
    await counter.ok("off", seconds=0)
    await counter.ok("on")
    assert len(counter.desk.paper.asked) == 2


async def test_off_until_reboot_names_no_time(counter: Counter) -> None:
    counter.desk.paper.at_once = True
    assert (await counter.ok("off", seconds=0))["until"] == 0
    assert off_switch.read_switch(counter.off, START) == off_switch.OffSwitch(None)


@pytest.mark.parametrize("seconds", [-1, 10**9, 10**400])
async def test_off_takes_no_time_out_of_bounds(counter: Counter, seconds: int) -> None:
    assert (await counter.refused("off", seconds=seconds)).refused == "bad_request"
    assert not counter.off.exists()


async def test_a_switch_that_cannot_be_written_is_a_refusal_without_a_record(
    counter: Counter,
) -> None:
    counter.off.with_name("off.new").mkdir()
    assert (await counter.refused("off", seconds=60)).refused == "failed"
    assert "policy.off" not in counter.desk.kinds()


async def test_an_agents_child_switches_nothing_off_even_when_nothing_waits(
    counter: Counter,
) -> None:
    counter.desk.agents[7] = AGENT
    counter.desk.send("low")
    below = counter.caller(Proc(60, "600", "watchgate"), AGENT, TERMINAL)
    assert (await counter.refused("off", below, seconds=60)).refused == "self_approval"
    assert not counter.off.exists()


async def test_a_profile_is_in_force_at_once_and_on_record_with_who(tmp_path: Path) -> None:
    counter = Counter(tmp_path, "watch")
    counter.desk.paper.at_once = True
    answer = await counter.ok("profile", profile="guard", as_="kim")
    assert answer == {"profile": "guard", "before": "watch"}
    assert counter.verbs.hello().profile == "guard"
    assert counter.desk.hub.recorder.state.gate.profile == "guard"
    record = counter.desk.last("policy.profile")
    assert (record["profile"], "kim" in record["name"]) == ("guard", True)
    assert "standing" in record["actor"]


async def test_the_profile_in_force_is_no_change(counter: Counter) -> None:
    await counter.ok("profile", profile="guard")
    assert "policy.profile" not in counter.desk.kinds()
    assert (await counter.refused("profile")).refused == "bad_request"


@pytest.mark.parametrize("profile", ["watch", "guard"])
async def test_an_agents_child_lowers_no_profile_and_may_raise_it(
    tmp_path: Path, profile: str
) -> None:
    counter = Counter(tmp_path, "strict")
    counter.desk.paper.at_once = True
    counter.desk.send("low")
    below = counter.caller(Proc(60, "600", "watchgate"), AGENT, TERMINAL)
    assert (await counter.refused("profile", below, profile=profile)).refused == "self_approval"
    assert counter.verbs.hello().profile == "strict"
    assert "policy.profile" not in counter.desk.kinds()
    await counter.ok("profile", profile="watch")
    await counter.ok("profile", below, profile="guard")
    assert counter.verbs.hello().profile == "guard"


async def test_an_agents_child_has_no_core_take_a_changed_file_in(counter: Counter) -> None:
    counter.config = Config(profile="watch")
    counter.desk.send("low")
    below = counter.caller(Proc(60, "600", "watchgate"), AGENT, TERMINAL)
    assert (await counter.refused("config", below, action="reload")).refused == "self_approval"
    assert counter.renewed == []
    told = await counter.ok("config")
    assert told == {"changes": ["profile"], "profile": "watch"}
    assert await counter.ok("config", action="reload") == told
    assert counter.renewed == [counter.config]


async def test_an_agents_child_has_no_core_load_what_it_wrote_into_the_file(
    counter: Counter, site: Path
) -> None:
    install(site, GOOD)
    counter.config = Config(agents=AgentsSection(python=("nova",)))
    counter.desk.send("low")
    below = counter.caller(Proc(60, "600", "watchgate"), AGENT, TERMINAL)
    assert (await counter.ok("config", below))["changes"] == ["agents.python"]
    assert (await counter.refused("config", below, action="reload")).refused == "self_approval"
    assert "nova_package" not in sys.modules


async def test_a_call_that_is_being_judged_ends_before_a_core_starts_over(
    counter: Counter,
) -> None:
    counter.idle = False
    refusal = await counter.refused("config", action="reload")
    assert (refusal.refused, counter.renewed) == ("not_offered", [])


@pytest.mark.parametrize("verb", ["stop", "extend"])
async def test_an_agents_child_neither_stops_the_core_nor_gives_its_call_more_time(
    counter: Counter, verb: Verb
) -> None:
    counter.desk.agents[7] = AGENT
    request = await counter.held()
    below = counter.caller(Proc(60, "600", "watchgate"), AGENT, TERMINAL)
    refusal = await counter.refused(verb, below, request=request["id"], seconds=60)
    assert (refusal.refused, counter.stopped) == ("self_approval", [])
    assert "approval.extended" not in counter.desk.kinds()


async def test_stop_says_who(counter: Counter) -> None:
    await counter.ok("stop", as_="kim")
    assert counter.stopped == ["operator kim (pid 50, clear)"]


async def test_a_key_of_a_console_holds_a_serial_agents_relay(counter: Counter) -> None:
    await counter.ok("hello")
    assert counter.desk.hub.engine.status.last_key_s == float("-inf")
    await counter.ok("attach")
    await counter.ok("hello")
    assert counter.desk.hub.engine.status.last_key_s == START.mono_s


async def test_a_console_below_an_agent_is_nobody_who_could_decide(counter: Counter) -> None:
    counter.desk.agents[7] = AGENT
    await counter.held()
    below = counter.caller(Proc(60, "600", "watchgate"), AGENT, TERMINAL)
    await counter.ok("attach", below)
    await counter.ok("hello", below)
    engine = counter.desk.hub.engine
    assert (engine.status.consoles, engine.status.last_key_s) == (0, float("-inf"))
    assert counter.desk.kinds()[-1] == "console.attached", "it is on record all the same"
    await counter.ok("attach")
    assert engine.status.consoles == 1


async def test_the_snapshot_has_everything_for_a_first_picture(counter: Counter) -> None:
    await counter.held()
    counter.desk.send("ls", Lane.OBSERVE, event="PostToolUse", call="c2")
    snapshot = (await counter.ok("attach"))["snapshot"]
    whole = msgspec.to_builtins(snapshot)
    assert (whole["core"], whole["gate"]["profile"]) == ("core-a", "guard")
    assert len(whole["pending"]) == 1
    assert len(whole["rows"]) == 2


def test_a_user_without_a_name_has_a_number(
    counter: Counter, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As in a container that runs under any number: an operator decides there too."""

    def nameless() -> str:
        raise KeyError("getpwuid(): uid not found")

    monkeypatch.setattr("getpass.getuser", nameless)
    caller = counter.operator
    assert caller.name(None) == f"operator uid {os.getuid()} (pid 50, clear)"
