"""Tools that read and write files directly: where a path leads decides."""

from __future__ import annotations

from typing import Any

import pytest

from tests.core.policy.calls import CWD, judge_command, judge_tool, rules


def edit(path: str, **more: Any) -> Any:
    return judge_tool("Edit", "edit", {"file_path": path, **more})


def read(path: str) -> Any:
    return judge_tool("Read", "read", {"file_path": path})


@pytest.mark.parametrize("path", ["a.py", "src/a.py", f"{CWD}/a.py", "x/../a.py", "~/project/a"])
def test_an_edit_inside_is_medium_and_asked(path: str) -> None:
    found = edit(path)
    assert (found.decision, found.risk, found.rule) == ("ask", "medium", "files.edit-inside")


@pytest.mark.parametrize(
    "path", ["/etc/hosts", "../x", "src/../../x", "~/x", "/tmp/../x", "~root/x"]
)
def test_an_edit_outside_is_high(path: str) -> None:
    found = edit(path)
    assert (found.decision, found.risk) == ("ask", "high")
    assert "files.edit-outside" in rules(found)


def test_a_scratch_file_is_as_a_file_inside() -> None:
    found = edit("/tmp/check.py")
    assert (found.decision, found.risk) == ("ask", "medium")


@pytest.mark.parametrize(
    "path",
    [
        "/run/user/1000/watchgate/off",
        "~/.config/watchgate/config.toml",
        "~/.claude/settings.json",
        ".claude/settings.json",
        ".claude/settings.local.json",
        "x/../.codex/hooks.json",
        "~/.codex/config.toml",
        ".watchgate/policy.toml",
        "/etc/watchgate/policy.toml",
        "~/.gemini/settings.json",
        "~/.qwen/settings.json",
        "~/.cursor/hooks.json",
        "~/.copilot/hooks/watchgate.json",
        ".github/copilot/settings.local.json",
        "~/.config/crush/crush.json",
        ".factory/settings.local.json",
        "~/.agents/plugins/watchgate/hooks/hooks.json",
        "~/.kimi/config.toml",
        "~/.kiro/agents/watchgate.json",
        "~/.cline/hooks/PreToolUse",
        "~/.codeium/windsurf/hooks.json",
        "~/.config/opencode/plugin/watchgate.js",
        "~/.synaps-cli/plugins/watchgate/x",
    ],
)
def test_an_edit_of_our_own_files_or_of_hook_settings_is_critical(path: str) -> None:
    found = edit(path)
    assert (found.decision, found.risk, found.rule) == ("ask", "critical", "own.edit")


@pytest.mark.parametrize(
    "path",
    [
        "$XDG_RUNTIME_DIR/watchgate/off",
        '"${XDG_RUNTIME_DIR}"//watchgate/off',
        "${XDG_RUNTIME_DIR:-/run/user/1000}/watchgate/off",
        "$XDG_CONFIG_HOME/watchgate/config.toml",
        "$WATCHGATE_RUNTIME_DIR/off",
        "${WATCHGATE_CONFIG}",
        "$CLAUDE_CONFIG_DIR/settings.json",
        "$CODEX_HOME/hooks.json",
    ],
)
def test_our_own_files_are_known_by_the_variables_that_lead_there(path: str) -> None:
    for command in (f"echo 99999999999 > {path}", f"rm -f {path}", f"cp /tmp/x {path}"):
        assert judge_command(command).risk == "critical"
        assert "own.files" in rules(judge_command(command))


@pytest.mark.parametrize("path", ["$XDG_RUNTIME_DIR/other", "$CODEX_HOME/x.md", "$WATCHGATE_X"])
def test_a_variable_that_leads_elsewhere_is_not_ours(path: str) -> None:
    assert "own.files" not in rules(judge_command(f"echo hello > {path}"))


@pytest.mark.parametrize(
    ("path", "rule"),
    [
        (".git/hooks/pre-commit", "files.edit-later"),
        (".github/workflows/ci.yml", "files.edit-later"),
        (".gitlab-ci.yml", "files.edit-later"),
        (".envrc", "files.edit-later"),
        (".env", "secrets.edit"),
        ("deploy/server.pem", "secrets.edit"),
        (".mcp.json", "files.edit-steering"),
        (".claude/skills/x/SKILL.md", "files.edit-steering"),
    ],
)
def test_some_files_inside_are_high(path: str, rule: str) -> None:
    found = edit(path)
    assert found.risk == "high"
    assert rule in rules(found)


def test_every_file_of_a_patch_counts() -> None:
    patch = (
        "*** Begin Patch\n*** Update File: a.py\n@@\n-x\n+y\n"
        "*** Move to: ../b.py\n*** Delete File: .git/hooks/x\n*** End Patch"
    )
    found = judge_tool("apply_patch", "edit", {"command": patch})
    spans = {finding.rule: finding.span for finding in found.findings}
    assert spans == {
        "files.edit-inside": (0, 4),
        "files.edit-outside": (6, 13),
        "files.edit-later": (15, 27),
    }


