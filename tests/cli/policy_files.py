"""Policy files and journals for the tests of `watchgate policy`."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from tests.service.scribe import Scribe, committed
from watchgate.core.model.assessment import Finding
from watchgate.core.model.events import Tool
from watchgate.core.model.records import CallData, Draft, RequestData
from watchgate.core.tools.tool_input import input_hash
from watchgate.service.journal.writer import Journal

NO_PUSH = """\
version = 1

[[rule]]
id = "team.no-push"
decision = "deny"
risk = "high"
reason = "Nobody pushes from here"
suggest = "open a merge request"
command = { program = "git", sub = "push" }
match = ["git push origin main"]
not_match = ["git pull"]
"""


def own_policy(text: str) -> Path:
    """The user's policy file, written where the environment says."""
    path = Path(os.environ["WATCHGATE_CONFIG"]).with_name("policy.toml")
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    path.write_text(text)
    path.chmod(0o600)
    return path


def write_calls(*calls: tuple[str, str]) -> None:
    """A journal of shell calls, each with what the gate made of it."""
    _write(
        Draft(
            kind="tool.pre",
            at=number * 1_000_000,
            data=_call(command, gate),
            agent="claude",
            session="s1",
            call=f"c{number}",
        )
        for number, (command, gate) in enumerate(calls, 1)
    )


def write_requests(*ids: str) -> None:
    """A journal of requests to push."""
    push = RequestData(
        digest="d",
        lane="gate",
        native="PreToolUse",
        tool=_tool("git push"),
        summary="git push",
        risk="medium",
        rule="git.push",
        reason="Sends",
        findings=(Finding("git.push", "Sends", "medium"),),
    )
    _write(Draft(kind="approval.requested", at=1, data=push, request=each) for each in ids)


def _write(drafts: Iterable[Draft]) -> None:
    path = Path(os.environ["WATCHGATE_STATE_DIR"]) / "journal.db"
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    journal = Journal.open(path)
    scribe = Scribe(journal)
    for draft in drafts:
        journal.append(scribe.chain.seal(draft)[1])
    assert committed(journal)
    assert journal.close() == 0


def _tool(command: str) -> Tool:
    args = {"command": command}
    return Tool("Bash", "Bash", "shell", args, input_hash(args, "shell"))


def _call(command: str, gate: Any) -> CallData:
    return CallData(
        native="PreToolUse",
        lane="gate",
        tool=_tool(command),
        summary=command,
        gate=gate,
        risk="medium",
        rule="policy.no-rule",
        cwd="/srv/app",
    )
