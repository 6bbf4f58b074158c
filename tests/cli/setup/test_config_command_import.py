"""`config import`: the hooks of a sandbox-agent session become handlers of ours."""

from __future__ import annotations

import json
from pathlib import Path

from tests.cli.conftest import Cli
from watchgate.core.base.text import hidden_spans
from watchgate.core.config.config import load

SESSION = {
    "agent": "codex",
    "workingDir": "/srv/app",
    "hooks": {
        "onSessionStart": [{"command": "./prepare.sh", "timeoutSecs": 10}],
        "onMessageStart": [
            {"command": "./check.sh 'a b'", "workingDir": "/srv", "continueOnFailure": False}
        ],
    },
}


def test_sa_1_the_hooks_of_a_session_are_printed_as_handlers_that_load(
    cli: Cli, tmp_path: Path
) -> None:
    file = tmp_path / "session.json"
    file.write_text(json.dumps(SESSION))
    said = cli("config", "import", str(file))
    assert said.code == 0
    config = load(f'{said.out}\n[dispatch]\npreset = "sandbox-lifecycle"\n', "config.toml")
    start, message = config.handler
    assert (start.on, start.command, start.timeout_s) == (
        ("session.start",),
        ("sh", "-c", "./prepare.sh"),
        10.0,
    )
    assert (message.on, message.cwd, message.continue_on_failure) == (
        ("prompt.submit",),
        "/srv",
        False,
    )
    assert "sandbox-lifecycle" in said.err


def test_a_command_is_printed_so_that_it_is_read_as_it_was(cli: Cli, tmp_path: Path) -> None:
    command = "echo 'a\u00a0b' \x7f\x9b \u200b \u202e \U0001f600 \"q\" \\ \t\n \U000e0001"
    file = tmp_path / "session.json"
    file.write_text(json.dumps({"hooks": {"onSessionStart": [{"command": command}]}}))
    said = cli("config", "import", str(file))
    (handler,) = load(f'{said.out}\n[dispatch]\npreset = "sandbox-lifecycle"\n', "-").handler
    assert handler.command == ("sh", "-c", command)
    assert not any(hidden_spans(line) for line in said.out.splitlines())


def test_a_session_without_hooks_is_no_handler(cli: Cli, tmp_path: Path) -> None:
    file = tmp_path / "session.json"
    file.write_text(json.dumps({"hooks": {}}))
    assert cli("config", "import", str(file)).out == ""


def test_what_cannot_be_read_is_said(cli: Cli, tmp_path: Path) -> None:
    file = tmp_path / "session.json"
    file.write_text(json.dumps({"hooks": {"onSessionStart": [{"command": "x", "timeout": 3}]}}))
    said = cli("config", "import", str(file))
    assert (said.code, said.out) == (1, "")
    assert "timeout" in said.err
    assert cli("config", "import", str(tmp_path / "none")).code == 1
    assert cli("config", "import").code == 2
