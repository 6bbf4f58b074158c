"""The stack of screens above the monitor: another numbered screen, and a page above either."""

from __future__ import annotations

from textual.app import App

from watchgate.ui.screens.monitor_screen import MonitorScreen
from watchgate.ui.screens.screen_frame import Frame

FAR = 1_000_000


class Pages:
    """The stack: the monitor, at most one other numbered screen, at most one page above."""

    def __init__(self, app: App[str], monitor: MonitorScreen) -> None:
        self._app = app
        self._screen: Frame | None = None
        self._page: Frame | None = None
        self.monitor = monitor

    @property
    def top(self) -> Frame:
        """Returns the screen that the operator sees."""
        return self._page or self._screen or self.monitor

    def go(self, screen: Frame | None) -> None:
        """Shows a numbered screen in place of the one that may be shown; None is the monitor."""
        while self.close():
            pass
        self._screen = screen
        if screen is not None:
            self._app.call_later(self._app.push_screen, screen)

    def open(self, page: Frame) -> None:
        """Opens a page in place of the one that may be open."""
        if self._page is not None:
            self.close()
        self._page = page
        self._app.call_later(self._app.push_screen, page)

    def close(self) -> bool:
        """Closes the open page, else the numbered screen; returns whether there was one."""
        if self._page is not None:
            self._page = None
        elif self._screen is not None:
            self._screen = None
        else:
            return False
        self._app.call_later(self._app.pop_screen)
        return True

    def move(self, lines: int) -> None:
        """Moves the cursor of the pane that has the keys, or scrolls the page."""
        self.top.move(lines)

    def page(self, pages: int) -> None:
        """Moves by about what is visible."""
        self.top.page(pages)

    def end(self, *, newest: bool) -> None:
        """Goes to one end; on the monitor the newest end turns following on."""
        if self.top is not self.monitor:
            self.top.move(FAR if newest else -FAR)
        elif newest:
            self.monitor.table.to_end()
        else:
            self.monitor.table.to_top()
