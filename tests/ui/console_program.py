"""The console on a made-up core, for a pseudo-terminal to watch: `MODE` is what happens to it."""

from __future__ import annotations

import sys

from tests.ui.fake_source import FakeClock, FakeSource
from tests.ui.foreign import WORDS, everything, foreign, foreign_past
from tests.ui.past_picture import answering
from tests.ui.picture import NOW_US
from watchgate.cli.console.console_terminal import ended_by_signals
from watchgate.ui.console.app import WatchgateApp
from watchgate.ui.notifications.terminal_sequences import Telling
from watchgate.ui.view_model.console_options import Options
from watchgate.ui.widgets.key_bars import Footer

SECRET = "AKIAIOSFODNN7EXAMPLE"


def main(mode: str) -> int:
    """Runs it until it is left."""
    source = FakeSource(foreign(everything(), " ".join(WORDS)))
    source.answer = answering(foreign_past(WORDS[1]))
    telling = Telling(way="osc9", unfocused=False, command=True)
    options = Options(telling=telling, ascii=mode == "ascii")
    app = WatchgateApp(source, FakeClock(NOW_US), options)
    if mode == "crash":
        app.call_later(app.set_timer, 1.0, fail)
    with ended_by_signals(app):
        app.run()
    return app.return_code or 0


def fail() -> None:
    """Fails as a widget would, with a secret at hand."""
    secret = SECRET
    Footer.draw(None, len(secret), 1)  # type: ignore[arg-type]


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
