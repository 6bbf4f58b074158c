"""A held call from the hook client's start to its end, decided from the command line."""

from __future__ import annotations

import json
import os
import signal

from tests.e2e.programs import Core, bash, until

RISKY = "rm -rf build && git push --force"


def test_a_held_call_shows_in_ls_with_everything_the_contract_names(running: Core) -> None:
    running.hook("PreToolUse", bash(RISKY))
    (request,) = running.pending()
    assert {
        "id",
        "agent",
        "session",
        "lane",
        "tool",
        "summary",
        "risk",
        "reason",
        "digest",
        "received_at",
        "deadline_s",
    } <= set(request)
    assert (request["agent"], request["lane"], request["tool"]) == ("claude", "gate", "Bash")
    assert request["summary"] == RISKY
    assert request["risk"] in ("high", "critical")
    assert len(request["digest"]) == 64
    assert len(request["id"]) == 26


def test_allow_lets_it_run_and_the_journal_says_who_and_that_it_ran(running: Core) -> None:
    hook = running.hook("PreToolUse", bash(RISKY))
    (request,) = running.pending()
    assert running.allow(request, "--as", "kim").code == 0
    done = hook.done()
    assert done.code == 0
    said = json.loads(done.out)["hookSpecificOutput"]
    assert said["permissionDecision"] == "allow"
    running.hook("PostToolUse", bash(RISKY) | {"tool_response": ""}, lane="observe").done()
    running.seen("effect.confirmed")
    decided = running.seen("approval.decided")["data"]
    assert decided["word"] == "allowed-by-operator"
    assert decided["by"] == "program tests (token), signed kim"
    assert decided["actor"]["standing"] == "token tests"
    kinds = [record["kind"] for record in running.records()]
    order = ["tool.pre", "approval.requested", "approval.decided", "effect.sent", "tool.post"]
    assert [kind for kind in kinds if kind in order] == order
    assert running.cli("audit", "verify").code == 0


def test_deny_stops_it_and_the_reason_reaches_the_agent_three_ways(running: Core) -> None:
    hook = running.hook("PreToolUse", bash(RISKY))
    (request,) = running.pending()
    assert running.cli("deny", request["id"][:6], "--reason", "not on a Friday").code == 0
    done = hook.done()
    assert done.code == 2
    assert "not on a Friday" in done.err
    said = json.loads(done.out)["hookSpecificOutput"]
    assert said["permissionDecision"] == "deny"
    assert "not on a Friday" in said["permissionDecisionReason"]


def test_handback_leaves_it_to_the_agent(running: Core) -> None:
    hook = running.hook("PreToolUse", bash(RISKY))
    (request,) = running.pending()
    assert running.cli("handback", request["id"]).code == 0
    done = hook.done()
    assert (done.code, done.out, done.err) == (0, "", "")


def test_silence_denies_at_the_deadline_and_says_that_it_was_silence(core: Core) -> None:
    core.configure("[approval]\ntimeout_s = 1\nunattended_timeout_s = 1\n")
    core.start()
    done = core.hook("PreToolUse", bash(RISKY)).done()
    assert done.code == 2
    assert "Nobody answered" in done.err
    assert "not a refusal by a person" in done.err
    assert core.seen("approval.decided")["data"]["word"] == "denied-by-timeout"
    assert core.seen("approval.timeout")


def test_a_wrong_digest_is_refused_and_the_call_still_waits(running: Core) -> None:
    hook = running.hook("PreToolUse", bash(RISKY))
    (request,) = running.pending()
    refused = running.cli("allow", request["id"], "--digest", "0" * 64)
    assert refused.code == 1
    assert "digest_mismatch" in refused.err
    assert hook.waits
    running.cli("deny", request["id"])
    hook.done()


def test_allow_without_digest_or_terminal_is_a_usage_error(running: Core) -> None:
    hook = running.hook("PreToolUse", bash(RISKY))
    (request,) = running.pending()
    assert running.cli("allow", request["id"]).code == 2
    assert hook.waits
    running.cli("deny", request["id"])
    hook.done()


