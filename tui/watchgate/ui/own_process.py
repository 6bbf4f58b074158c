"""The console in a process of its own, which may set how memory is looked after."""

from __future__ import annotations

import gc

from watchgate.ui.app import WatchgateApp

SETTLED_S = 1.0
"""After so long the first picture of a core is there, if it can be reached."""


class OwnProcess(WatchgateApp):
    """The console where nothing else runs: what it does to memory would be done to others, too."""

    def on_mount(self) -> None:
        self.set_timer(SETTLED_S, self._settle)

    def _settle(self) -> None:
        # What the first picture needed stays for good. Looking through all of it for garbage, as
        # Python does now and then, would hold up a key by more than the rest of its way.
        gc.freeze()
