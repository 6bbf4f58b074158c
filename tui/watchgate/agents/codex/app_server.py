"""The messages of Codex's app-server to its client are a table: approvals and token counts.

Wire format: the JSON-RPC of `codex app-server` 0.169. An answer here lacks the request's `id`,
which whoever speaks the protocol adds. Its lines are known by `method`, which no hook payload has.
"""

from __future__ import annotations

from typing import Any, Final

from watchgate.agents.table import Answers, EventRule, Fields, Table, Told
from watchgate.agents.table.adapter import TableAdapter

_USED: Final = "params.tokenUsage"


def _decision(word: str) -> dict[str, Any]:
    return {"result": {"decision": word}}


_ANSWERS: Final = Answers(
    deny=Told(stdout=_decision("decline")),
    allow=Told(stdout=_decision("accept")),
    stop=Told(stdout=_decision("cancel")),
)

APP_SERVER: Final = TableAdapter(
    Table(
        name="codex",
        title="Codex",
        experimental=False,
        fields=Fields(
            event=("method",),
            session=("params.threadId",),
            cwd=("params.cwd",),
            turn=("params.turnId",),
            mode=(),
            sub_id=(),
            call_id=("params.itemId",),
        ),
        events={
            "item/commandExecution/requestApproval": EventRule(
                kind="tool.permission",
                tool="Bash",
                input={"command": "params.command", "description": "params.reason"},
                answers=_ANSWERS,
            ),
            "item/fileChange/requestApproval": EventRule(
                kind="tool.permission",
                tool="apply_patch",
                input={"grant_root": "params.grantRoot", "reason": "params.reason"},
                answers=_ANSWERS,
            ),
            "thread/tokenUsage/updated": EventRule(
                kind="usage",
                # It is told again after each answer, also where nothing was used meanwhile.
                usage={
                    "input": (f"{_USED}.total.inputTokens",),
                    "output": (f"{_USED}.total.outputTokens",),
                    "cache_read": (f"{_USED}.total.cachedInputTokens",),
                    "cache_write": (f"{_USED}.total.cacheWriteInputTokens",),
                    "reasoning": (f"{_USED}.total.reasoningOutputTokens",),
                    "context_used": (f"{_USED}.last.totalTokens",),
                    "context_size": (f"{_USED}.modelContextWindow",),
                },
                counts="total",
                cached_within=True,
            ),
        },
        classes={"Bash": "shell", "apply_patch": "edit"},
    )
)


def is_message(payload: bytes) -> bool:
    """Returns whether this may be a line of the app-server, looked at before it is decoded."""
    return b'"method"' in payload and b'"params"' in payload and b'"hook_event_name"' not in payload
