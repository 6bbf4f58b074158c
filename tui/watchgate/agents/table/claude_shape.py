"""The answers that a table describes, as bytes; and those of Claude Code's hook protocol."""

from __future__ import annotations

from typing import Any, Final

from watchgate.agents.hooks.answers import PERMISSION, PRE_TOOL
from watchgate.agents.table import Answers, Told
from watchgate.agents.table.answers import REASON

ON_STDERR: Final = Told(stderr=REASON, exit=2)
"""The denial of agents that read no JSON beside an exit status."""


def _before(decision: str, **more: str) -> dict[str, Any]:
    output = {"hookEventName": PRE_TOOL, "permissionDecision": decision, **more}
    return {"hookSpecificOutput": output}


def _asked(decision: dict[str, Any]) -> dict[str, Any]:
    return {"hookSpecificOutput": {"hookEventName": PERMISSION, "decision": decision}}


PRE_DENY: Final = Told(
    stdout=_before("deny", permissionDecisionReason=REASON), stderr=REASON, exit=2
)
PRE_ALLOW: Final = Told(stdout=_before("allow"))
PRE_MODIFY: Final = Told(stdout=_before("allow", updatedInput="{input}"))
PRE_STOP: Final = Told(
    stdout={
        **_before("deny", permissionDecisionReason=REASON),
        "continue": False,
        "stopReason": REASON,
    }
)
"""Exit 0: these agents read no JSON beside exit 2, and then the turn would go on."""

PERMISSION_ANSWERS: Final = Answers(
    deny=Told(stdout=_asked({"behavior": "deny", "message": REASON})),
    allow=Told(stdout=_asked({"behavior": "allow"})),
    modify=Told(stdout=_asked({"behavior": "allow", "updatedInput": "{input}"})),
    stop=Told(stdout=_asked({"behavior": "deny", "message": REASON, "interrupt": True})),
)
