"""Found, installed, trusted: the states of every agent, from one place."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest

from tests.agents.payloads import INSTALLABLE
from watchgate.agents.registry import ADAPTERS
from watchgate.core.config.config import Config, load
from watchgate.core.model.agent_state import AgentState, install_command
from watchgate.core.policy.rules.profiles import PROFILES, Profile
from watchgate.link.paths import paths
from watchgate.service.setup.agent_files import Scope, hook_path
from watchgate.service.setup.agent_states import AgentStates, states_reader
from watchgate.service.setup.hook_client import base_interpreter
from watchgate.service.setup.installer import Installer, hook_settings

Reader = Callable[[], list[AgentState]]


@pytest.fixture(autouse=True)
def bin_dir(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A search path without any agent."""
    path = tmp_path / "bin"
    path.mkdir()
    monkeypatch.setenv("PATH", str(path))
    return path


def install(agent: str, cwd: Path, scope: Scope = "user", *, profile: Profile = "guard") -> Path:
    installer, python = Installer(paths(os.environ), os.environ, cwd), base_interpreter()
    places = paths(os.environ)
    setting = hook_settings(Config(profile=profile), places, python, native=False)
    installer.install(installer.plan_install(ADAPTERS[agent], scope, setting, python), python)
    return hook_path(ADAPTERS[agent], scope, os.environ, cwd)


def states(cwd: Path, config: Config | None = None) -> dict[str, AgentState]:
    reader = AgentStates(paths(os.environ), config or Config(), os.environ, cwd, native=False)
    return {each.agent: each for each in reader.of(ADAPTERS.values())}


def reader(agent: str, profile: Callable[[], Profile] = lambda: "guard") -> Reader:
    """What a core reads again and again."""
    return states_reader(paths(os.environ), Config(), os.environ, [ADAPTERS[agent]], profile)


def trust_codex(hooks: Path) -> None:
    """Writes what Codex writes once somebody has said yes to every hook."""
    words = {"PreToolUse": "pre_tool_use"}
    lines = []
    for event, groups in json.loads(hooks.read_text())["hooks"].items():
        snake = words.get(event) or "".join(
            f"_{each.lower()}" if each.isupper() else each for each in event
        ).lstrip("_")
        for group, each in enumerate(groups):
            for index in range(len(each["hooks"])):
                key = f"{hooks}:{snake}:{group}:{index}"
                lines.append(f'[hooks.state."{key}"]\ntrusted_hash = "h"\n')
    hooks.with_name("config.toml").write_text("\n".join(lines))


def test_a_machine_without_agents_has_none_and_every_agent_has_a_row(tmp_path: Path) -> None:
    found = states(tmp_path)

    assert found.keys() == ADAPTERS.keys()
    assert not any(each.is_present or each.installed or each.next for each in found.values())
    assert install_command(found.values()) == "watchgate install claude", "as an example"


def test_a_program_or_a_folder_of_its_own_shows_that_an_agent_is_here(
    tmp_path: Path, bin_dir: Path
) -> None:
    program = bin_dir / "gemini"
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    hook_path(ADAPTERS["claude"], "user", os.environ, tmp_path).parent.mkdir(parents=True)

    found = states(tmp_path)

    assert [name for name, each in found.items() if each.is_present] == ["claude", "gemini"]
    assert found["gemini"].next == "watchgate install gemini"
    assert install_command(found.values()) == "watchgate install claude gemini"


@pytest.mark.parametrize("agent", INSTALLABLE)
def test_an_installed_agent_is_not_offered_again(tmp_path: Path, agent: str) -> None:
    install(agent, tmp_path)

    found = states(tmp_path)[agent]

    assert (found.installed, found.scopes, found.up_to_date) == (True, ("user",), True)
    assert not found.wants_install
    assert install_command([found]) == "watchgate install", "which lists the states"


def test_what_comes_next_is_said_of_an_installed_agent(tmp_path: Path) -> None:
    install("claude", tmp_path)

    found = states(tmp_path)["claude"]

    assert (found.ready, found.hooks) == (True, "hooks are in")
    assert found.next == "start claude: watchgate sees its next call"


def test_codex_has_to_trust_its_hooks_and_no_program_is_asked_for_that(tmp_path: Path) -> None:
    hooks = install("codex", tmp_path)
    before = states(tmp_path)["codex"]
    trust_codex(hooks)
    after = states(tmp_path)["codex"]

    assert (before.trusted, before.ready, before.hooks) == (False, False, "hooks not trusted")
    assert before.next == "start codex once and say yes to its hooks"
    assert (after.trusted, after.ready) == (True, True)


