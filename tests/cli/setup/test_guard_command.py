"""`watchgate guard`: from watching to gating and back, while the core runs."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import Cli, Core
from tests.terminal import Terminal
from watchgate.cli.base.printing import Exit
from watchgate.core.config.config import Config
from watchgate.link.paths import paths
from watchgate.service.journal import journal_reader
from watchgate.service.system import off_switch

WATCHING = """# mine
profile = "watch"  # for now

[approval]
timeout_s = 60
"""


@pytest.fixture
def path() -> Path:
    path = Path(os.environ["WATCHGATE_CONFIG"])
    path.parent.mkdir(parents=True)
    path.write_text(WATCHING)
    return path


@pytest.fixture
def config() -> Config:
    return Config(profile="watch")


def lanes() -> set[str]:
    """The lanes of Claude's hooks before a tool."""
    settings = Path(os.environ["CLAUDE_CONFIG_DIR"], "settings.json")
    hooks = json.loads(settings.read_text())["hooks"]["PreToolUse"]
    words = {word for each in hooks for hook in each["hooks"] for word in hook["command"].split()}
    return words & {"gate", "gate-read", "observe"}


def back_to_watching() -> str:
    with Terminal("guard", "off") as terminal:
        terminal.wait_for("Type watch")
        terminal.type("watch\n")
        assert terminal.code() == Exit.DONE
        return terminal.seen


def test_on_gates_at_once_and_off_goes_back(
    cli: Cli, core: Core, path: Path, held: Callable[..., dict[str, Any]]
) -> None:
    assert cli("install", "claude").code == Exit.DONE
    assert lanes() == {"observe"}
    said = cli("guard", "on")
    assert (said.code, said.err) == (Exit.DONE, "")
    assert said.out.startswith("Profile guard: dangerous calls wait for you")
    assert "The running core took it at once" in said.out
    assert "claude" in said.out
    assert path.read_text() == WATCHING.replace('"watch"', '"guard"')
    assert "gate" in lanes()
    assert cli("status").out.startswith("gating (guard)")
    assert held()["risk"] == "high"
    seen = back_to_watching()
    assert "NOT GATED" in seen
    assert path.read_text() == WATCHING
    assert lanes() == {"observe"}
    assert cli("status").out.startswith("NOT GATING (watch)")
    told = [
        r for r in journal_reader.read(core.paths.journal, 1, 1_000) if r.kind == "policy.profile"
    ]
    assert [each.data["profile"] for each in told] == ["guard", "watch"]
    assert all(each.data["name"].startswith("operator ") for each in told)


def test_it_says_which_it_is(cli: Cli, path: Path) -> None:
    assert cli("guard").out.startswith("The guard is off. Profile watch")
    [said] = cli("guard", "--json").lines
    assert said == {"on": False, "profile": "watch", "core": None, "off": False, "ungated": {}}
    cli("guard", "on")
    assert cli("guard").out.startswith("The guard is on. Profile guard")


def test_a_core_of_another_profile_is_told(cli: Cli, core: Core, path: Path) -> None:
    path.write_text("")
    assert "The running core has another profile: watch" in cli("guard").out
    assert cli("guard", "on").code == Exit.DONE
    assert "another profile" not in cli("guard").out


def test_it_never_says_alone_that_calls_wait_where_hooks_only_watch(cli: Cli, path: Path) -> None:
    cli("install", "claude")
    path.write_text("")

    said = cli("guard").out
    assert "NOT GATING (guard), hooks only watch for claude" in said
    assert "`watchgate guard on` changes it" in said
    assert cli("guard", "--json").lines[0]["ungated"] == {"claude": "hooks only watch"}
    cli("guard", "on")
    assert "NOT GATING" not in cli("guard").out


def test_it_never_says_alone_that_calls_wait_where_the_core_only_watches(
    cli: Cli, core: Core, path: Path
) -> None:
    path.write_text("")
    cli("install", "claude")

    said = cli("guard").out

    assert "NOT GATING (watch)" in said
    assert "`watchgate guard on` changes it" in said


def test_without_a_core_it_says_what_the_hooks_that_are_in_do(cli: Cli, path: Path) -> None:
    assert "No core runs" not in cli("guard").out
    cli("guard", "on")
    cli("install", "claude")
    path.write_text(WATCHING)

    said = cli("guard").out

    assert said.startswith("The guard is off.")
    assert "No core runs: acting calls are denied." in said


