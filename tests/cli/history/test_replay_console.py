"""`watchgate replay` in the console: it needs a terminal, and shows the recording alone."""

from __future__ import annotations

import os
from typing import Any

import pytest

from watchgate.cli.base.printing import Exit, Stop
from watchgate.cli.history import replay_command
from watchgate.demo.demo_play import play
from watchgate.ui.console.popup_app import OwnProcess
from watchgate.ui.source.replay_source import Recording

RECORDS = tuple(play(20.0))


def test_without_a_terminal_it_says_what_to_use() -> None:
    with pytest.raises(Stop, match="the console needs a terminal") as stop:
        replay_command.in_console(RECORDS)
    assert stop.value.code == Exit.USAGE


def test_the_console_is_given_the_recording_in_the_place_of_a_core(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    shown: list[OwnProcess] = []

    def run(app: OwnProcess, *_args: Any, **_more: Any) -> str:
        shown.append(app)
        return "it was shown"

    monkeypatch.setattr(os, "isatty", lambda _fd: True)
    monkeypatch.setattr(OwnProcess, "run", run)
    assert replay_command.in_console(RECORDS, speed=4.0) == Exit.DONE
    (app,) = shown
    assert isinstance(app.bridge.source, Recording)
    assert app.stage.recording is app.bridge.source
    assert app.stage.live is None
    assert app.bridge.source.player.speed == 4.0
    assert capsys.readouterr().out == "it was shown\n"
