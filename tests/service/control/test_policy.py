"""The verb about the rules: what is in force, and who may load the files again."""

from __future__ import annotations

from tests.service.control.counter import AGENT, TERMINAL, Counter
from watchgate.service.system.process_table import Proc


async def test_it_tells_what_is_in_force(counter: Counter) -> None:
    shown = await counter.ok("policy")
    assert (shown["files"], shown["disabled"], shown["faults"]) == ([], [], [])
    assert shown["rules"] > 50


async def test_a_reload_brings_a_changed_file_into_force_and_is_on_record(counter: Counter) -> None:
    before = (await counter.ok("policy"))["rules"]
    counter.policy.write_text(
        'version = 1\n[[rule]]\nid = "t.a"\ndecision = "deny"\nreason = "No"\ntools = "X"\n'
    )
    assert (await counter.ok("policy"))["rules"] == before
    shown = await counter.ok("policy", action="reload")
    assert shown["files"] == [{"path": str(counter.policy), "tier": "user"}]
    assert shown["rules"] == before + 1
    assert "policy.reloaded" in counter.desk.kinds()


async def test_a_bad_file_is_refused_with_its_line_and_the_old_rules_stay(counter: Counter) -> None:
    counter.policy.write_text("version = 1\ncolour = 1\n")
    refusal = await counter.refused("policy", action="reload")
    assert refusal.refused == "bad_request"
    assert f"{counter.policy}:2: unknown key colour" in refusal.message
    assert refusal.message.endswith("; the policy in force stays")
    assert "policy.reloaded" not in counter.desk.kinds()


async def test_an_agents_child_brings_no_rules_into_force(counter: Counter) -> None:
    counter.desk.agents[7] = AGENT
    counter.desk.send("low")
    below = counter.caller(Proc(60, "600", "watchgate"), AGENT, TERMINAL)
    refusal = await counter.refused("policy", below, action="reload")
    assert refusal.refused == "self_approval"
    assert await counter.ok("policy", below)
