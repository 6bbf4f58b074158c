"""What becomes wrong with the policy while a core runs is on record, once, with what to do."""

from __future__ import annotations

from pathlib import Path

from tests.service.desk import Desk
from watchgate.service.policies.policy_store import Policies
from watchgate.service.watch.integrity.integrity_watch import (
    record_policy_changes,
    record_policy_faults,
)


async def test_a_changed_file_is_told_with_the_command_that_loads_it(tmp_path: Path) -> None:
    desk, file = Desk("guard"), tmp_path / "policy.toml"
    policies = Policies(((file, "user"),))
    await record_policy_changes(desk.hub, policies)
    assert "policy.changed" not in desk.kinds()
    file.write_text("version = 1\n")
    await record_policy_changes(desk.hub, policies)
    await record_policy_changes(desk.hub, policies)
    assert desk.kinds().count("policy.changed") == 1
    said = desk.hub.recorder.state.gate.policy
    assert said.startswith(f"{file} changed")
    assert "`watchgate policy reload`" in said


def test_a_projects_fault_is_told(tmp_path: Path) -> None:
    desk, folder = Desk("guard"), tmp_path / ".watchgate"
    folder.mkdir()
    (folder / "policy.toml").write_text("nonsense")
    policies = Policies(())
    policies(str(tmp_path))
    record_policy_faults(desk.hub, policies)
    record_policy_faults(desk.hub, policies)
    assert desk.kinds().count("policy.fault") == 1
