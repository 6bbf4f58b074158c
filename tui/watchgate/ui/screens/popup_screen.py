"""The popup: the docked request whole and nothing beside it, over whatever one is doing."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from textual.widget import Widget

from watchgate.ui.keys.jump_labels import Jump
from watchgate.ui.keys.keymap import Where
from watchgate.ui.screens.monitor_screen import MonitorScreen
from watchgate.ui.screens.screen_frame import Frame
from watchgate.ui.view_model.console_options import Options
from watchgate.ui.view_model.view_model import ViewModel
from watchgate.ui.widgets.key_bars import Part
from watchgate.ui.widgets.request.request_detail import Detail


class PopupScreen(MonitorScreen):
    """Stands where the monitor stands in a whole console, and shows the docked request alone."""

    where: Where = "popup"
    tab = ""
    full_dock = False
    shows_request = True

    def __init__(self, options: Options) -> None:
        super().__init__(options)
        self.detail = Detail(home=options.home)
        self.detail.styles.width = "1fr"
        self.strip.display = False

    def body(self) -> Iterable[Widget]:
        """The request, and below the smallest size what can still be done about it."""
        yield self.detail
        yield self.tiny

    def on_mount(self) -> None:
        """Nothing has the keys but the console itself."""

    def show(self, moment: ViewModel) -> None:
        """Show the docked request; what is wrong with the core is told in the dock's line."""
        Frame.show(self, moment)
        self.tabs.display = False
        self.tiny.display = moment.shape.tiny
        self.detail.display = not moment.shape.tiny
        if moment.shape.tiny:
            self.tiny.show(moment)
            return
        many = len(moment.pending)
        self.detail.show_request(
            moment.docked,
            moment.state,
            moment.now_us,
            was_all_shown=not moment.context.unseen,
            place=f"{moment.index + 1} of {many}" if many > 1 else "",
            bare=moment.bare,
            reveal=moment.reveal,
        )

    def aside(self, moment: ViewModel) -> tuple[Part, ...]:
        """Nothing: there are no tabs."""
        return ()

    def move(self, lines: int) -> None:
        """Scroll the request."""
        self.detail.scroll_lines(lines)

    def page(self, pages: int) -> None:
        """Scroll the request by what is visible."""
        self.detail.scroll_pages(pages)

    def jumps(self) -> Sequence[Jump]:
        """Nothing to go to."""
        return ()
