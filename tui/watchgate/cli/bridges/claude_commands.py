"""`permission-prompt`, `statusline`: what Claude Code starts of us besides hooks."""

from __future__ import annotations

import argparse
import os
import sys
from typing import Any

from watchgate.cli.base.command_environment import configured, core_at, here
from watchgate.cli.base.printing import Exit

STATUS_DEADLINE_S = 1


def add_parser(commands: Any) -> None:
    """Adds the commands."""
    prompt = commands.add_parser(
        "permission-prompt",
        help="the MCP server whose tool asks an operator on behalf of claude -p",
        description="The MCP server whose tool asks an operator on behalf of claude -p. Silence"
        " is a denial: where nobody answers in time or no core runs, the call is denied and the"
        " model is told that no person refused it.",
        epilog="example: watchgate permission-prompt, as the MCP server of claude -p"
        " --permission-prompt-tool mcp__watchgate__approve;"
        " claude mcp add watchgate -- watchgate permission-prompt makes it one",
    )
    prompt.set_defaults(run=_permission_prompt)
    status = commands.add_parser(
        "statusline",
        help="Claude Code's status line: forward what it says of cost and tokens, print one line",
        epilog="example: watchgate statusline, as the command of statusLine in Claude's settings;"
        " watchgate install claude writes it where there is none",
    )
    status.set_defaults(run=_statusline)


def _permission_prompt(_args: argparse.Namespace) -> int:
    import anyio

    from watchgate.agents.registry import adapter
    from watchgate.service.bridges.permission_tool import serve
    from watchgate.service.bridges.tap import own_folder

    paths = here()
    core = core_at(paths, "claude", proxy=False)
    deadline_s = configured(paths).approval.client_deadline_s
    anyio.run(serve, core, adapter("claude"), deadline_s, own_folder)
    return Exit.DONE


def _statusline(_args: argparse.Namespace) -> int:
    from watchgate import client

    # The relay lane: nothing is printed without a core, and a core answers at once.
    os.execv(  # noqa: S606 - the client that agents run, with our own interpreter
        sys.executable,
        [
            *(sys.executable, "-I", "-S", client.__file__, str(here().ingest_socket)),
            *("claude", "relay", "StatusLine", str(STATUS_DEADLINE_S), ""),
        ],
    )
    return Exit.REFUSED
