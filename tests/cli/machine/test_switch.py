from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import Cli, Core
from tests.e2e.programs import until
from tests.terminal import Terminal
from watchgate.cli.base.printing import Exit
from watchgate.core.base import decoding
from watchgate.core.model.records import Record, TamperedData
from watchgate.core.model.views import GateView
from watchgate.core.state import state
from watchgate.link.core_socket import call_once
from watchgate.link.protocol import Request, Result, Snapshot
from watchgate.link.snapshots import restored
from watchgate.service.journal import journal_reader
from watchgate.service.system import off_switch
from watchgate.service.system.system_clock import SystemClock
from watchgate.ui.view_model.overview import live_sessions


@pytest.fixture
def switch() -> Path:
    return Path(os.environ["WATCHGATE_RUNTIME_DIR"]) / "off"


def in_force(path: Path) -> bool:
    return off_switch.read_switch(path, SystemClock().now()) is not None


def test_status_is_one_line(cli: Cli, core: Core, held: Callable[..., dict[str, Any]]) -> None:
    assert cli("status").out.startswith("gating (guard), 0 sessions, 0 pending, record ")
    held()
    said = cli("status").out
    assert "1 session, 1 pending" in said
    assert said.endswith("; this terminal is clear; no PIN set\n")
    assert said.count("\n") == 1
    (line,) = cli("status", "--json").lines
    assert (line["profile"], line["pending"], line["off"]) == ("guard", 1, False)
    assert (line["journal"], line["tampered"]) == ("ok", [])
    assert {"core", "version", "boot", "records", "sessions"} <= set(line)
    assert (line["pin"], line["standing"]) == (False, "clear")


@pytest.fixture
def wrong(monkeypatch: pytest.MonkeyPatch) -> None:
    """A core starts, and nothing of what its gate rests on is as it should be."""
    found = TamperedData(part="hooks", path="/s.json", what="hooks were removed", mend="do this")
    gate = GateView(journal="disk full", tampered=(found, found))
    monkeypatch.setattr(state, "gate_at_start", lambda _record: gate)


def test_status_says_what_is_wrong_with_the_gate(cli: Cli, wrong: None, core: Core) -> None:
    said = cli("status").out
    assert "; JOURNAL LOST: disk full; " in said
    assert "TAMPERED: hooks were removed (and 1 more); mend: do this" in said
    (line,) = cli("status", "--json").lines
    assert (line["journal"], len(line["tampered"])) == ("disk full", 2)
    shown = cli("status", "--tmux").out
    assert " JOURNAL LOST #[default] " in shown
    assert " TAMPERED #[default] guard 0 pending" in shown


@pytest.fixture
def tried(monkeypatch: pytest.MonkeyPatch) -> None:
    """A core starts, and tells of an attempt at once."""
    found = TamperedData(part="attempt", path="", what="sh tried to allow it", mend="look")
    monkeypatch.setattr(state, "gate_at_start", lambda _record: GateView(tampered=(found,)))


def test_status_tells_of_an_attempt_as_an_alarm(cli: Cli, tried: None, core: Core) -> None:
    assert "; ALARM: sh tried to allow it; mend: look; " in cli("status").out
    assert " ALARM #[default] guard 0 pending" in cli("status", "--tmux").out


def test_status_without_a_core_exits_3(cli: Cli, switch: Path) -> None:
    said = cli("status")
    assert (said.code, said.out) == (Exit.NO_CORE, "")
    assert cli("status", "--json").code == Exit.NO_CORE
    off_switch.write_switch(switch, None)
    assert "The gate is off until reboot" in cli("status").err


def test_off_needs_a_terminal(cli: Cli, core: Core, switch: Path) -> None:
    said = cli("off", "30m")
    assert (said.code, said.out) == (Exit.USAGE, "")
    assert "terminal" in said.err
    assert not switch.exists()


@pytest.mark.parametrize("how_long", ["soon", "30", "-1m", "8d", "0s"])
def test_off_takes_no_other_time(cli: Cli, core: Core, how_long: str) -> None:
    said = cli("off", "--", how_long)
    assert said.code == Exit.USAGE
    assert "until-reboot" in said.err


