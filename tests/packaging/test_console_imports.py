"""A console that attaches leaves everything in the files that only a core works with."""

from __future__ import annotations

import subprocess
import sys

ATTACH = """
import sys
import watchgate.cli
import watchgate.service.clock
import watchgate.service.detached
import watchgate.service.settings
import watchgate.ui.options
import watchgate.ui.own_process

heavy = (
    "email",
    "http",
    "json",
    "sqlite3",
    "tomlkit",
    "zoneinfo",
    "watchgate.core.completing",
    "watchgate.core.policy.gate",
    "watchgate.service.agents",
    "watchgate.service.equipment",
    "watchgate.ui.screens.approvals",
    "watchgate.ui.screens.costs",
    "watchgate.ui.screens.history",
    "watchgate.ui.screens.traces",
    "watchgate.ui.widgets.diff.blocks",
    "watchgate.ui.widgets.payload.json_tree",
    "watchgate.ui.widgets.request.call",
    "watchgate.ui.widgets.request.lines",
    "watchgate.ui.widgets.request.sheet",
    "watchgate.ui.widgets.traces.words",
)
print(*(name for name in heavy if name in sys.modules))
"""


def test_what_the_first_picture_does_not_need_is_not_imported() -> None:
    ran = subprocess.run(
        [sys.executable, "-I", "-c", ATTACH], capture_output=True, text=True, check=True
    )
    assert ran.stdout.split() == []
