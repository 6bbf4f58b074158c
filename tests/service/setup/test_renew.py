from __future__ import annotations

import json
import os
import sys
from pathlib import Path

import pytest

from tests.agents.payloads import INSTALLABLE
from watchgate.agents.base import Adapter
from watchgate.agents.registry import ADAPTERS
from watchgate.core.config.config import Config
from watchgate.link.paths import Paths, paths
from watchgate.service.setup.agent_files import Scope, hook_path, setup_of
from watchgate.service.setup.forms.guarded_command import parse_command
from watchgate.service.setup.hook_client import base_interpreter
from watchgate.service.setup.installations import Renewal, installations, renew_entries
from watchgate.service.setup.installer import HookSettings, Installer

GUARD = HookSettings(profile="guard", client_deadline_s=3660)
PYTHON = Path(sys.executable)
AGENTS = {name: ADAPTERS[name] for name in INSTALLABLE}
CLAUDE = ADAPTERS["claude"]


@pytest.fixture
def places() -> Paths:
    return paths(os.environ)


def install(
    agent: Adapter,
    *,
    scope: Scope = "user",
    cwd: Path = Path("/"),
    env: dict[str, str] | None = None,
    setting: HookSettings = GUARD,
) -> tuple[Path, ...]:
    installer = Installer(paths(os.environ), env or os.environ, cwd)
    changes = installer.plan_install(agent, scope, setting, PYTHON)
    installer.install(changes, PYTHON)
    return tuple(change.path for change in changes)


def renew(places: Paths, profile: str) -> tuple[Renewal, ...]:
    config = Config(profile=profile)  # type: ignore[arg-type]
    return renew_entries(places, config, AGENTS, os.environ)


def assert_up_to_date(agent: Adapter, profile: str) -> None:
    setting = HookSettings(profile=profile, client_deadline_s=3660)
    installer = Installer(paths(os.environ), os.environ, Path("/"))
    changes = installer.plan_install(agent, "user", setting, base_interpreter())
    assert not any(change.needed for change in changes)


def lanes(settings: Path) -> set[str]:
    hooks = json.loads(settings.read_text())["hooks"]["PreToolUse"]
    commands = [hook["command"] for group in hooks for hook in group["hooks"]]
    return {
        installed.lane for command in commands if (installed := parse_command(command)) is not None
    }


@pytest.mark.parametrize("agent", AGENTS.values(), ids=AGENTS)
def test_every_agent_goes_to_watch_and_comes_back(places: Paths, agent: Adapter) -> None:
    written = install(agent)
    assert [each.refused for each in renew(places, "watch")] == [""]
    assert_up_to_date(agent, "watch")
    renew(places, "guard")
    assert_up_to_date(agent, "guard")
    assert all(path.exists() for path in written)


def test_what_is_of_the_profile_already_is_not_written(places: Paths) -> None:
    install(CLAUDE)
    renew(places, "watch")
    [again] = renew(places, "watch")
    assert (again.agent.name, again.changed, again.refused) == ("claude", (), "")


def test_every_place_is_renewed_whatever_led_there(places: Paths, tmp_path: Path) -> None:
    project, moved = tmp_path / "project", tmp_path / "moved"
    written = [
        *install(CLAUDE),
        *install(CLAUDE, scope="project", cwd=project),
        *install(CLAUDE, env={**os.environ, "CLAUDE_CONFIG_DIR": str(moved)}),
    ]
    assert len(set(written)) == 3
    renew(places, "watch")
    assert [lanes(path) for path in written] == [{"observe"}] * 3


def test_hooks_without_a_list_are_found_in_the_usual_places(places: Paths) -> None:
    [settings] = install(CLAUDE)
    places.installed.unlink()
    assert [each.agent.name for each in installations(places, AGENTS, os.environ, Path("/")).places]
    renew(places, "watch")
    assert lanes(settings) == {"observe"}


def test_hooks_that_somebody_took_out_stay_out(places: Paths) -> None:
    [settings] = install(CLAUDE)
    settings.write_text("{}\n")
    assert renew(places, "watch") == ()
    assert settings.read_text() == "{}\n"


@pytest.mark.parametrize("wish", ["set", "remove"])
def test_the_status_line_stays_as_it_is(places: Paths, wish: str) -> None:
    setting = HookSettings(profile="guard", client_deadline_s=3660, status_line=wish)  # type: ignore[arg-type]
    [settings] = install(CLAUDE, setting=setting)
    renew(places, "watch")
    assert ("statusLine" in json.loads(settings.read_text())) is (wish == "set")


def test_one_refusal_does_not_stop_the_others(places: Paths) -> None:
    install(CLAUDE)
    broken = hook_path(ADAPTERS["codex"], "user", os.environ, Path("/"))
    install(ADAPTERS["codex"])
    broken.write_text(broken.read_text().replace("{", "{,", 1))
    done = {each.agent.name: each for each in renew(places, "watch")}
    assert lanes(hook_path(CLAUDE, "user", os.environ, Path("/"))) == {"observe"}
    assert "line 1" in done["codex"].refused


def test_an_agent_that_is_known_no_more_is_named(places: Paths) -> None:
    install(CLAUDE)
    [lost] = installations(places, {}, os.environ, Path("/")).lost
    assert (lost.entry.agent, "no adapter" in lost.why) == ("claude", True)
    assert setup_of(CLAUDE).variable == "CLAUDE_CONFIG_DIR"