def test_off_wants_its_word_typed_and_on_ends_it(cli: Cli, core: Core, switch: Path) -> None:
    with Terminal("off", "30m") as terminal:
        terminal.wait_for("Type off")
        assert "goes on by its own rules" in terminal.seen
        terminal.type("yes\n")
        assert terminal.code() == Exit.REFUSED
    assert not switch.exists()
    with Terminal("off", "30m") as terminal:
        terminal.wait_for("Type off")
        terminal.type("off\n")
        assert terminal.code() == Exit.DONE
    assert in_force(switch)
    assert switch.stat().st_mode & 0o777 == 0o600
    assert cli("status").out.startswith("GATE OFF until ")
    assert cli("status", "--json").lines[0]["off"] is True
    assert (cli("on").code, switch.exists()) == (Exit.DONE, False)
    assert cli("status").out.startswith("gating")


def test_the_end_of_input_switches_nothing_off(core: Core, switch: Path) -> None:
    with Terminal("off") as terminal:
        terminal.wait_for("Type off")
        terminal.type("\x04")
        assert terminal.code() == Exit.REFUSED
        assert "Traceback" not in terminal.seen
    assert not switch.exists()


def test_off_without_a_core_still_writes_the_switch_and_says_that_nothing_records_it(
    switch: Path,
) -> None:
    with Terminal("off", "until-reboot") as terminal:
        terminal.wait_for("Type off")
        terminal.type("off\n")
        assert terminal.code() == Exit.DONE
        assert "no record" in terminal.seen
    assert in_force(switch)


def test_off_without_a_core_writes_into_no_directory_of_others(switch: Path) -> None:
    switch.parent.chmod(0o755)
    with Terminal("off") as terminal:
        terminal.wait_for("Type off")
        terminal.type("off\n")
        assert terminal.code() == Exit.REFUSED
        assert "chmod 700" in terminal.seen
    assert not switch.exists()


def test_on_without_a_core_still_removes_the_switch(cli: Cli, switch: Path) -> None:
    off_switch.write_switch(switch, None)
    said = cli("on")
    assert (said.code, said.out) == (Exit.DONE, "The gate is on.\n")
    assert "no record" in said.err
    assert not switch.exists()


def test_off_and_on_are_on_record_with_who(cli: Cli, core: Core) -> None:
    with Terminal("off", "1h") as terminal:
        terminal.wait_for("Type off")
        terminal.type("off\n")
        assert terminal.code() == Exit.DONE
    cli("on")
    assert cli("stop").code == Exit.DONE

    def recorded() -> dict[str, Record] | None:
        kinds = {r.kind: r for r in journal_reader.read(core.paths.journal, 1, 1_000)}
        return kinds if "policy.stopped" in kinds else None

    kinds = until(recorded, "the core's end on record")
    assert kinds["policy.off"].data["name"].startswith("operator ")
    assert kinds["policy.on"].seq > kinds["policy.off"].seq


def test_stop_says_what_it_means_for_installed_agents(cli: Cli, core: Core) -> None:
    said = cli("stop")
    assert said.code == Exit.DONE
    for word in ("denied", "watchgate uninstall"):
        assert word in said.out


def test_stop_without_a_core_exits_3(cli: Cli) -> None:
    assert cli("stop").code == Exit.NO_CORE


def test_below_an_agent_the_core_is_neither_stopped_nor_switched_off(
    cli: Cli, core_of_our_agent: Core, switch: Path
) -> None:
    core_of_our_agent.hold()
    until(lambda: cli("ls", "--json").lines, "a held call")

    said = cli("stop")
    assert (said.code, said.out) == (Exit.REFUSED, "")
    assert "self_approval" in said.err
    assert "that was open before the agent was started" in said.err
    with Terminal("off") as terminal:
        terminal.wait_for("Type off")
        terminal.type("off\n")
        assert terminal.code() == Exit.REFUSED
        assert "self_approval" in terminal.seen
    assert not switch.exists()
    assert cli("status", "--json").lines[0]["pending"] == 1


def test_status_counts_the_sessions_that_the_console_counts(cli: Cli, core: Core) -> None:
    core.hold()
    for place in range(3):
        core.tell(f"over{place}", "SessionStart")
        core.tell(f"over{place}", "SessionEnd")
    until(lambda: len(cli("ls", "--sessions", "--json").lines) == 4, "the sessions")
    until(lambda: cli("ls", "--sessions", "--json").out.count('"gone"') == 3, "their ends")
    answer = call_once(core.paths.control_socket, Request(id=1, verb="attach", observer=True))
    assert isinstance(answer, Result)
    shown = restored(decoding.convert(answer.ok["snapshot"], Snapshot))

    (line,) = cli("status", "--json").lines

    assert line["sessions"] == len(live_sessions(shown)) == 1