def test_the_path_is_marked_in_the_summary() -> None:
    assert edit("/etc/hosts", new_string="x").findings[0].span == (0, 10)


def test_an_edit_without_a_path_is_unknown() -> None:
    found = judge_tool("Write", "edit", {"content": "x"})
    assert (found.decision, found.risk, found.rule) == ("ask", "unknown", "call.opaque")


def test_a_path_with_hidden_characters_is_unknown() -> None:
    found = edit("a\u202eyp.py")
    assert (found.risk, found.rule) == ("unknown", "text.hidden")


@pytest.mark.parametrize(
    ("name", "given"),
    [
        ("Read", {"file_path": "src/a.py"}),
        ("Grep", {"pattern": "x"}),
        ("Glob", {"pattern": "**/*.py"}),
        ("Grep", {"pattern": "x", "path": "src"}),
        ("LS", {"path": CWD}),
    ],
)
def test_a_read_inside_is_low_and_allowed(name: str, given: dict[str, Any]) -> None:
    found = judge_tool(name, "read", given)
    assert (found.decision, found.risk, found.rule) == ("allow", "low", "files.read-inside")


@pytest.mark.parametrize("path", ["/usr/lib/python3/ast.py", "/tmp/x.log", "/etc/os-release"])
def test_the_systems_own_files_may_be_read_by_tool_and_by_command(path: str) -> None:
    assert read(path).decision == "allow"
    assert judge_command(f"cat {path}").decision == "allow"


@pytest.mark.parametrize(
    ("path", "risk"),
    [
        ("/srv/app/config", "high"),
        ("/home/bob/notes", "high"),
        ("/mnt/x", "high"),
        ("/etc/passwd", "medium"),
        ("/var/log/syslog", "medium"),
        ("../x", "medium"),
        ("~/notes", "medium"),
    ],
)
def test_what_a_command_prints_from_outside_is_as_grave_as_what_a_tool_reads(
    path: str, risk: str
) -> None:
    for program in ("cat", "head -5", "grep x", "base64", "sed 1d", "git diff a"):
        found = judge_command(f"{program} {path}")
        assert (found.decision, found.risk) == ("ask", risk), program
    assert read(path).risk == risk


@pytest.mark.parametrize(
    "command",
    ["grep -r key ~", "grep -r key ~/.config", "cat /etc/*", "find ~ -exec cat {} +", "cat ~/*"],
)
def test_what_sweeps_over_a_home_or_the_settings_is_high(command: str) -> None:
    assert judge_command(command).risk == "high"


@pytest.mark.parametrize(
    ("path", "rule"),
    [
        ("/srv/x", "files.read-outside"),
        (".env", "secrets.read"),
        ("keys/id_rsa", "secrets.read"),
        ("~/.ssh/id_rsa", "secrets.read"),
        ("~/.local/state/watchgate/journal.db", "own.read"),
    ],
)
def test_other_reads_are_high(path: str, rule: str) -> None:
    found = read(path)
    assert (found.decision, found.risk) == ("ask", "high")
    assert rule in rules(found)


@pytest.mark.parametrize(
    ("tool", "given", "rule"),
    [
        ("Glob", {"pattern": "/etc/**"}, "files.glob-absolute"),
        ("Glob", {"pattern": "~/.ssh/*"}, "files.glob-home"),
        ("Glob", {"pattern": "../../**"}, "files.glob-parent"),
        ("Grep", {"pattern": "KEY", "glob": "**/.env"}, "secrets.search"),
        ("Read", {"paths": ["a.py", ".env"]}, "secrets.read"),
    ],
)
def test_what_reaches_further_than_its_path_is_asked(
    tool: str, given: dict[str, Any], rule: str
) -> None:
    found = judge_tool(tool, "read", given)
    assert found.decision == "ask"
    assert rule in rules(found)


def test_without_a_known_folder_only_relative_paths_are_inside() -> None:
    assert judge_tool("Edit", "edit", {"path": f"{CWD}/a"}, cwd="").risk == "high"
    assert judge_tool("Edit", "edit", {"path": "../a"}, cwd="").risk == "high"
    assert judge_tool("Edit", "edit", {"path": "a"}, cwd="").risk == "medium"


def test_the_root_as_the_sessions_folder_holds_everything() -> None:
    assert judge_tool("Edit", "edit", {"path": "/srv/a"}, cwd="/").risk == "medium"


def test_a_folder_with_the_same_beginning_is_another() -> None:
    assert edit(f"{CWD}-backup/a").risk == "high"
