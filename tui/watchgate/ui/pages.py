"""Pages above the monitor: what is open, and where keys that move go."""

from __future__ import annotations

from textual.app import App

from watchgate.ui.screens.frame import Frame
from watchgate.ui.screens.monitor import MonitorScreen

FAR = 1_000_000


class Pages:
    """The stack of pages; at most one lies above the monitor."""

    def __init__(self, app: App[str], monitor: MonitorScreen) -> None:
        self._app = app
        self._page: Frame | None = None
        self.monitor = monitor

    @property
    def top(self) -> Frame:
        """The page that is seen."""
        return self._page or self.monitor

    def open(self, page: Frame) -> None:
        """Open a page in place of the one that may be open."""
        self.close()
        self._page = page
        self._app.call_later(self._app.push_screen, page)

    def close(self) -> bool:
        """Close the open page; whether there was one."""
        page, self._page = self._page, None
        if page is not None:
            self._app.call_later(self._app.pop_screen)
        return page is not None

    def move(self, lines: int) -> None:
        """Move the cursor of the pane that has the keys, or scroll the page."""
        self.top.move(lines)

    def page(self, pages: int) -> None:
        """Move by about what is visible."""
        self.top.page(pages)

    def end(self, *, newest: bool) -> None:
        """Go to one end; on the monitor the newest end turns following on."""
        if self.top is not self.monitor:
            self.top.move(FAR if newest else -FAR)
        elif newest:
            self.monitor.table.to_end()
        else:
            self.monitor.table.to_top()
