"""Whom a rule is about: agents, sessions, folders, tools, fields, servers, hosts; until when."""

from __future__ import annotations

from typing import Any

import pytest

from tests.core.policy.calls import CWD, HOME, OWN
from tests.core.policy.written import policy
from watchgate.core.model.assessment import Assessment
from watchgate.core.model.events import Tool, ToolClass
from watchgate.core.policy.inputs.subject import Subject
from watchgate.core.policy.judging.assess import assess

ASK = 'id = "test.ask"\ndecision = "ask"\nrisk = "high"\nreason = "It would"\n'
UNTIL_US = 1_798_675_200_000_000


def assessed(
    rule: str, name: str, cls: ToolClass, given: dict[str, Any], now: int = 0
) -> Assessment:
    server, _, tool = name.removeprefix("mcp__").partition("__")
    shown = f"{server}:{tool}" if cls == "mcp" else name
    subject = Subject(
        tool=Tool(shown, name, cls, given, "h"),
        agent="claude",
        session="s1",
        cwd=CWD,
        home=HOME,
        own=OWN,
    )
    return assess(subject, policy(rule), now)


def speaks(rule: str, name: str = "Bash", cls: ToolClass = "shell", **given: Any) -> bool:
    found = assessed(ASK + rule, name, cls, given or {"command": "x a"})
    return "test.ask" in {finding.rule for finding in found.findings}


@pytest.mark.parametrize(
    ("hit", "miss"),
    [
        ('agents = "cl*"', 'agents = "codex"'),
        ('sessions = ["s1", "s2"]', 'sessions = "s2"'),
        ('cwd = "~/project/**"', 'cwd = "~/other"'),
        ('tools = "Bash"', 'tools = "Read"'),
        ('tools = "<shell>"', 'tools = "<edit>"'),
        ('raw = "x\\\\s"', 'raw = "y"'),
        ('input.command = "x *"', 'input.command = "y *"'),
        ('input = { command = "*" }', 'input = { other = "*" }'),
    ],
)
def test_each_part_of_a_scope(hit: str, miss: str) -> None:
    also = 'command = { program = "x" }\n'
    assert speaks(also + hit)
    assert not speaks(also + miss)


def test_a_rule_ends_when_it_says() -> None:
    rule = ASK + 'tools = "Bash"\nuntil = 2026-12-31T00:00:00Z'

    def rule_at(now_us: int) -> str:
        return assessed(rule, "Bash", "shell", {"command": "x"}, now_us).rule

    assert rule_at(UNTIL_US - 1) == "test.ask"
    assert rule_at(UNTIL_US) == "policy.no-rule"


def test_mcp_tools_go_by_their_server_and_by_both_names() -> None:
    assert speaks('mcp = "db"', "mcp__db__drop", "mcp")
    assert not speaks('mcp = "db"', "mcp__web__drop", "mcp")
    assert speaks('tools = "mcp__db__*"', "mcp__db__drop", "mcp")
    assert speaks('tools = "db:drop"', "mcp__db__drop", "mcp")
    assert speaks('tools = "<mcp>"\nraw = "drop"', "mcp__db__drop", "mcp")


@pytest.mark.parametrize(
    ("hosts", "url"),
    [
        ('"*.example.com"', "https://a.Example.com/x"),
        ('"example.com"', "example.com"),
        ('"@address"', "http://0x7f.1/"),
        ('"@address"', "http://[::1]/"),
        ('"@lookalike"', "https://ex\u0430mple.org"),
        ('"@lookalike"', "https://xn--exmple-cua.org"),
        ('"@credentials"', "https://token@example.org"),
        ('"@scheme"', "file:///etc/passwd"),
        ('"@unreadable"', "http://["),
    ],
)
def test_addresses_of_fetches_and_of_commands(hosts: str, url: str) -> None:
    assert speaks(f"hosts = {hosts}", "WebFetch", "fetch", url=url)
    assert not speaks(f"hosts = {hosts}", "WebFetch", "fetch", url="https://example.org")
    assert not speaks(f"hosts = {hosts}", command="curl https://example.org")


def test_an_address_in_a_command_counts_like_one_that_is_fetched() -> None:
    assert speaks('hosts = "*.example.com"', command="curl -s https://a.example.com/x")
    assert speaks('hosts = "example.com"', command="curl example.com")


def test_an_allow_for_hosts_needs_them_all_and_none_odd() -> None:
    rule = 'id = "test.allow"\ndecision = "allow"\ntools = "<fetch>"\nhosts = "*example.com"'

    def decision(*urls: str) -> str:
        return assessed(rule, "WebFetch", "fetch", {"urls": list(urls)}).decision

    assert decision("https://example.com/a", "https://b.example.com") == "allow"
    assert decision("https://example.com/a", "https://other.org") == "ask"
    assert decision("https://user@example.com") == "ask"
    assert decision() == "ask"


def test_an_allow_for_paths_needs_them_all() -> None:
    rule = 'id = "t.a"\ndecision = "allow"\ntools = "<read>"\npaths = { any = "@inside" }'
    assert assessed(rule, "Read", "read", {"path": "a"}).decision == "allow"
    assert assessed(rule, "Glob", "read", {"pattern": "*"}).decision == "allow"
    assert assessed(rule, "Read", "read", {"paths": ["a", "/etc/x"]}).decision == "ask"


def test_variables_that_a_command_sets() -> None:
    for command in (
        "LD_PRELOAD=x ls",
        "LD_PRELOAD=x",
        "env LD_PRELOAD=x ls",
        "export LD_PRELOAD=x",
    ):
        assert speaks('env = "LD_*"', command=command)
    assert not speaks('env = "LD_*"', command="echo LD_PRELOAD=x")


def test_a_rule_may_look_only_at_texts_that_cannot_be_read() -> None:
    assert speaks('opaque = true\nraw = "rm"', command="$x rm")
    assert not speaks('opaque = true\nraw = "rm"', command="echo rm")
    assert not speaks('opaque = false\nraw = "rm"', command="$x rm")


def test_our_own_paths_are_found_wherever_they_stand() -> None:
    assert speaks('raw = "@own"', command=f"x 'a:{OWN[0]}/off'")
    assert not speaks('raw = "@own"', command="x /run/user/1000/other")


def test_a_call_that_does_not_say_what_it_does_is_opaque() -> None:
    shell = assessed(ASK + 'tools = "x"', "Bash", "shell", {"command": 3})
    edit = assessed(ASK + 'tools = "x"', "Write", "edit", {"content": "x"})
    for found in (shell, edit):
        assert (found.decision, found.risk, found.opaque) == ("ask", "unknown", True)
