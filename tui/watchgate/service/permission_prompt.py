"""The permission tool of `claude -p`: each call is put to the core, and silence is a denial."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

from watchgate.agents.base import Adapter
from watchgate.agents.claude.beyond import PROMPT_TOOL
from watchgate.agents.proxied.wire import Seen
from watchgate.agents.proxied.wrapped import Wrapped, wrap
from watchgate.core.events import Lane
from watchgate.service.ingest_client import IngestClient, Unanswered
from watchgate.service.mcp_tool import McpServer

SESSION_VARIABLE = "CLAUDE_CODE_SESSION_ID"
"""Claude Code 2.1.329 sets it for the MCP servers that it starts."""


async def serve(
    core: IngestClient, claude: Adapter, deadline_s: float, folder: Callable[[], str]
) -> None:
    """Serves the tool on standard input and output; `folder` is where Claude Code works."""

    async def approve(message: dict[str, Any]) -> bytes:
        wrapped = Wrapped(
            cwd=folder(),
            context={"session": os.environ.get(SESSION_VARIABLE, "")},
            message=message,
        )
        try:
            answer = await core.ask(Seen(PROMPT_TOOL, wrap(wrapped)), Lane.GATE, deadline_s)
        except Unanswered as why:
            reason = f"watchgate: {why}. The call is denied; this is not a refusal by a person."
            return claude.closed(PROMPT_TOOL, Lane.GATE, reason).stdout
        return answer or claude.closed(PROMPT_TOOL, Lane.GATE, "").stdout

    await McpServer(approve).serve(0, 1)
