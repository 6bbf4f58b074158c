from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.service.control.counter import AGENT, TERMINAL, Counter
from watchgate.service.control.caller import Caller
from watchgate.service.system.process_table import Proc

PIN = "correct horse"
TMUX = Proc(12, "120", "tmux: server", sid=12)
BELOW = Proc(60, "600", "watchgate", sid=10, tty=1), AGENT, TERMINAL


@pytest.fixture
def counter(runtime_dir: Path) -> Counter:
    """One whose every call is held."""
    return Counter(runtime_dir, "strict")


def in_tmux(counter: Counter, pane: int = 25) -> Caller:
    """A client in a pane of a multiplexer."""
    shell = Proc(pane, "250", "bash", sid=pane, tty=pane)
    return counter.caller(Proc(90, "900", "watchgate", sid=pane, tty=pane), shell, TMUX)


def without_terminal(counter: Counter) -> Caller:
    shell = Proc(25, "850", "sh", sid=25)
    return counter.caller(Proc(90, "900", "watchgate", sid=25), shell, TMUX)


async def allowed(counter: Counter, caller: Caller, command: str, **more: Any) -> str:
    """The word of an allow as a console says it, or the code of its refusal."""
    counter.desk.paper.at_once = True
    request = await counter.held(command, call=f"c-{command}-{counter.desk._conns}")
    how = {"digest": request["digest"], "confirmed": True, "shown_ms": 1_000, **more}
    answer = await counter.ask("decide", caller, request=request["id"], decision="allow", **how)
    return getattr(answer, "refused", "") or "allowed"


@pytest.fixture
async def guarded(counter: Counter) -> Counter:
    """An agent is known, and a PIN is set."""
    counter.desk.paper.at_once = True
    await counter.ok("pin", action="set", pin=PIN)
    await counter.held("high other")
    return counter


@pytest.mark.parametrize(
    ("command", "found"),
    [("medium", "allowed"), ("high", "locked"), ("critical", "locked"), ("unknown", "locked")],
)
async def test_without_a_pin_a_locked_terminal_allows_up_to_medium(
    counter: Counter, command: str, found: str
) -> None:
    assert await allowed(counter, in_tmux(counter), command) == found


async def test_without_a_pin_a_locked_terminal_gives_no_grant(counter: Counter) -> None:
    assert await allowed(counter, in_tmux(counter), "medium", scope="session") == "locked"
    assert await allowed(counter, counter.operator, "medium", scope="session") == "allowed"


async def test_the_refusal_says_why_and_how_to_get_on(counter: Counter) -> None:
    request = await counter.held()
    facts = {"digest": request["digest"], "confirmed": True, "shown_ms": 1_000}
    caller = in_tmux(counter)
    said = await counter.refused("decide", caller, request=request["id"], decision="allow", **facts)
    assert said.message == (
        "tmux is a terminal multiplexer, where an agent could start a command too: use a terminal "
        "window that was open before the agent, or set a PIN with watchgate pin set from such a "
        "window or while no agent runs"
    )


async def test_with_a_pin_a_locked_terminal_allows_nothing_until_it_is_unlocked(
    guarded: Counter,
) -> None:
    caller, other = in_tmux(guarded), in_tmux(guarded, 26)
    assert await allowed(guarded, caller, "medium") == "locked"
    stands = await guarded.ok("unlock", caller, pin=PIN)
    assert stands["standing"] == "pin"
    assert await allowed(guarded, caller, "high") == "allowed"
    decided = guarded.desk.last("approval.decided")
    assert decided["actor"]["standing"] == "pin"
    assert decided["by"].startswith("operator ")
    assert await allowed(guarded, other, "medium") == "locked", "another terminal"
    await guarded.ok("unlock", caller, action="off")
    assert await allowed(guarded, caller, "medium") == "locked"


async def test_the_pin_unlocks_also_what_has_no_terminal(guarded: Counter) -> None:
    """As a console on another machine has none, behind ssh."""
    caller = without_terminal(guarded)
    assert await allowed(guarded, caller, "medium") == "locked"
    await guarded.ok("unlock", caller, pin=PIN)
    assert await allowed(guarded, caller, "high") == "allowed"


async def test_no_pin_helps_what_runs_below_an_agent(guarded: Counter) -> None:
    below = guarded.caller(*BELOW)
    assert (await guarded.refused("unlock", below, pin=PIN)).refused == "self_approval"
    assert (await guarded.refused("unlock", below)).refused == "self_approval"
    await guarded.ok("unlock", pin=PIN)
    assert await allowed(guarded, below, "medium") == "self_approval", "in an unlocked terminal"


async def test_a_wrong_pin_unlocks_nothing_and_says_how_long_to_wait(guarded: Counter) -> None:
    caller = in_tmux(guarded)
    for _ in range(4):
        assert (await guarded.refused("unlock", caller, pin="123456")).wait_s == 0
    said = await guarded.refused("unlock", caller, pin="123456")
    assert (said.refused, said.wait_s) == ("wrong_pin", 30)
    assert (await guarded.ok("presence", caller))["standing"] == "locked"


