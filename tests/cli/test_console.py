from __future__ import annotations

from watchgate.agents.registry import ADAPTERS
from watchgate.cli.console import PROGRAMS
from watchgate.service.setup.running import process_names


def test_an_empty_console_looks_for_every_agent_that_can_be_installed() -> None:
    installable = {name: each for name, each in ADAPTERS.items() if each.setup is not None}
    assert {name: process_names(each) for name, each in installable.items()} == PROGRAMS
