"""Whatever lies in the place of a file: it is read, or refused at once, and nothing stays open."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from watchgate.core.config.config import Config, ConfigError
from watchgate.core.dispatch.handler_config import ExtensionConfig
from watchgate.core.policy.rules.load import PolicyError
from watchgate.link.paths import Paths, paths
from watchgate.service.hub.components import ComponentError, build_components
from watchgate.service.policies import policy_files
from watchgate.service.policies.policy_store import Policies
from watchgate.service.runners.child_pool import ChildPool
from watchgate.service.setup import agent_files as setup_files
from watchgate.service.setup.agent_files import InstallRefusal
from watchgate.service.setup.codex_trust import codex_trusts
from watchgate.service.setup.manifest import looked_at
from watchgate.service.system import safe_files
from watchgate.service.system.config_file import read_config
from watchgate.service.system.runtime_dir import RuntimeDirError
from watchgate.service.wire.agent_adapters import AgentsError, table_adapter


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
    for read in (
        safe_files.read_regular_file,
        safe_files.read_own_file,
        lambda path: policy_files.read_policy_file(path, "user"),
    ):
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
        file.truncate(safe_files.READ_BYTES + 1)
    with pytest.raises(OSError, match="larger than 16 MiB"):
        safe_files.read_regular_file(path)


def test_no_configuration_keeps_the_core_waiting(odd: Path, tmp_path: Path) -> None:
    here = Paths(tmp_path / "run", tmp_path / "state", odd, tmp_path / "data")
    with pytest.raises((ConfigError, RuntimeDirError), match=UNUSABLE):
        read_config(here)


def test_no_agent_of_a_file_keeps_the_core_waiting(odd: Path) -> None:
    with pytest.raises(AgentsError, match=UNUSABLE):
        table_adapter(odd)


def test_no_manifest_keeps_the_core_waiting(odd: Path) -> None:
    extension = ExtensionConfig(id="own", manifest=str(odd))
    with pytest.raises(ComponentError, match="it is no regular file"):
        build_components(
            Config(extension=(extension,)), paths(os.environ), {}, ChildPool(), prints=True
        )


def test_no_settings_of_an_agent_keep_a_look_at_agents_waiting(odd: Path) -> None:
    with pytest.raises(InstallRefusal, match="it is no regular file"):
        setup_files.read(odd)
    assert not codex_trusts(odd)
    beside = odd.with_name("config.toml")
    odd.rename(beside)
    odd.write_text("{}")
    assert not codex_trusts(odd)