def test_hooks_of_another_profile_are_old(tmp_path: Path) -> None:
    install("claude", tmp_path)

    found = states(tmp_path, load('profile = "watch"', "config.toml"))["claude"]

    assert (found.installed, found.up_to_date, found.hooks) == (True, False, "hooks are old")
    assert (found.at_odds, found.ungated) == (True, "profile watch holds no call")
    assert found.next == install_command([found]) == "watchgate guard on"


@pytest.mark.parametrize("agent", INSTALLABLE)
@pytest.mark.parametrize("profile", PROFILES)
def test_hooks_tell_whether_they_hold_calls(tmp_path: Path, agent: str, profile: Profile) -> None:
    install(agent, tmp_path, profile=profile)

    found = states(tmp_path, Config(profile=profile))[agent]

    assert (found.holds, found.at_odds) == (profile != "watch", False)
    assert found.up_to_date


def test_hooks_that_only_watch_gate_nothing_whatever_the_profile(tmp_path: Path) -> None:
    install("claude", tmp_path, profile="watch")

    watched, guarded = states(tmp_path, Config(profile="watch")), states(tmp_path)

    assert [each["claude"].ungated for each in (watched, guarded)] == ["hooks only watch"] * 2
    assert watched["claude"].next == "start claude: watchgate sees its next call"
    assert guarded["claude"].next == "watchgate guard on"
    assert not guarded["claude"].wants_install


def test_hooks_that_gate_in_one_project_do_not_gate_elsewhere(tmp_path: Path) -> None:
    project = tmp_path / "project"
    project.mkdir()
    install("claude", tmp_path, profile="watch")
    install("claude", project, "project")

    assert states(tmp_path)["claude"].ungated == "hooks only watch"


def test_a_core_holds_hooks_against_the_profile_that_it_has_by_now(tmp_path: Path) -> None:
    install("claude", tmp_path)
    profile: list[Profile] = ["guard"]
    read = reader("claude", lambda: profile[-1])
    before = read()
    profile.append("watch")

    assert [each.ungated for each in (*before, *read())] == ["", "profile watch holds no call"]


def test_a_setting_that_keeps_hooks_from_running_is_the_first_thing_to_mend(tmp_path: Path) -> None:
    settings = install("claude", tmp_path)
    settings.write_text(settings.read_text().replace("{", '{"disableAllHooks": true,', 1))

    found = states(tmp_path)["claude"]

    assert (found.installed, found.ready, found.hooks) == (True, False, "hooks cannot run")
    assert "disableAllHooks" in found.fault
    assert found.next.startswith('take "disableAllHooks" out of')


def test_a_file_that_cannot_be_read_is_mended_by_hand(tmp_path: Path) -> None:
    settings = install("claude", tmp_path)
    settings.write_text("{,}")

    found = states(tmp_path)["claude"]

    assert (found.is_present, found.ready, found.next) == (True, False, "mend the file by hand")


def test_an_installation_in_a_project_is_known_from_everywhere(tmp_path: Path) -> None:
    project = tmp_path / "project"
    project.mkdir()
    install("claude", project, "project")

    found = states(tmp_path)["claude"]

    assert (found.installed, found.scopes, found.ready) == (True, ("project",), True)


def test_what_a_core_reads_changes_with_the_files(tmp_path: Path) -> None:
    read = reader("claude")
    before = read()
    install("claude", tmp_path)

    assert [each.installed for each in (*before, *read())] == [False, True]


@pytest.mark.parametrize("name", ["claude; rm -rf ~", "", "a\nb", "$(x)"])
def test_no_name_that_a_shell_reads_otherwise_gets_into_a_command(name: str) -> None:
    with pytest.raises(msgspec.ValidationError):
        msgspec.convert({"agent": name, "title": "x"}, AgentState)


@pytest.mark.parametrize("agent", ["claude", "opencode", "cline"])
def test_what_somebody_takes_out_is_noticed_at_the_next_look(tmp_path: Path, agent: str) -> None:
    path = install(agent, tmp_path)
    read = reader(agent)
    (before,) = read()
    if path.is_dir():
        next(iter(sorted(path.iterdir()))).unlink()
    elif agent == "claude":
        value = json.loads(path.read_text())
        del value["hooks"]["PreToolUse"]
        path.write_text(json.dumps(value))
    else:
        path.with_name("watchgate-check.js").unlink()
    (after,) = read()

    assert (before.up_to_date, after.up_to_date) == (True, False)
    assert after.next == f"watchgate install {agent}"
