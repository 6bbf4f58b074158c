"""Bell, desktop and title: how notices reach a terminal, and that no text of others steers it."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.ui.open_requests import FIRST, SECOND, asked
from tests.ui.picture import NOW_US
from watchgate.core.model.views import PendingView
from watchgate.core.state.state import State
from watchgate.ui.base.formats import width
from watchgate.ui.notifications.notices import Announcer
from watchgate.ui.notifications.terminal_sequences import (
    TEXT_CELLS,
    Telling,
    Way,
    Wrap,
    plain,
    sequence,
    wrapped,
)
from watchgate.ui.source.core_bridge import Link

ATTACHED = Link(state="attached")
HOSTILE = [chr(code) for code in (*range(0x20), *range(0x7F, 0xA0), 0x202E, 0x200B, 0xD800)]


def picture(*views: PendingView) -> State:
    state = State()
    state.pending = {view.id: view for view in views}
    return state


class Terminal:
    """What a terminal got to hear, and an announcer that tells it."""

    def __init__(self, **telling: Any) -> None:
        self.rung = 0
        self.written: list[str] = []
        self.started: list[Callable[[], Coroutine[None, None, None]]] = []
        wanted = {"title": False, "way": "osc9", **telling}
        self.announcer = Announcer(
            self._ring, self.written.append, Telling(**wanted), self.started.append
        )

    def _ring(self) -> None:
        self.rung += 1

    def show(self, *views: PendingView, now_us: int = NOW_US, demo: bool = False) -> None:
        self.announcer.announce(picture(*views), ATTACHED, now_us, demo=demo)


def test_a_request_rings_and_is_told_once() -> None:
    terminal = Terminal()
    for _ in range(3):
        terminal.show(asked())
    assert terminal.rung == 1
    (told,) = terminal.written
    assert told.startswith("\x1b]9;watchgate: MEDIUM Bash of api-fix #c1ah: denied in ")
    assert told.endswith("\x07")


def test_whoever_looks_at_the_terminal_hears_the_bell_alone() -> None:
    terminal = Terminal()
    terminal.announcer.focused = True
    terminal.show(asked())
    assert (terminal.rung, terminal.written) == (1, [])
    terminal.announcer.focused = False
    terminal.show(asked(), asked(id=SECOND), now_us=NOW_US + 2_000_000)
    assert (terminal.rung, len(terminal.written)) == (2, 1)
    always = Terminal(unfocused=False)
    always.announcer.focused = True
    always.show(asked())
    assert len(always.written) == 1


def test_each_of_bell_title_and_notice_can_be_switched_off() -> None:
    silent = Terminal(bell=False, way="off")
    silent.show(asked())
    assert (silent.rung, silent.written) == (0, [])
    titled = Terminal(bell=False, title=True, way="off")
    titled.show(asked())
    titled.show(asked())
    assert titled.written == ["\x1b]0;(1) watchgate\x07"]


def test_a_demo_is_named_and_its_ids_are_news_each_time_it_is_played() -> None:
    terminal = Terminal()
    terminal.show(asked())
    terminal.show(asked(id=SECOND), demo=True)
    terminal.show(asked())
    terminal.show(asked(id=SECOND), demo=True)
    assert terminal.rung == 3
    assert ["demo" in told for told in terminal.written] == [False, True, True]


@pytest.mark.anyio
async def test_what_tmux_shows_by_itself_is_not_written_and_what_it_hands_on_is() -> None:
    heard: list[str] = []

    async def shows(text: str) -> bool:
        heard.append(text)
        return len(heard) == 1

    terminal = Terminal(around=shows, wrap="tmux")
    terminal.show(asked())
    await terminal.started.pop()()
    assert heard[0].startswith("watchgate: MEDIUM Bash of api-fix")
    assert terminal.written == []
    terminal.show(asked(id=SECOND), now_us=NOW_US + 2_000_000)
    await terminal.started.pop()()
    (told,) = terminal.written
    assert told.startswith("\x1bPtmux;\x1b\x1b]9;watchgate: ")
    assert told.endswith("\x07\x1b\\")


def test_each_protocol_as_its_terminals_read_it() -> None:
    assert sequence("x", way="osc9") == "\x1b]9;watchgate: x\x07"
    assert sequence("x", way="osc777") == "\x1b]777;notify;watchgate;x\x07"
    assert sequence("x", way="off") == ""
    assert wrapped("\x1b]9;x\x07", "screen") == "\x1bP\x1b]9;x\x07\x1b\\"


@pytest.mark.parametrize("way", ["osc9", "osc777"])
def test_no_character_ends_or_starts_a_sequence(way: Way) -> None:
    """An OSC 777 notification with an agent's text in it must not become two of them."""
    for hidden in HOSTILE:
        evil = f"{hidden}x;y{hidden}\\{hidden}]777;notify;a;b"
        told = sequence(evil, way=way)
        (fields,) = (told.removeprefix("\x1b]").removesuffix("\x07"),)
        assert fields.isprintable(), hidden
        assert fields.count(";") == (1 if way == "osc9" else 3), hidden


@given(st.text(), st.sampled_from(["", "tmux", "screen"]), st.sampled_from(["osc9", "osc777"]))
def test_whatever_an_agent_writes_there_is_one_sequence_of_bounded_length(
    text: str, wrap: Wrap, way: Way
) -> None:
    bare = sequence("", way=way)
    told = sequence(text, way=way)
    assert told.count("\x1b") == bare.count("\x1b") == 1
    assert told.count("\x07") == told.endswith("\x07") == 1
    assert width(plain(text)) <= TEXT_CELLS
    assert sequence(text, way=way, wrap=wrap).endswith(wrapped("", wrap)[-2:])


def test_a_hostile_tool_and_session_reach_the_terminal_as_visible_escapes() -> None:
    view = asked(id=FIRST)
    tool = msgspec.structs.replace(view.data.tool, name="Ba\x1b]777;notify;a;b\x07sh")
    view = msgspec.structs.replace(
        view, label="x\x9c;\u202e", data=msgspec.structs.replace(view.data, tool=tool)
    )
    terminal = Terminal(way="osc777")
    terminal.show(view)
    (told,) = terminal.written
    assert told.count(";") == 3
    assert "Ba<U+001B>]777,notify,a,b<U+0007>sh of x<U+009C>,<U+202E>" in told
