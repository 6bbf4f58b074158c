from __future__ import annotations

from pathlib import Path

import pytest

from watchgate.core.base.clock import Instant
from watchgate.core.model.records import CoreData
from watchgate.core.model.views import GateView
from watchgate.service.host.restore_state import off_at_start
from watchgate.service.system import off_switch

NOW = Instant(wall_us=1_700_000_000_000_000, mono_s=5.0)
LATER_S = 1_700_000_600
ON = GateView(profile="guard")


@pytest.fixture
def path(runtime_dir: Path) -> Path:
    return runtime_dir / "off"


def test_a_gate_that_is_on_needs_no_record(path: Path) -> None:
    assert off_at_start(path, ON, NOW) is None


def test_a_switch_that_has_run_out_is_none(path: Path) -> None:
    off_switch.write_switch(path, LATER_S)
    assert off_at_start(path, ON, NOW.plus(601)) is None


def test_a_switch_that_outlived_its_core_keeps_the_name_of_whoever_switched(path: Path) -> None:
    off_switch.write_switch(path, LATER_S)
    until_us = LATER_S * 1_000_000
    earlier = GateView(profile="guard", off_until=until_us, off_by="operator kim")
    said = CoreData(what="the gate is still switched off", until=until_us, name="operator kim")
    assert off_at_start(path, earlier, NOW) == said


def test_a_switch_that_nobody_recorded_is_said_to_be_nobodys(path: Path) -> None:
    off_switch.write_switch(path, None)
    said = off_at_start(path, ON, NOW)
    assert said is not None
    assert (said.until, said.name) == (0, "")
    assert said.detail == "by whom is not on record"