async def test_a_code_is_confirmed_by_a_clear_terminal_and_names_the_other(
    guarded: Counter,
) -> None:
    caller = in_tmux(guarded)
    shown = await guarded.ok("unlock", caller)
    assert (len(shown["code"]), shown["seconds"]) == (6, 120)
    other = in_tmux(guarded, 26)
    assert (await guarded.refused("unlock", other, code=shown["code"])).refused == "locked"
    done = await guarded.ok("unlock", code=shown["code"])
    assert done["leader"] == "bash (pid 25)"
    assert (await guarded.ok("presence", caller))["standing"] == "code"
    told = guarded.desk.last("policy.unlocked")
    assert "bash (pid 25)" in told["what"]
    assert told["actor"]["standing"] == "clear"
    assert (await guarded.refused("unlock", code=shown["code"])).refused == "unknown_code"


async def test_a_code_is_good_for_two_minutes_and_three_guesses(guarded: Counter) -> None:
    caller = in_tmux(guarded)
    late = await guarded.ok("unlock", caller)
    guarded.desk.clock.advance(120)
    assert (await guarded.refused("unlock", code=late["code"])).refused == "unknown_code"
    shown = await guarded.ok("unlock", caller)
    for guess in ("x", "y", "z"):
        assert (await guarded.refused("unlock", code=guess)).refused == "unknown_code"
    assert (await guarded.refused("unlock", code=shown["code"])).refused == "unknown_code"


async def test_a_new_code_ends_the_one_before(guarded: Counter) -> None:
    caller = in_tmux(guarded)
    first = await guarded.ok("unlock", caller)
    second = await guarded.ok("unlock", caller)
    if first["code"] != second["code"]:
        assert (await guarded.refused("unlock", code=first["code"])).refused == "unknown_code"
    assert await guarded.ok("unlock", code=second["code"])


async def test_a_pin_is_set_by_a_clear_terminal_or_with_the_one_before(guarded: Counter) -> None:
    caller = in_tmux(guarded)
    assert (await guarded.refused("pin", caller, action="set", pin="654321")).refused == "locked"
    wrong = await guarded.refused("pin", caller, action="set", pin="654321", current="000000")
    assert wrong.refused == "wrong_pin"
    await guarded.ok("pin", caller, action="set", pin="654321", current=PIN)
    assert (await guarded.refused("unlock", caller, pin=PIN)).refused == "wrong_pin"
    await guarded.ok("pin", action="remove")
    assert not (await guarded.ok("presence"))["pin"]


async def test_while_no_agent_is_known_a_pin_is_set_anywhere(counter: Counter) -> None:
    counter.desk.paper.at_once = True
    assert (await counter.ok("presence", in_tmux(counter)))["standing"] == "clear"
    await counter.ok("pin", in_tmux(counter), action="set", pin=PIN)
    told = counter.desk.last("policy.pin")
    assert told["detail"] == counter.presences.pin.file.fingerprint
    assert PIN not in str(counter.desk.console.records)


async def test_a_new_pin_locks_what_the_old_one_unlocked(guarded: Counter) -> None:
    caller = in_tmux(guarded)
    await guarded.ok("unlock", caller, pin=PIN)
    await guarded.ok("pin", action="set", pin="654321")
    assert (await guarded.ok("presence", caller))["standing"] == "locked"


@pytest.mark.parametrize(
    ("verb", "fields"),
    [
        ("off", {"seconds": 60}),
        ("stop", {}),
        ("purge", {"agent": "claude", "session": "one"}),
        ("policy", {"action": "reload"}),
        ("revoke", {"grant": "abcd"}),
        ("pin", {"action": "set", "pin": "654321"}),
        ("token", {"action": "add", "name": "etl"}),
        ("unlock", {"code": "000000"}),
    ],
)
async def test_what_only_a_person_may_is_locked_and_below_an_agent_refused(
    guarded: Counter, verb: Any, fields: dict[str, Any]
) -> None:
    assert (await guarded.refused(verb, in_tmux(guarded), **fields)).refused == "locked"
    below = guarded.caller(*BELOW)
    assert (await guarded.refused(verb, below, **fields)).refused == "self_approval"


async def test_denying_and_switching_on_are_free(guarded: Counter) -> None:
    for caller in (in_tmux(guarded), without_terminal(guarded), guarded.caller(*BELOW)):
        request = await guarded.held("high free", call=f"d{caller.chain[0].pid}-{caller.chain}")
        assert await guarded.ok("decide", caller, request=request["id"], decision="deny")
        decided = guarded.desk.last("approval.decided")
        assert decided["by"] == "somebody (pid 50, unproven)"
        assert decided["actor"]["standing"] == "unproven"
        await guarded.ok("on", caller)


