"""Tools that are neither shell nor files: the network, MCP, sub-agents, questions, the unknown."""

from __future__ import annotations

import pytest

from tests.core.policy.calls import judge_tool, rules
from watchgate.core.policy.assessment import NO_RULE


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
        ("http://169.254.169.254/latest", "net.bare-address"),
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


def test_an_mcp_tool_is_unknown() -> None:
    found = judge_tool("mcp__db__drop", "mcp", {})
    assert (found.decision, found.risk, found.rule) == ("ask", "unknown", NO_RULE)
    assert found.reason == "No rule knows this MCP tool"


def test_another_tool_is_unknown() -> None:
    found = judge_tool("Surprise", "other", {"path": 3})
    assert (found.decision, found.risk, found.rule) == ("ask", "unknown", NO_RULE)


def test_a_shell_call_without_a_command_is_unknown() -> None:
    found = judge_tool("Bash", "shell", {"command": 3})
    assert (found.decision, found.risk, found.rule) == ("ask", "unknown", NO_RULE)


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
