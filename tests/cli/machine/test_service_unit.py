from __future__ import annotations

import plistlib

import pytest

from tests.cli.conftest import Cli
from watchgate.cli.base.printing import Exit


def test_the_unit_is_all_that_stands_on_stdout_and_where_to_save_it_on_stderr(cli: Cli) -> None:
    said = cli("service", "systemd", "--profile", "strict")
    assert said.code == Exit.DONE
    assert said.out.startswith("[Unit]\n")
    assert '"serve" "--profile" "strict"' in said.out
    assert "systemctl --user enable --now watchgate" in said.err


def test_the_core_stands_where_this_environment_looks_for_it(
    cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WATCHGATE_STATE_DIR", "/srv/state")
    agent = plistlib.loads(cli("service", "launchd").out.encode())
    assert agent["EnvironmentVariables"]["WATCHGATE_STATE_DIR"] == "/srv/state"
    assert agent["StandardErrorPath"] == "/srv/state/core.log"
    assert agent["ProgramArguments"][-1] == "serve"
