"""The limits of ordinary work: commands that look like it, and reach further.

`limits_of_work.txt` has one a line: other machines, folders beyond the session's, code from
elsewhere, options that a later word takes back.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.core.policy.calls import judge_command
from watchgate.core.policy.rules.profiles import gate_action

LIMITS = (Path(__file__).parent / "limits_of_work.txt").read_text("utf-8").splitlines()


@pytest.mark.parametrize("command", LIMITS)
def test_what_reaches_further_is_held_where_nobody_is_there(command: str) -> None:
    found = judge_command(command)
    assert gate_action("guard", found, autonomous=True) in ("hold", "deny"), found.findings
