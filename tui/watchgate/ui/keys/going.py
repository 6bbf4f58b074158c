"""The actions of navigation: screens, pages, the cursor, and what is opened from it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Unpack

from watchgate.core.views import CallRow
from watchgate.link.client import Fields
from watchgate.link.lines import Answer
from watchgate.link.protocol import Verb

if TYPE_CHECKING:
    from watchgate.ui.app import WatchgateApp
    from watchgate.ui.screens.frame import Frame


def help_page(console: WatchgateApp) -> None:
    """Open the help page; again closes it."""
    from watchgate.ui.screens.help import HelpScreen

    if isinstance(console.pages.top, HelpScreen):
        console.pages.close()
    else:
        console.pages.open(HelpScreen(console.keymap, replay=console.stage.replaying))


def commands(console: WatchgateApp) -> None:
    """Open the command list."""
    from watchgate.ui.screens.commands import CommandScreen

    console.pages.open(CommandScreen(console.keymap, console.moment().context))


def log(console: WatchgateApp) -> None:
    """Show the last lines of the core's log."""
    from watchgate.ui.screens.log import LogScreen

    read = console.options.log_lines
    if read is not None:
        console.pages.open(LogScreen(read()))


def back(console: WatchgateApp) -> None:
    """Close the page, leave the sessions, or clear the filter: whichever is on top."""
    pages = console.pages
    if pages.top.leave() or pages.close() or console.monitor.leave_sessions():
        return
    if console.desk.filter:
        console.set_filter("", None)


def monitor(console: WatchgateApp) -> None:
    """Back to the monitor."""
    console.pages.go(None)


def approvals(console: WatchgateApp) -> None:
    """Go to the approvals."""
    from watchgate.ui.screens.approvals import ApprovalsScreen

    _go(console, ApprovalsScreen)


def traces(console: WatchgateApp) -> None:
    """Go to the traces."""
    from watchgate.ui.screens.traces import TracesScreen

    _go(console, TracesScreen)


def costs(console: WatchgateApp) -> None:
    """Go to the costs."""
    from watchgate.ui.screens.costs import CostsScreen

    _go(console, CostsScreen)


def history(console: WatchgateApp) -> None:
    """Go to the history."""
    from watchgate.ui.screens.history import HistoryScreen

    async def call(verb: Verb, **fields: Unpack[Fields]) -> Answer:
        # Asked for at the time: playing the demo puts another bridge in place.
        return await console.bridge.call(verb, **fields)

    if not isinstance(console.pages.top, HistoryScreen):
        console.pages.go(HistoryScreen(call))


def _go(console: WatchgateApp, screen: type[Frame]) -> None:
    if not isinstance(console.pages.top, screen):
        console.pages.go(screen())


def turn(console: WatchgateApp, by: int) -> None:
    """Dock the next or the previous request; the table's cursor stays."""
    console.desk.turn(console.bridge.state.by_deadline(), by)


def view(console: WatchgateApp) -> None:
    """Open the whole docked request, or the call under the cursor while none is docked.

    Where the whole of it stands already, its payload; from there back. In the list of sessions,
    the session under the cursor.
    """
    from watchgate.ui.screens.detail import DetailScreen
    from watchgate.ui.screens.payload import PayloadScreen
    from watchgate.ui.screens.session import SessionScreen

    top, home = console.pages.top, console.options.home
    chosen = console.monitor.sessions.chosen if console.monitor.listed else None
    if top is console.monitor and chosen is not None:
        console.pages.open(SessionScreen(*chosen, home))
    elif isinstance(top, PayloadScreen):
        _whole(console, top.row)
    elif isinstance(top, DetailScreen):
        console.pages.open(PayloadScreen(top.row, home))
    elif top.where == "approvals":
        console.pages.open(PayloadScreen(None, home))
    elif console.moment().docked is None:
        detail(console)
    else:
        _whole(console, None)


def sessions(console: WatchgateApp) -> None:
    """Give the keys to the list of sessions, which is on the monitor; again takes them back."""
    if console.pages.top is not console.monitor:
        console.pages.go(None)
        console.monitor.leave_sessions()
    console.monitor.list_sessions()


def jump(console: WatchgateApp) -> None:
    """Show a letter at every line that can be gone to."""
    top = console.pages.top
    if top.jumps():
        console.prompts.ask_jump(top.jumps)
    else:
        console.say("no line to jump to here")


def half(console: WatchgateApp, way: int) -> None:
    """Move by about half of what is visible."""
    listed = console.monitor.listed and console.pages.top is console.monitor
    console.pages.move(way * (2 if listed else max(1, console.size.height // 3)))


def detail(console: WatchgateApp) -> None:
    """Open the call under the cursor; in the list of sessions, choose the one there."""
    monitor_screen = console.monitor
    if console.pages.top.enter():
        return
    if console.pages.top is not monitor_screen:
        console.say("nothing more to open on this page")
    elif monitor_screen.listed:
        monitor_screen.sessions.open()
    elif monitor_screen.table.selected is not None:
        _whole(console, monitor_screen.table.selected)


def request(console: WatchgateApp) -> None:
    """Open the whole docked request, whatever is open."""
    _whole(console, None)


def _whole(console: WatchgateApp, row: CallRow | None) -> None:
    from watchgate.ui.screens.detail import DetailScreen

    console.pages.open(DetailScreen(row, console.options.home))


def ask_filter(console: WatchgateApp) -> None:
    """Ask for the filter of the list that is shown."""
    from watchgate.core.completing import known_in

    top = console.pages.top
    if top.where == "help":
        commands(console)
        return
    text = console.desk.filter if top.narrowed is None else top.narrowed
    bridge = console.bridge
    console.prompts.ask_filter(text, known_in(bridge.state), bridge.now_us)
