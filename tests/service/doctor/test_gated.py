"""What the doctor says where hooks and the profile in force differ on whether calls are held."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.agents.payloads import INSTALLABLE
from tests.service.doctor.test_agents import findings, install
from watchgate.core.config.config import load
from watchgate.service.setup.installer import HookSettings


@pytest.fixture(autouse=True)
def bin_dir(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A search path without any agent."""
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))


@pytest.mark.parametrize("agent", INSTALLABLE)
def test_an_entry_of_another_profile_is_found_out_for_every_agent(
    tmp_path: Path, agent: str
) -> None:
    install(agent, tmp_path)

    found = findings(tmp_path, agent, config=load('profile = "watch"', "config.toml"))

    gate = found[f"{agent}: gate"]
    assert (gate.status, gate.mend) == ("fail", "watchgate guard on")
    assert "hooks wait for the core, which holds no call under profile watch" in gate.text
    assert found[f"{agent}: hooks"].status == "ok", "they are as this version writes them"


@pytest.mark.parametrize("agent", INSTALLABLE)
@pytest.mark.parametrize(("profile", "status"), [("watch", "ok"), ("guard", "fail")])
def test_hooks_that_only_watch_are_never_said_to_gate(
    tmp_path: Path, agent: str, profile: str, status: str
) -> None:
    install(agent, tmp_path, HookSettings(profile="watch", client_deadline_s=3660))

    gate = findings(tmp_path, agent, config=load(f'profile = "{profile}"', ""))[f"{agent}: gate"]

    assert (gate.status, gate.text.startswith("hooks only watch, ")) == (status, True)
    assert "no call is held" in gate.text
    assert gate.mend == ("watchgate guard on" if status == "fail" else "")


def test_hooks_of_the_profile_in_force_gate(tmp_path: Path) -> None:
    install("claude", tmp_path)

    gate = findings(tmp_path, "claude")["claude: gate"]

    assert (gate.status, gate.text) == ("ok", "calls wait for the core, as profile guard has it")