@pytest.mark.parametrize(
    ("risk", "command", "found"),
    [
        ("medium", "medium", "allowed"),
        ("medium", "high", "locked"),
        ("high", "high", "allowed"),
        ("high", "critical", "locked"),
        ("high", "unknown", "locked"),
    ],
)
async def test_a_registered_program_allows_up_to_its_risk(
    guarded: Counter, risk: str, command: str, found: str
) -> None:
    token = (await guarded.ok("token", action="add", name="etl", risk=risk))["token"]
    program = without_terminal(guarded)
    assert await allowed(guarded, program, command, token=token, shown_ms=None) == found
    if found == "allowed":
        decided = guarded.desk.last("approval.decided")
        assert decided["by"] == "program etl (token)"
        assert decided["actor"]["standing"] == "token etl"
        assert token not in str(guarded.desk.console.records)


async def test_a_token_signs_for_whom_its_program_names(guarded: Counter) -> None:
    token = (await guarded.ok("token", action="add", name="etl", risk="high"))["token"]
    program = without_terminal(guarded)
    assert await allowed(guarded, program, "high", token=token, as_="kim") == "allowed"
    assert guarded.desk.last("approval.decided")["by"] == "program etl (token), signed kim"


@pytest.mark.parametrize(
    ("shown", "below", "by", "standing"),
    [
        ("its own", False, "program etl (token), signed kim", "token etl"),
        ("nobody's", False, "somebody (pid 50, unproven)", "unproven"),
        ("its own", True, "somebody (pid 50, unproven)", "unproven"),
    ],
)
async def test_a_token_only_names_who_denies(
    guarded: Counter, shown: str, below: bool, by: str, standing: str
) -> None:
    own = (await guarded.ok("token", action="add", name="etl"))["token"]
    token = own if shown == "its own" else "0" * 64
    program = guarded.caller(*BELOW) if below else without_terminal(guarded)
    request = await guarded.held("critical")
    how = {"decision": "deny", "token": token, "as_": "kim"}
    await guarded.ok("decide", program, request=request["id"], **how)
    decided = guarded.desk.last("approval.decided")
    assert (decided["by"], decided["actor"]["standing"]) == (by, standing)


async def test_a_token_gives_no_grant_and_no_agent_may_use_one(guarded: Counter) -> None:
    token = (await guarded.ok("token", action="add", name="etl", risk="high"))["token"]
    program, below = without_terminal(guarded), guarded.caller(*BELOW)
    assert await allowed(guarded, program, "medium", token=token, scope="session") == "locked"
    assert await allowed(guarded, below, "medium", token=token) == "self_approval"
    assert await allowed(guarded, program, "medium", token="0" * 64) == "locked"


async def test_a_token_that_was_revoked_is_nobodys(guarded: Counter) -> None:
    token = (await guarded.ok("token", action="add", name="etl"))["token"]
    assert len(token) == 64
    (row,) = (await guarded.ok("token", action="ls"))["tokens"]
    assert (row["name"], row["risk"]) == ("etl", "medium")
    assert (await guarded.refused("token", action="add", name="etl")).refused == "bad_request"
    await guarded.ok("token", action="revoke", name="etl")
    assert (await guarded.ok("token", action="ls"))["tokens"] == []
    assert await allowed(guarded, without_terminal(guarded), "medium", token=token) == "locked"
    assert (await guarded.refused("token", action="revoke", name="etl")).refused == "unknown_id"


async def test_a_high_call_that_nobody_looked_at_is_not_allowed(counter: Counter) -> None:
    """From a process without a terminal, that shows no token and no screen."""
    shell = Proc(10, "100", "sh", sid=10)
    cron = counter.caller(Proc(50, "90", "watchgate", sid=10), shell)
    assert await allowed(counter, cron, "medium", shown_ms=None) == "allowed"
    assert await allowed(counter, cron, "high", shown_ms=None) == "not_armed"
    assert await allowed(counter, cron, "high") == "allowed", "a console says how long it was seen"
    assert await allowed(counter, counter.operator, "high", shown_ms=None) == "allowed"


async def test_with_a_session_open_whose_agent_nobody_knows_nobody_is_clear(
    counter: Counter,
) -> None:
    counter.desk.agents.clear()
    request = await counter.held()
    assert request["risk"] == "high"
    assert (await counter.ok("presence"))["standing"] == "locked"
    assert await allowed(counter, counter.operator, "high") == "locked"
    assert (await counter.refused("off", seconds=60)).refused == "locked"
    counter.desk.clock.advance(86_401)
    assert (await counter.ok("presence"))["standing"] == "clear", "nothing was heard for a day"


async def test_a_console_that_is_locked_counts_as_one_and_one_set_adrift_once_unlocked(
    guarded: Counter,
) -> None:
    standing = guarded.desk.hub.engine.status
    await guarded.ok("attach", in_tmux(guarded))
    assert standing.consoles == 1
    orphan = guarded.caller(
        Proc(90, "900", "watchgate", sid=80, tty=2),
        Proc(80, "800", "sh", sid=80, tty=2),
        Proc(1, "1", "systemd", sid=1),
        number=4,
    )
    await guarded.ok("attach", orphan)
    assert standing.consoles == 1
    await guarded.ok("unlock", orphan, pin=PIN)
    assert standing.consoles == 2
