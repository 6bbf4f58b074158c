"""Where files of usage are looked for."""

from __future__ import annotations

import pytest

from watchgate.agents.usage import UsagePlace, usage_places

HOME = "/home/u"


def of(agent: str, **env: str) -> list[tuple[str, str]]:
    return [
        (place.root, place.pattern) for place in usage_places(env, HOME) if place.agent == agent
    ]


def roots(agent: str, **env: str) -> list[str]:
    return list(dict.fromkeys(root for root, _pattern in of(agent, **env)))


def test_claude_has_two_homes_and_sub_agents_below_each_session() -> None:
    assert of("claude") == [
        ("/home/u/.claude/projects", "*/*.jsonl"),
        ("/home/u/.claude/projects", "*/*/subagents/**/*.jsonl"),
        ("/home/u/.config/claude/projects", "*/*.jsonl"),
        ("/home/u/.config/claude/projects", "*/*/subagents/**/*.jsonl"),
    ]


@pytest.mark.parametrize(
    ("told", "expected"),
    [
        ("/c", ["/c/projects"]),
        ("/c/", ["/c/projects"]),
        ("/a, /b,/a", ["/a/projects", "/b/projects"]),
        ("~/c", ["/home/u/c/projects"]),
        ("/c/projects", ["/c/projects"]),
        ("relative", ["/home/u/.claude/projects", "/home/u/.config/claude/projects"]),
        (" ,", ["/home/u/.claude/projects", "/home/u/.config/claude/projects"]),
    ],
)
def test_a_variable_takes_the_place_of_claudes_homes(told: str, expected: list[str]) -> None:
    assert roots("claude", CLAUDE_CONFIG_DIR=told) == expected


def test_codex_has_rollouts_by_day_and_archived_ones() -> None:
    below = ["/home/u/.codex/sessions", "/home/u/.codex/archived_sessions"]
    assert roots("codex") == below
    assert {pattern for _root, pattern in of("codex")} == {"**/*.jsonl"}
    assert roots("codex", CODEX_HOME="/x") == ["/x/sessions", "/x/archived_sessions"]


def test_gemini_has_its_projects_in_a_folder_that_may_be_named_itself() -> None:
    assert roots("gemini") == ["/home/u/.gemini/tmp"]
    assert roots("gemini", GEMINI_DATA_DIR="/g") == ["/g", "/g/tmp"]
    forms = {(p.pattern, p.form) for p in usage_places({}, HOME) if p.agent == "gemini"}
    assert forms == {("*/chats/**/*.jsonl", "lines"), ("*/chats/**/*.json", "whole")}


def test_opencode_has_databases_and_a_file_for_each_message() -> None:
    data = "/home/u/.local/share/opencode"
    assert [place for place in usage_places({}, HOME) if place.agent == "opencode"] == [
        UsagePlace(agent="opencode", root=data, pattern="opencode*.db", form="rows"),
        UsagePlace(
            agent="opencode", root=f"{data}/storage/message", pattern="*/*.json", form="whole"
        ),
    ]
    assert roots("opencode", XDG_DATA_HOME="/d")[0] == "/d/opencode"
    assert roots("opencode", XDG_DATA_HOME="/d", OPENCODE_DATA_DIR="/o")[0] == "/o"


def test_qwen_and_copilot() -> None:
    assert of("qwen") == [
        ("/home/u/.qwen/projects", "*/chats/**/*.jsonl"),
        ("/home/u/.qwen/projects", "*/subagents/**/*.jsonl"),
    ]
    assert roots("qwen", QWEN_DATA_DIR="/q") == ["/q/projects"]
    assert of("copilot") == [("/home/u/.copilot/session-state", "*/events.jsonl")]
    assert of("copilot", COPILOT_HOME="/p") == [("/p/session-state", "*/events.jsonl")]
