"""`watchgate popup`: what it says where no popup can open, and how it asks tmux for one."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import Cli, Core
from watchgate.cli.base.printing import Exit, Stop
from watchgate.cli.console.popup_command import COVERED, DECIDED, display_popup, outcome
from watchgate.link.paths import Paths

PLACES = Paths(
    runtime_dir=Path("/run/wg"),
    state_dir=Path("/state"),
    config=Path("/c/#(x)/config.toml"),
    data_dir=Path("/data"),
)


def test_outside_of_tmux_it_says_what_to_do(
    cli: Cli, core: Core, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("TMUX", raising=False)
    said = cli("popup")
    assert (said.code, said.out) == (Exit.USAGE, "")
    assert "`watchgate` opens the console" in said.err


def test_with_nothing_pending_nothing_opens(
    cli: Cli, core: Core, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("TMUX", f"{tmp_path}/none,1,0")
    said = cli("popup")
    assert said.code == Exit.REFUSED
    assert "nothing is pending" in said.err


def test_without_a_core_it_exits_3(
    cli: Cli, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("TMUX", f"{tmp_path}/none,1,0")
    assert cli("popup").code == Exit.NO_CORE


def test_the_screen_in_it_wants_a_terminal(
    cli: Cli, core: Core, held: Callable[..., dict[str, Any]]
) -> None:
    held()
    assert cli("popup", "--inside").code == Exit.USAGE


def test_a_tmux_that_opens_none_is_told_of_with_its_own_words(
    cli: Cli,
    core: Core,
    held: Callable[..., dict[str, Any]],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    held()
    monkeypatch.setenv("TMUX", f"{tmp_path}/none,1,0")
    said = cli("popup")
    assert said.code == Exit.REFUSED
    assert "tmux opened no popup" in said.err


def test_the_popup_starts_outside_of_the_panes_folder_in_the_places_of_this_user() -> None:
    """Started in the pane's folder, Python would import what an agent left there."""
    words = list(display_popup(PLACES, "200 50", {"HOME": "/home/u", "SECRET": "x"}, goes_on=True))
    assert words[:2] == ["display-popup", "-E"]
    assert words[words.index("-d") + 1] == "/"
    command = words[words.index("--") + 1 :]
    assert command[0] == "env"
    assert {"HOME=/home/u", "WATCHGATE_RUNTIME_DIR=/run/wg", "WATCHGATE_STATE_DIR=/state"} <= set(
        command
    )
    assert not any("SECRET" in word for word in command)
    assert command[-6:] == [sys.executable, "-m", "watchgate", "popup", "--inside", "--all"]


@pytest.mark.parametrize(
    ("size", "width", "height", "framed"),
    [
        ("200 50", "104", "34", True),
        ("80 24", "80", "24", True),
        ("62 18", "62", "18", True),
        ("60 16", "60", "16", False),
        ("", "80", "24", True),
    ],
)
def test_it_is_as_large_as_a_request_needs_and_has_no_frame_where_that_would_cost_the_allow(
    size: str, width: str, height: str, framed: bool
) -> None:
    words = list(display_popup(PLACES, size, {}, goes_on=False))
    assert (words[words.index("-w") + 1], words[words.index("-h") + 1]) == (width, height)
    assert ("-B" in words) is not framed


@pytest.mark.parametrize(
    ("ended", "code"),
    [
        (DECIDED, Exit.DONE),
        (1, Exit.REFUSED),
        (3, Exit.NO_CORE),
        (9, Exit.REFUSED),  # killed
        (129, Exit.REFUSED),  # closed by `display-popup -C`
    ],
)
def test_the_codes_are_those_of_the_documentation_whatever_tmux_ends_with(
    ended: int, code: Exit
) -> None:
    assert outcome(ended) == code


def test_a_popup_that_tmux_did_not_open_is_no_decision() -> None:
    """With another popup or a menu open, tmux does nothing, says nothing and ends with 0."""
    with pytest.raises(Stop, match=COVERED) as stopped:
        outcome(0)
    assert stopped.value.code == Exit.REFUSED


def test_a_configuration_that_is_wrong_is_told_before_the_popup_opens(
    cli: Cli,
    core: Core,
    held: Callable[..., dict[str, Any]],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    """Within it the words would be gone at once."""
    held()
    config = tmp_path / "wrong.toml"
    config.write_text("[ui]\nbell = 7\n")
    monkeypatch.setenv("WATCHGATE_CONFIG", str(config))
    monkeypatch.setenv("TMUX", f"{tmp_path}/none,1,0")
    said = cli("popup")
    assert said.code == Exit.REFUSED
    assert "ui.bell" in said.err
