"""A whole core tells somebody elsewhere, and finds what was done to the files that it rests on."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import msgspec
import pytest

from tests.service.desk import payload
from tests.service.host.test_core_host import RISKY, Place, counted
from tests.service.wire_frames import until
from watchgate.agents.registry import ADAPTERS
from watchgate.core.config.config_sections import EscalationConfig
from watchgate.core.model.records import Record
from watchgate.link.control_client import connect
from watchgate.link.protocol import Result
from watchgate.service.host.core_host import CoreHost
from watchgate.service.hub.core_environment import Environment
from watchgate.service.setup import hook_client
from watchgate.service.setup.installer import HookSettings, Installer
from watchgate.service.watch.escalation.escalation_watch import EscalationMessage
from watchgate.service.watch.integrity import integrity_watch

SAVE = "import os, sys; open('new', 'w').write(sys.stdin.read()); os.rename('new', 'told')"


def place_with(runtime_dir: Path, state_dir: Path, home: Path, *entries: EscalationConfig) -> Place:
    """A core with that home folder, which looks after the files of this test's user."""
    place = Place(runtime_dir, state_dir)
    config = msgspec.structs.replace(place.config, escalation=entries)
    stage = Environment(
        ids=counted(), home=str(home), protected=(), agent_of=lambda _: None, proc=home / "proc"
    )
    place.host = CoreHost(place.paths, config, place.clock, stage)
    return place


def escalated(place: Place) -> Record | None:
    """The record that somebody was told, once it is on disk."""
    return next((each for each in place.records() if each.kind == "approval.escalated"), None)


async def test_a_held_call_is_told_elsewhere_and_stays_held(
    runtime_dir: Path, state_dir: Path, tmp_path: Path
) -> None:
    command = (sys.executable, "-I", "-S", "-c", SAVE)
    entry = EscalationConfig(name="ana", after_s=0, command=command, timeout_s=60)
    place, told = place_with(runtime_dir, state_dir, tmp_path, entry), tmp_path / "told"
    async with place.running(), place.hook(payload(RISKY)):
        record = await until(lambda: escalated(place), "the record")
        async with connect(place.paths.control_socket) as client:
            answer = await client.call("list")
    assert isinstance(answer, Result)
    (request,) = answer.ok["requests"]
    message = msgspec.json.decode(told.read_bytes(), type=EscalationMessage)
    assert (request["id"][:8], request["summary"]) == (message.id, message.summary)
    assert (record.request, record.data["to"]) == (request["id"], "ana")


async def test_hooks_that_are_taken_out_behind_its_back_are_on_record(
    runtime_dir: Path, state_dir: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(integrity_watch, "FILES_LOOK_S", 0.01)
    monkeypatch.setattr(hook_client, "renew_bytecode", lambda *_: True)
    place = place_with(runtime_dir, state_dir, tmp_path)
    installer, python = Installer(place.paths, os.environ, tmp_path), Path(sys.executable)
    setting = HookSettings(profile="guard", client_deadline_s=3660)
    changes = installer.plan_install(ADAPTERS["claude"], "user", setting, python)
    installer.install(changes, python)
    (settings,) = (change.path for change in changes)

    def kinds() -> list[str]:
        return [each.kind for each in place.records()]

    async with place.running():
        await until(place.paths.integrity.exists, "the first look")
        settings.unlink()
        await until(lambda: "policy.tampered" in kinds(), "the alarm")
        installer.install(
            installer.plan_install(ADAPTERS["claude"], "user", setting, python), python
        )
        await until(lambda: "policy.intact" in kinds(), "its end")
    assert kinds().count("policy.tampered") == 1
