"""How a console may tell of something, by what its environment says of the terminal around it."""

from __future__ import annotations

import pytest

from watchgate.cli.console.console_terminal import telling, way_of, wrap_of
from watchgate.core.config.config import ConfigError, Ui, load

TMUX = {"TMUX": "/tmp/tmux-1000/default,1,0", "TMUX_PANE": "%3", "TERM": "tmux-256color"}


@pytest.mark.parametrize(
    ("env", "way"),
    [
        ({"TERM": "xterm-256color"}, "osc9"),
        ({"TERM": "xterm-kitty", "KITTY_WINDOW_ID": "1"}, "osc9"),
        ({"TERM": "xterm-256color", "TERM_PROGRAM": "WezTerm"}, "osc9"),
        ({"TERM": "foot"}, "osc777"),
        ({"TERM": "rxvt-unicode-256color"}, "osc777"),
        ({"TERM": "xterm-256color", "VTE_VERSION": "7600"}, "osc777"),
        ({"TERM": "xterm-256color", "TERM_PROGRAM": "Apple_Terminal"}, "off"),
        ({"TERM": "linux"}, "off"),
        ({"TERM": "dumb"}, "off"),
        ({}, "off"),
    ],
)
def test_a_terminal_is_told_in_the_sequence_that_it_reads(env: dict[str, str], way: str) -> None:
    assert way_of("auto", env) == way


def test_the_configuration_goes_before_what_is_found() -> None:
    assert way_of("osc777", {"TERM": "xterm-kitty"}) == "osc777"
    assert way_of("osc9", {"TERM": "foot"}) == "osc9"
    assert way_of("off", {"TERM": "foot"}) == "off"


def test_each_multiplexer_is_passed_in_its_own_way() -> None:
    assert wrap_of({}) == ""
    assert wrap_of(TMUX) == "tmux"
    assert wrap_of({"STY": "1.pts"}) == "screen"
    assert wrap_of({"ZELLIJ": "0", **TMUX}) == ""


def test_tmux_is_asked_first_whether_it_hands_on_unless_nothing_is_to_be_told() -> None:
    assert telling(Ui(), TMUX).around is not None
    assert telling(Ui(notify="tmux"), TMUX).around is not None
    assert telling(Ui(notify="off"), TMUX).around is None
    outside = telling(Ui(notify="tmux"), {"TERM": "xterm"})
    assert (outside.around, outside.way) == (None, "off")


def test_bell_title_focus_and_command_are_as_configured() -> None:
    quiet = load(
        '[ui]\nbell = false\ntitle = false\nnotify_when = "always"\nnotify_text = "command"\n', "x"
    )
    told = telling(quiet.ui, {})
    assert (told.bell, told.title, told.unfocused, told.command) == (False, False, False, True)
    plain = telling(Ui(), {})
    assert (plain.bell, plain.title, plain.unfocused, plain.command) == (True, True, True, False)


def test_a_way_that_there_is_not_is_refused_with_those_that_there_are() -> None:
    with pytest.raises(ConfigError, match=r"auto.*osc9.*osc777.*tmux.*off"):
        load('[ui]\nnotify = "desktop"\n', "config.toml")
