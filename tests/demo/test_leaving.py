"""What a console leaves in the terminal: one line, and nothing of its picture."""

from __future__ import annotations

import re

from tests.terminal import Terminal

CONTROL = r"\x1b\[[0-9;:?<>=]*[a-zA-Z]"


def test_the_screen_is_empty_when_the_terminal_gets_its_own_back() -> None:
    with Terminal("demo") as terminal:
        terminal.wait_for(" DEMO ")
        terminal.type("q")
        assert terminal.code() == 0
        picture, after = terminal.seen.rsplit("\x1b[?1049l", 1)
        assert re.search(rf"\x1b\[2J(?:{CONTROL})*$", picture)
        assert "the demo leaves nothing behind" in after
