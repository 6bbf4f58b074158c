"""What tmux's status line shows of the gate."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import Cli, Core
from watchgate.cli.base.printing import Exit
from watchgate.cli.base.tmux import alarm_line, pending_line
from watchgate.service.system import off_switch


def test_nothing_pending_takes_the_colours_that_the_status_line_has() -> None:
    assert pending_line("guard", []) == "guard 0 pending"


def test_a_profile_that_holds_nothing_says_so() -> None:
    assert pending_line("watch", []) == "watch, NOT GATING, 0 pending"


@pytest.mark.parametrize(
    ("risks", "words", "ground"),
    [
        (["low"], ". 1 pending", "#8a93a6"),
        (["low", "medium"], "! 2 pending", "#56b4e9"),
        (["high", "low"], "!! 2 pending", "#f0c419"),
        (["unknown"], "!! 1 pending", "#f0c419"),
        (["high", "critical", "low"], "!!! 3 pending", "#ff6a3d"),
    ],
)
def test_what_is_pending_carries_the_mark_and_the_colour_of_the_worst(
    risks: list[str], words: str, ground: str
) -> None:
    assert pending_line("guard", risks) == (f"#[fg=#0f1115,bg={ground},bold] {words} #[default]")


def test_nothing_from_outside_is_read_by_tmux() -> None:
    """tmux expands what a status command prints: `#(touch x)` would run."""
    assert pending_line("a#(touch x)#[fg=red]", []) == "a##(touch x)##[fg=red] 0 pending"
    assert "##(x)" in alarm_line("#(x)")


def test_it_is_one_line_and_never_an_error(
    cli: Cli, core: Core, held: Callable[..., dict[str, Any]]
) -> None:
    assert cli("status", "--tmux").out == "guard 0 pending\n"
    held()
    said = cli("status", "--tmux")
    assert (said.code, said.err) == (Exit.DONE, "")
    assert "!! 1 pending" in said.out


def test_without_a_core_or_with_the_gate_off_it_says_so_where_nobody_overlooks_it(
    cli: Cli, runtime_dir: Path
) -> None:
    said = cli("status", "--tmux")
    assert (said.code, said.err) == (Exit.DONE, "")
    assert said.out == alarm_line("NO CORE") + "\n"
    off_switch.write_switch(runtime_dir / "off", None)
    assert cli("status", "--tmux").out == alarm_line("GATE OFF") + "\n"


def test_a_core_that_cannot_be_asked_is_no_error_of_the_status_line(
    cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    def hangs(_path: Path, _request: object) -> None:
        from watchgate.link.control_lines import CoreLost

        raise CoreLost("no answer within 10 s")

    monkeypatch.setattr("watchgate.link.core_socket.call_once", hangs)
    said = cli("status", "--tmux")
    assert (said.code, said.out) == (Exit.DONE, alarm_line("GATE UNKNOWN") + "\n")
