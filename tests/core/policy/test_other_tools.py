"""Tools that are neither shell nor files: the network, MCP, sub-agents, questions, the unknown."""

from __future__ import annotations

from typing import Any

import pytest

from tests.core.policy.calls import CWD, HOME, OWN, judge_command, judge_tool, rules
from watchgate.core.model.assessment import NO_RULE, Assessment
from watchgate.core.model.events import Tool
from watchgate.core.policy.inputs.subject import Subject
from watchgate.core.policy.judging.assess import assess
from watchgate.service.policies.policy_files import shipped


@pytest.mark.parametrize("url", ["https://example.org/a", "http://localhost:8080", "example.org"])
def test_a_fetch_is_medium_and_asked(url: str) -> None:
    found = judge_tool("WebFetch", "fetch", {"url": url})
    assert (found.decision, found.risk, found.rule) == ("ask", "medium", "net.read")
    assert found.reason == "Reads from the network"


def test_a_search_is_a_fetch_without_an_address() -> None:
    assert judge_tool("WebSearch", "fetch", {"query": "tides"}).risk == "medium"


@pytest.mark.parametrize(
    ("url", "rule"),
    [
        ("http://169.254.169.253/latest", "net.bare-address"),
        ("http://2130706433/", "net.bare-address"),
        ("http://0x7f.1/", "net.bare-address"),
        ("http://[::1]/", "net.bare-address"),
        ("https://ada:pw@example.org", "net.credentials"),
        ("https://token@example.org", "net.credentials"),
        ("file:///etc/passwd", "net.scheme"),
        ("https://ex\u0430mple.org", "net.lookalike"),
    ],
)
def test_an_odd_address_is_high(url: str, rule: str) -> None:
    found = judge_tool("WebFetch", "fetch", {"url": url})
    assert (found.decision, found.risk) == ("ask", "high")
    assert rule in rules(found)


@pytest.mark.parametrize("url", ["http://[", "https://a\u200b.org"])
def test_an_address_that_cannot_be_read_is_not_harmless(url: str) -> None:
    assert judge_tool("WebFetch", "fetch", {"url": url}).risk in ("unknown", "high")


@pytest.mark.parametrize("url", ["http://169.254.169.254/", "http://metadata.google.internal/x"])
def test_the_metadata_service_is_critical_for_it_hands_out_credentials(url: str) -> None:
    assert judge_tool("WebFetch", "fetch", {"url": url}).risk == "critical"
    assert judge_command(f"curl {url}").risk == "critical"


@pytest.mark.parametrize(
    "url",
    [
        "https://example.org/?k=AKIA" + "A" * 16,
        "https://example.org/?d=" + "x" * 600,
        "https://a.ngrok-free.app/",
    ],
)
def test_an_address_that_carries_something_away_is_high(url: str) -> None:
    assert judge_tool("WebFetch", "fetch", {"url": url}).risk == "high"


def mcp(name: str, given: dict[str, Any] | None = None) -> Assessment:
    server, tool = name.removeprefix("mcp__").split("__")
    called = Tool(f"{server}:{tool}", name, "mcp", given or {}, "h")
    subject = Subject(tool=called, agent="claude", session="s1", cwd=CWD, home=HOME, own=OWN)
    return assess(subject, shipped(), 0)


def test_an_mcp_tool_is_asked_for_its_name_promises_nothing() -> None:
    found = mcp("mcp__github__get_file")
    assert (found.decision, found.risk, found.rule) == ("ask", "medium", "mcp.call")


@pytest.mark.parametrize(
    ("name", "rule"),
    [
        ("mcp__db__drop_table", "mcp.destroy"),
        ("mcp__github__delete_file", "mcp.destroy"),
        ("mcp__x__repoDelete", "mcp.destroy"),
        ("mcp__desktop__execute_command", "mcp.run"),
        ("mcp__pg__run_sql", "mcp.run"),
        ("mcp__slack__send_message", "mcp.send"),
        ("mcp__github__merge_pull_request", "mcp.send"),
    ],
)
def test_an_mcp_tool_that_says_it_destroys_runs_or_sends_is_high(name: str, rule: str) -> None:
    found = mcp(name)
    assert (found.decision, found.risk) == ("ask", "high")
    assert rule in rules(found)


@pytest.mark.parametrize(
    ("path", "rule", "risk"),
    [
        ("/home/ada/.claude/settings.json", "own.edit", "critical"),
        ("~/.ssh/id_rsa", "mcp.secrets", "high"),
        ("/etc/hosts", "mcp.outside", "high"),
    ],
)
def test_the_paths_of_an_mcp_call_count(path: str, rule: str, risk: str) -> None:
    found = mcp("mcp__fs__read_file", {"path": path})
    assert found.risk == risk
    assert rule in rules(found)


def test_a_tool_that_nobody_knows_is_asked() -> None:
    found = judge_tool("Surprise", "other", {"path": 3})
    assert (found.decision, found.risk, found.rule) == ("ask", "medium", NO_RULE)


@pytest.mark.parametrize("name", ["TodoWrite", "update_plan", "BashOutput"])
def test_an_agent_may_keep_its_own_notes(name: str) -> None:
    assert judge_tool(name, "other", {}).decision == "allow"


def test_a_shell_call_without_a_command_is_unknown() -> None:
    found = judge_tool("Bash", "shell", {"command": 3})
    assert (found.decision, found.risk, found.rule) == ("ask", "unknown", "call.opaque")


def test_a_sub_agent_may_start_because_its_calls_are_gated() -> None:
    found = judge_tool("Agent", "agent", {"prompt": "do it"})
    assert (found.decision, found.risk) == ("allow", "low")
    assert found.reason == "Starts a sub-agent; its own calls are gated"


@pytest.mark.parametrize("name", ["AskUserQuestion", "ExitPlanMode"])
def test_a_question_is_asked_and_low(name: str) -> None:
    found = judge_tool(name, "plan" if name == "ExitPlanMode" else "question", {})
    assert (found.decision, found.risk) == ("ask", "low")


def test_what_is_hidden_in_a_description_undoes_an_allow() -> None:
    found = judge_tool("Agent", "agent", {"description": "x\u202ey"})
    assert (found.decision, found.risk) == ("ask", "unknown")


@pytest.mark.parametrize(
    "given",
    [
        {"uri": "file:///home/ada/.ssh/id_rsa"},
        {"url": "file:///home/ada/.ssh/id_rsa"},
        {"uri": "file:///home/ada/%2essh/id_rsa"},
        {"file": "~/.ssh/id_rsa"},
        {"filename": "/home/ada/.ssh/id_rsa"},
        {"uris": ["file://localhost/home/ada/.ssh/id_rsa"]},
    ],
)
def test_a_file_is_known_by_other_names_of_its_field(given: dict[str, Any]) -> None:
    found = judge_tool("mcp__fs__read", "mcp", given)
    assert "mcp.secrets" in {finding.rule for finding in found.findings}