def test_it_never_says_alone_that_no_call_waits_where_the_core_holds_them(
    cli: Cli, core: Core, path: Path
) -> None:
    cli("guard", "on")
    cli("install", "claude")
    path.write_text(WATCHING)

    said = cli("guard").out

    assert said.startswith("The guard is off.")
    assert "By now: gating (guard)." in said


def test_it_never_says_alone_that_calls_wait_where_the_gate_is_switched_off(
    cli: Cli, path: Path
) -> None:
    path.write_text("")
    off_switch.write_switch(paths(os.environ).off, None)

    assert "The gate is switched off until reboot" in cli("guard").out
    assert cli("guard", "--json").lines[0]["off"] is True


def test_on_keeps_a_stricter_profile(cli: Cli, core: Core, path: Path) -> None:
    path.write_text('profile = "strict"\n')
    assert cli("guard", "on").out.startswith("Profile strict")
    assert path.read_text() == 'profile = "strict"\n'
    assert cli("status", "--json").lines[0]["profile"] == "strict"


def test_without_a_core_it_says_what_is_denied_until_one_runs(cli: Cli, path: Path) -> None:
    assert "No agent has hooks: watchgate install" in cli("guard", "on").out
    cli("install", "claude")
    said = cli("guard", "on")
    assert "acting calls of claude are denied until `watchgate` starts one" in said.out


def test_off_wants_its_word_from_a_person_at_a_terminal(cli: Cli, path: Path) -> None:
    cli("guard", "on")
    said = cli("guard", "off")
    assert (said.code, said.out) == (Exit.USAGE, "")
    assert "a person has to type the word" in said.err
    with Terminal("guard", "off") as terminal:
        terminal.wait_for("Type watch")
        terminal.type("yes\n")
        assert terminal.code() == Exit.REFUSED
    assert '"guard"' in path.read_text()


def test_hooks_that_gate_are_a_gate_whatever_the_file_says(cli: Cli, path: Path) -> None:
    cli("guard", "on")
    cli("install", "claude")
    path.write_text(WATCHING)

    said = cli("guard", "off")

    assert (said.code, "a person has to type the word" in said.err) == (Exit.USAGE, True)
    assert "gate" in lanes()


def test_hooks_beside_a_core_that_only_watches_are_never_said_to_gate(
    cli: Cli, core: Core, path: Path
) -> None:
    path.write_text("")

    for said in (cli("install", "claude"), cli("install", "claude")):
        assert "no call of claude is held" in said.out, "also where nothing had to be changed"
    assert cli("status").out.startswith("NOT GATING (watch)")
    assert "user, but profile watch" in cli("agent", "ls").out
    doctor = cli("doctor", "claude")
    assert doctor.code == Exit.REFUSED
    assert "hooks wait for the core, which holds no call under profile watch" in doctor.out
    assert "mend: watchgate guard on" in doctor.out
    assert cli("guard", "on").code == Exit.DONE
    assert cli("doctor", "claude").code == Exit.DONE


def test_off_without_a_core_says_that_nothing_records_it(cli: Cli, path: Path) -> None:
    cli("guard", "on")
    assert "no record says who did it" in back_to_watching()
    assert path.read_text() == WATCHING


def test_a_bad_configuration_changes_nothing(cli: Cli, core: Core, path: Path) -> None:
    path.write_text("profil = 1\n")
    said = cli("guard", "on")
    assert (said.code, said.out) == (Exit.REFUSED, "")
    assert "profil" in said.err
    assert cli("status", "--json").lines[0]["profile"] == "watch"


def test_a_file_that_cannot_be_written_leaves_the_next_core_as_it_was(
    cli: Cli, core: Core, path: Path
) -> None:
    elsewhere = path.with_name("elsewhere")
    path.rename(elsewhere)
    path.symlink_to(elsewhere)
    elsewhere.chmod(0o666)
    said = cli("guard", "on")
    assert (said.code, said.out) == (Exit.REFUSED, "")
    assert "chmod go-w" in said.err


def test_it_is_not_said_to_hold_while_hooks_could_not_be_changed(
    cli: Cli, core: Core, path: Path
) -> None:
    cli("install", "claude")
    settings = Path(os.environ["CLAUDE_CONFIG_DIR"], "settings.json")
    written = settings.read_text()
    settings.write_text(written + "{")
    said = cli("guard", "on")
    assert said.code == Exit.REFUSED
    assert "claude: its hooks stay as they are" in said.err
    assert "dangerous calls wait" not in said.out
    assert "No agent has hooks" not in said.out
    settings.write_text(written)
    again = cli("guard", "on")
    assert (again.code, lanes()) == (Exit.DONE, {"gate", "gate-read"})
    assert "dangerous calls wait for you" in again.out