def test_an_answer_after_settlement_is_told_who_settled_it(running: Core) -> None:
    hook = running.hook("PreToolUse", bash(RISKY))
    (request,) = running.pending()
    running.cli("deny", request["id"], "--as", "kim")
    hook.done()
    late = running.allow(request)
    assert late.code == 4
    assert "already_settled" in late.err
    assert "kim" in late.err


def test_two_identical_calls_at_once_are_two_cards_decided_separately(running: Core) -> None:
    first = running.hook("PreToolUse", bash(RISKY, "call-1"))
    running.pending(1)
    second = running.hook("PreToolUse", bash(RISKY, "call-2"))
    one, two = running.pending(2)
    assert one["digest"] == two["digest"]
    running.cli("deny", one["id"])
    assert first.done().code == 2
    assert second.waits
    running.allow(two)
    assert second.done().code == 0


def test_an_unrelated_result_clears_no_card(running: Core) -> None:
    hook = running.hook("PreToolUse", bash(RISKY))
    (request,) = running.pending()
    other = bash("ls", "call-9") | {"tool_response": ""}
    running.hook("PostToolUse", other, lane="observe").done()
    running.seen("tool.post")
    assert [r["id"] for r in running.pending()] == [request["id"]]
    running.cli("deny", request["id"])
    hook.done()


def test_what_the_policy_does_not_hold_is_handed_back_at_once(running: Core) -> None:
    done = running.hook("PreToolUse", bash("make test")).done()
    assert (done.code, done.out, done.err) == (0, "", "")
    assert running.seen("tool.pre")["data"]["gate"] == "handback"


def test_gate_and_relay_of_one_call_are_one_card(running: Core) -> None:
    gate = running.hook("PreToolUse", bash(RISKY))
    (request,) = running.pending()
    running.allow(request)
    gate.done()
    relay = running.hook("PermissionRequest", bash(RISKY, None), lane="relay").done()
    said = json.loads(relay.out)["hookSpecificOutput"]["decision"]
    assert said == {"behavior": "allow"}
    assert running.cli("ls", "--json").lines == []


def test_the_agents_own_dialog_retires_a_relay_request(running: Core) -> None:
    edit = {
        "tool_name": "Edit",
        "tool_input": {"file_path": "/tmp/x.py", "old_string": "a", "new_string": "b"},
    }
    assert running.hook("PreToolUse", bash("") | edit).done().out == ""
    relay = running.hook("PermissionRequest", bash("", None) | edit, lane="relay")
    running.pending()
    running.hook("PostToolUse", bash("") | edit | {"tool_response": ""}, lane="observe").done()
    done = relay.done()
    assert (done.code, done.out) == (0, "")
    assert running.seen("approval.decided")["data"]["word"] == "answered-elsewhere"


def test_a_client_that_goes_away_withdraws_its_request(running: Core) -> None:
    hook = running.hook("PreToolUse", bash(RISKY))
    running.pending()
    hook.process.kill()
    hook.done()
    assert running.seen("approval.decided")["data"]["word"] == "withdrawn"
    assert running.cli("ls", "--json").lines == []


def test_a_killed_shell_above_the_client_withdraws_its_request(running: Core) -> None:
    hook = running.hook("PreToolUse", bash(RISKY), shell=True)
    running.pending()
    os.kill(hook.below, signal.SIGKILL)
    assert running.seen("approval.decided")["data"]["word"] == "withdrawn"
    hook.done()


def test_stop_answers_what_waits_closed(running: Core) -> None:
    hook = running.hook("PreToolUse", bash(RISKY))
    running.pending()
    assert running.cli("stop").code == 0
    done = hook.done()
    assert done.code == 2
    assert "stopped" in done.err
    until(lambda: running.process is not None and running.process.poll() is not None, "the end")
    assert running.cli("ls").code == 3
    assert running.cli("audit", "verify").code == 0
