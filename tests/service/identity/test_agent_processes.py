from __future__ import annotations

import os

from watchgate.service.identity.agent_processes import MAX_SESSIONS, AgentProcesses
from watchgate.service.identity.standing import AgentSide, standing_of
from watchgate.service.system.process_table import Proc, ancestors

TERMINAL = Proc(10, "100", "bash")


def all_alive() -> AgentProcesses:
    return AgentProcesses(alive=lambda _agent: True, lineage=lambda agent: (agent,))


def may_decide(askers: AgentProcesses, chain: tuple[Proc, ...], request: str) -> bool:
    return standing_of(chain, AgentSide(agents=askers.known(request))).standing == "clear"


def may_switch(askers: AgentProcesses, chain: tuple[Proc, ...]) -> bool:
    return standing_of(chain, AgentSide(agents=askers.known())).standing == "clear"


def agent(number: int) -> Proc:
    return Proc(number, str(number * 10), "claude")


def below(number: int) -> tuple[Proc, ...]:
    return Proc(90, "900", "watchgate"), agent(number), TERMINAL


def test_who_runs_below_the_agent_that_asks_may_not_decide() -> None:
    askers = all_alive()
    askers.waits("r1", agent(30))
    askers.waits("r2", agent(31))
    assert not may_decide(askers, below(30), "r1")
    assert may_decide(askers, below(31), "r1")
    assert may_decide(askers, below(30), "r2")


def test_a_call_that_two_agents_ask_about_is_closed_to_both() -> None:
    askers = all_alive()
    askers.waits("r1", agent(30))
    askers.waits("r1", agent(31))
    assert not may_decide(askers, below(31), "r1")
    assert not may_decide(askers, below(30), "r1")


def test_an_unknown_client_may_nothing() -> None:
    assert not may_decide(AgentProcesses(), (), "r1")
    assert not may_switch(AgentProcesses(), ())


def test_an_orphan_may_nothing_for_an_agent_may_have_started_it() -> None:
    askers = all_alive()
    askers.note_agent(agent(30))
    for reaper in (Proc(1, "1", "systemd"), Proc(900, "9", "systemd"), Proc(1, "1", "tini")):
        orphan = Proc(90, "900", "watchgate"), reaper
        assert not may_decide(askers, orphan, "r1")
        assert not may_switch(askers, orphan)


def test_no_agent_switches_the_gate_also_between_its_requests() -> None:
    askers = all_alive()
    askers.note_agent(agent(30))
    askers.waits("r1", agent(30))
    askers.settled("r1")
    assert not may_switch(askers, below(30))
    assert may_switch(askers, below(31))


def test_a_call_whose_agent_nobody_could_tell_is_closed_to_every_agent() -> None:
    askers = all_alive()
    askers.note_agent(agent(30))
    assert not may_decide(askers, below(30), "r1")
    assert may_decide(askers, below(31), "r1")


def test_a_branch_younger_than_the_agent_that_asks_may_be_its_own() -> None:
    shell = Proc(80, "800", "sh", ("sh", "-c", "watchgate allow"))
    adrift = Proc(90, "900", "watchgate"), shell, Proc(1, "1", "systemd")
    askers = all_alive()
    askers.note_agent(agent(30))
    assert not may_switch(askers, adrift)
    askers.waits("r1", agent(30))
    assert not may_decide(askers, adrift, "r1")


def test_agents_that_are_gone_are_forgotten_but_none_that_waits() -> None:
    gone = {agent(30), agent(31), agent(32)}
    askers = AgentProcesses(limit=3, alive=lambda process: process not in gone)
    askers.waits("r1", agent(30))
    for number in (30, 31, 32, 33):
        askers.note_agent(agent(number))
    assert not may_switch(askers, below(30)), "it waits"
    assert may_switch(askers, below(31))
    assert not may_switch(askers, below(33))
    askers.settled("r1")
    assert may_switch(askers, below(30))


def test_an_agent_that_lives_is_not_forgotten_however_many_others_ask() -> None:
    looks = 0

    def alive(_process: Proc) -> bool:
        nonlocal looks
        looks += 1
        return True

    askers = AgentProcesses(limit=3, alive=alive)
    for number in range(1_000):
        askers.note_agent(agent(number))
    assert not may_switch(askers, below(0))
    assert looks < 4_000, "each is looked at a few times, not at every question"


def test_a_request_of_nobody_settles_too() -> None:
    askers = all_alive()
    askers.settled("r1")
    askers.settled(None)
    assert may_decide(askers, (TERMINAL,), "r1")


SESSION = ("claude", "s1")


def test_a_command_cannot_allow_what_it_asked_itself_in_the_name_of_its_agent() -> None:
    askers = all_alive()
    askers.note_agent(agent(30), SESSION)
    forger = Proc(80, "800", "python3")
    askers.note_agent(forger, SESSION)
    askers.waits("r1", forger, SESSION)
    assert not may_decide(askers, below(30), "r1")
    assert may_decide(askers, below(31), "r1")


def test_what_drives_an_agent_counts_before_it_ever_asks() -> None:
    askers = all_alive()
    askers.note_driver(os.getpid(), SESSION)
    askers.note_driver(os.getpid(), SESSION)
    askers.waits("r1", Proc(80, "800", "python3"), SESSION)
    own = ancestors(os.getpid())[0]
    assert not may_decide(askers, (Proc(90, "900", "watchgate"), own, TERMINAL), "r1")


def test_sessions_of_one_process_displace_none_of_another() -> None:
    askers = all_alive()
    askers.note_agent(agent(30), SESSION)
    forger = Proc(80, "800", "python3")
    for number in range(MAX_SESSIONS + 1):
        askers.note_agent(forger, ("claude", str(number)))
    askers.waits("r1", forger, SESSION)
    assert not may_decide(askers, below(30), "r1")


def test_a_session_that_something_above_its_agent_told_of_is_driven() -> None:
    askers = all_alive()
    askers.note_driver(os.getpid(), ("claude", "one"))
    assert askers.is_driven(("claude", "one"))
    assert not askers.is_driven(("claude", "two"))


def test_a_program_that_names_itself_is_not_allowed_by_an_agent_it_may_run_below() -> None:
    forger = Proc(80, "800", "python3")
    detached = Proc(81, "810", "sh")
    for chain in (
        (forger, agent(30), TERMINAL),
        (forger, detached, Proc(1, "1", "systemd")),
    ):
        askers = all_alive()
        askers.waits("r1", forger, ("etl", "run-1"), chain)
        assert may_decide(askers, below(30), "r1"), "no agent that anybody knows"
        askers.note_agent(agent(30), SESSION)
        assert not may_decide(askers, below(30), "r1")
        askers.settled("r1")
        askers.waits("r1", forger, ("etl", "run-1"))
        assert may_decide(askers, below(30), "r1"), "nothing is left of a settled one"


def test_a_program_beside_the_agents_is_allowed_from_anywhere_but_below_itself() -> None:
    program = Proc(80, "800", "python3")
    askers = all_alive()
    askers.note_agent(agent(30), SESSION)
    askers.waits("r1", program, ("etl", "run-1"), (program, TERMINAL, Proc(1, "1", "systemd")))
    assert may_decide(askers, below(31), "r1")
    assert not may_decide(askers, (Proc(90, "900", "watchgate"), program, TERMINAL), "r1")
