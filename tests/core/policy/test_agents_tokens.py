"""The files in which each agent keeps what it logs in with are secrets, for every tool."""

from __future__ import annotations

import pytest

from tests.core.policy.calls import judge_command, judge_tool
from watchgate.agents.registry import BUILT_IN
from watchgate.core.model.assessment import severity

TOKENS = {
    "claude": ("~/.claude/.credentials.json", "~/.claude.json", "/srv/claude/.credentials.json"),
    "cline": ("~/.cline/data/secrets.json",),
    "codex": ("~/.codex/auth.json", "$CODEX_HOME/auth.json"),
    "copilot": ("~/.copilot/config.json", "~/.config/github-copilot/hosts.json"),
    "crush": ("~/.local/share/crush/crush.json", "~/.config/crush/crush.json"),
    "cursor": ("~/.config/cursor/auth.json",),
    "droid": ("~/.factory/auth.json", "~/.factory/auth.encrypted"),
    "gemini": ("~/.gemini/oauth_creds.json", "~/.gemini/.env", "~/.gemini/mcp-oauth-tokens.json"),
    "goose": ("~/.config/goose/secrets.yaml",),
    "kimi": ("~/.kimi/credentials/kimi-code.json", "~/.kimi/config.toml"),
    "kiro": ("~/.aws/sso/cache/kiro-auth-token.json", "~/.local/share/kiro-cli/data.sqlite3"),
    "opencode": ("~/.local/share/opencode/auth.json", "~/.local/share/opencode/mcp-auth.json"),
    "qwen": ("~/.qwen/oauth_creds.json", "~/.qwen/.env"),
    "synaps": ("~/.synaps-cli/auth.json",),
    "vscode": ("~/.config/github-copilot/apps.json",),
    "windsurf": ("~/.codeium/config.json",),
}
"""By the names of agents."""


def test_every_agent_with_an_adapter_has_its_files_here() -> None:
    # Any agent may speak that protocol; it has no files of its own.
    assert set(BUILT_IN) - TOKENS.keys() == {"acp"}


@pytest.mark.parametrize("path", [path for paths in TOKENS.values() for path in paths])
def test_the_file_is_a_secret_for_the_shell_and_for_file_tools(path: str) -> None:
    absolute = path.replace("~", "/home/ada")

    for found in (
        judge_command(f"cat {path}"),
        judge_command(f"cp {path} x"),
        judge_tool("Read", "read", {"file_path": absolute}),
        judge_tool("mcp__fs__read", "mcp", {"path": absolute}),
    ):
        assert severity(found.risk) >= severity("high")
