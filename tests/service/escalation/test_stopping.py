"""A core that ends while somebody is being told says so on record."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.cli.conftest import Core
from watchgate.core.config import Config
from watchgate.core.config_escalation import EscalationConfig
from watchgate.link.paths import paths
from watchgate.service import life
from watchgate.service.escalation.line import ANSWERED
from watchgate.service.hosted import hosted
from watchgate.service.journal import reading
from watchgate.service.stage import Stage


def test_a_try_that_is_on_its_way_when_the_core_stops_is_on_record(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(life, "DRAIN_S", 60.0)
    began = tmp_path / "began"
    os.mkfifo(began)
    command = ("/bin/sh", "-c", f"sleep 1000 & setsid sleep 1000 & echo > {began}; wait")
    told = EscalationConfig(name="ana", after_s=0, min_risk="low", command=command)
    places = paths(os.environ)
    core = Core(places)
    stage = Stage(
        ids=core.id, home=str(tmp_path), protected=(), agent_of=lambda _pid: None, scripted=True
    )
    with hosted(places, Config(escalation=(told,)), environment=stage):
        core.hold()
        began.read_text()
    core.end()
    kinds = ("approval.decided", "approval.escalated")
    first, last = reading.ends(places.journal)
    decided, escalated = reading.among(places.journal, kinds, first, last)
    assert decided.data["word"] == "denied-core-stopped"
    assert (escalated.data["to"], escalated.data["detail"]) == ("ana", ANSWERED)
