"""Whatever lies in the place of a file: it is read, or refused at once, and nothing stays open."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from watchgate.core.config import Config, ConfigError
from watchgate.core.config_handlers import ExtensionConfig
from watchgate.core.policy.load import PolicyError
from watchgate.link.paths import Paths, paths
from watchgate.service import own_file, regular_file
from watchgate.service.agents import AgentsError, from_file
from watchgate.service.equipment import EquipmentError, equip
from watchgate.service.integrity.looked import looked_at
from watchgate.service.policy import files as policy_files
from watchgate.service.policy.store import Policies
from watchgate.service.runners.pool import ChildPool
from watchgate.service.runtime_dir import RuntimeDirError
from watchgate.service.settings import read_config
from watchgate.service.setup import files as setup_files
from watchgate.service.setup.targets import Refusal
from watchgate.service.setup.trust import codex_trusts


def endless(path: Path) -> None:
    path.symlink_to("/dev/zero")


UNUSABLE = "it is no regular file|can be written by others"

ODD: dict[str, Callable[[Path], None]] = {
    "pipe": os.mkfifo,
    "folder": Path.mkdir,
    "device": endless,
}


@pytest.fixture(params=ODD)
def odd(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    path = tmp_path / "odd.toml"
    ODD[request.param](path)
    return path


def next_descriptor() -> int:
    number = os.dup(0)
    os.close(number)
    return number


def test_what_is_no_file_is_refused_and_nothing_stays_open(odd: Path) -> None:
    before = next_descriptor()
    for read in (regular_file.read, own_file.read, lambda path: policy_files.read(path, "user")):
        with pytest.raises((OSError, PolicyError)):
            read(odd)
    assert looked_at(odd).fault == "it is no file"
    assert next_descriptor() == before


def test_a_project_with_a_folder_in_place_of_its_rules_costs_no_descriptor(tmp_path: Path) -> None:
    for number in range(3):
        (tmp_path / str(number) / ".watchgate" / "policy.toml").mkdir(parents=True)
    policies, before = Policies(()), next_descriptor()
    for number in range(3):
        policies(str(tmp_path / str(number)))
    assert len(policies.faults) == 3
    assert "is no regular file" in policies.faults[0]
    assert next_descriptor() == before


def test_a_file_without_end_is_not_read(tmp_path: Path) -> None:
    path = tmp_path / "large"
    with path.open("wb") as file:
        file.truncate(regular_file.READ_BYTES + 1)
    with pytest.raises(OSError, match="larger than 16 MiB"):
        regular_file.read(path)


def test_no_configuration_keeps_the_core_waiting(odd: Path, tmp_path: Path) -> None:
    here = Paths(tmp_path / "run", tmp_path / "state", odd, tmp_path / "data")
    with pytest.raises((ConfigError, RuntimeDirError), match=UNUSABLE):
        read_config(here)


def test_no_agent_of_a_file_keeps_the_core_waiting(odd: Path) -> None:
    with pytest.raises(AgentsError, match=UNUSABLE):
        from_file(odd)


def test_no_manifest_keeps_the_core_waiting(odd: Path) -> None:
    extension = ExtensionConfig(id="own", manifest=str(odd))
    with pytest.raises(EquipmentError, match="it is no regular file"):
        equip(Config(extension=(extension,)), paths(os.environ), {}, ChildPool(), prints=True)


def test_no_settings_of_an_agent_keep_a_look_at_agents_waiting(odd: Path) -> None:
    with pytest.raises(Refusal, match="it is no regular file"):
        setup_files.read(odd)
    assert not codex_trusts(odd)
    beside = odd.with_name("config.toml")
    odd.rename(beside)
    odd.write_text("{}")
    assert not codex_trusts(odd)
