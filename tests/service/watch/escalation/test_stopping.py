"""A core that ends while somebody is being told says so on record."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.cli.conftest import Core
from watchgate.core.config.config import Config
from watchgate.core.config.config_sections import EscalationConfig
from watchgate.link.paths import paths
from watchgate.service.host import core_run
from watchgate.service.host.core_host import hosted
from watchgate.service.hub.core_environment import Environment
from watchgate.service.journal import journal_reader
from watchgate.service.watch.escalation.escalation_watch import ANSWERED


def test_a_try_that_is_on_its_way_when_the_core_stops_is_on_record(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(core_run, "DRAIN_S", 60.0)
    began = tmp_path / "began"
    os.mkfifo(began)
    command = ("/bin/sh", "-c", f"sleep 1000 & setsid sleep 1000 & echo > {began}; wait")
    told = EscalationConfig(name="ana", after_s=0, min_risk="low", command=command)
    places = paths(os.environ)
    core = Core(places)
    stage = Environment(
        ids=core.id, home=str(tmp_path), protected=(), agent_of=lambda _pid: None, scripted=True
    )
    with hosted(places, Config(escalation=(told,)), environment=stage):
        core.hold()
        began.read_text()
    core.end()
    kinds = ("approval.decided", "approval.escalated")
    first, last = journal_reader.ends(places.journal)
    decided, escalated = journal_reader.among(places.journal, kinds, first, last)
    assert decided.data["word"] == "denied-core-stopped"
    assert (escalated.data["to"], escalated.data["detail"]) == ("ana", ANSWERED)
