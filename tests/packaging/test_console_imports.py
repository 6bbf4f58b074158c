"""A console that attaches leaves everything in the files that only a core works with."""

from __future__ import annotations

import subprocess
import sys

ATTACH = """
import sys
import watchgate.cli
import watchgate.service.system.system_clock
import watchgate.service.system.detached_core
import watchgate.service.system.config_file
import watchgate.ui.view_model.console_options
import watchgate.ui.console.popup_app

heavy = (
    "email",
    "http",
    "json",
    "sqlite3",
    "tomlkit",
    "zoneinfo",
    "watchgate.core.filters.filter_completion",
    "watchgate.core.gate.policy_gate",
    "watchgate.service.wire.agent_adapters",
    "watchgate.service.hub.components",
    "watchgate.ui.screens.approvals_screen",
    "watchgate.ui.screens.costs_screen",
    "watchgate.ui.screens.history_screen",
    "watchgate.ui.screens.traces_screen",
    "watchgate.ui.widgets.payload.json_tree",
    "watchgate.ui.widgets.request.call_lines",
    "watchgate.ui.widgets.request.request_lines",
    "watchgate.ui.widgets.base.sheet",
    "watchgate.ui.widgets.traces.trace_words",
)
print(*(name for name in heavy if name in sys.modules))
"""


def test_what_the_first_picture_does_not_need_is_not_imported() -> None:
    ran = subprocess.run(
        [sys.executable, "-I", "-c", ATTACH], capture_output=True, text=True, check=True
    )
    assert ran.stdout.split() == []
