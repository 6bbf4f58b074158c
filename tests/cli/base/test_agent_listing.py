"""`install` without names and `agent ls` say how the agents of this machine stand."""

from __future__ import annotations

import os
from pathlib import Path

import msgspec
import pytest

from tests.cli.conftest import Cli, Core
from watchgate.cli.base.printing import Exit
from watchgate.core.model.agent_state import AgentState
from watchgate.link.core_socket import call_once
from watchgate.link.protocol import Request, Result

FIELDS = ("agent", "title", "found", "installed", "scopes", "up_to_date", "trusted", "fault")


@pytest.fixture(autouse=True)
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One with Claude's program and no other agent's."""
    monkeypatch.chdir(tmp_path)
    program = tmp_path / "bin" / "claude"
    program.parent.mkdir()
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{program.parent}:/usr/bin:/bin")


def cells(text: str, agent: str) -> list[str]:
    """The cells of an agent's row."""
    line = next(each for each in text.splitlines() if each.startswith(agent))
    return [cell for cell in line.split("  ") if cell.strip()]


def test_install_without_names_lists_the_states_and_how_to_install(cli: Cli) -> None:
    said = cli("install")

    assert said.code == Exit.DONE
    head = [cell.strip() for cell in said.out.splitlines()[0].split("  ") if cell]
    assert head == ["AGENT", "FOUND", "INSTALLED", "TRUSTED", "NEXT"]
    row = [cell.strip() for cell in cells(said.out, "claude")]
    assert row == ["claude", "yes", "no", "-", "watchgate install claude"]
    assert "Not found here: codex, copilot" in said.out
    assert "--dry-run" in said.out


@pytest.mark.parametrize("flag", ["--watch", "--dry-run", "--no-status-line"])
def test_what_is_asked_of_an_installation_needs_an_agent(cli: Cli, flag: str) -> None:
    said = cli("install", flag)
    assert (said.code, "name an agent" in said.err) == (Exit.USAGE, True)


def test_after_an_installation_it_says_what_comes_next(cli: Cli) -> None:
    cli("install", "claude", "codex")

    said = cli("install").out

    claude = [cell.strip() for cell in cells(said, "claude")]
    codex = [cell.strip() for cell in cells(said, "codex")]
    assert claude[1:4] == ["yes", "user", "-"]
    assert claude[4] == "start claude: watchgate sees its next call"
    assert codex[2:] == ["user", "no", "start codex once and say yes to its hooks"]


def test_hooks_that_do_not_go_with_the_profile_are_named(cli: Cli) -> None:
    cli("install", "claude")
    config = Path(os.environ["WATCHGATE_CONFIG"])
    config.parent.mkdir(parents=True, exist_ok=True)
    config.write_text('profile = "watch"')

    assert "user, but profile watch" in cli("install").out
    cli("guard", "on")
    cli("uninstall", "claude")
    cli("install", "claude", "--watch")
    assert "user, only watch" in cli("install").out
    assert "user, only watch" in cli("agent", "ls").out
    (row,) = (each for each in cli("agent", "ls", "--json").lines if each["agent"] == "claude")
    assert row["ungated"] == "hooks only watch"


def test_agent_ls_has_the_three_states_as_columns_and_as_fields(cli: Cli) -> None:
    cli("install", "claude")

    rows = {row["agent"]: row for row in cli("agent", "ls", "--json").lines}
    head = cli("agent", "ls").out.splitlines()[0].split()

    assert head[:4] == ["AGENT", "FOUND", "INSTALLED", "TRUSTED"]
    assert all(set(FIELDS) <= row.keys() for row in rows.values())
    claude, gemini = rows["claude"], rows["gemini"]
    assert (claude["found"], claude["installed"], claude["trusted"]) == (True, True, None)
    assert (gemini["found"], gemini["installed"], gemini["next"]) == (False, False, "")
    assert rows["codex"]["trusted"] is False


def test_a_core_tells_its_consoles_the_same(cli: Cli, core: Core) -> None:
    before = states_of(core)
    cli("install", "claude", "codex")
    after = states_of(core)

    assert not any(each.installed for each in before.values())
    assert before["claude"].next == "watchgate install claude"
    assert after["claude"].ready
    assert (after["codex"].trusted, after["codex"].hooks) == (False, "hooks not trusted")


def states_of(core: Core) -> dict[str, AgentState]:
    """What a core says of the agents on its machine."""
    answer = call_once(core.paths.control_socket, Request(id=1, verb="list", what="agents"))
    assert isinstance(answer, Result)
    return {each.agent: each for each in msgspec.convert(answer.ok["agents"], list[AgentState])}
