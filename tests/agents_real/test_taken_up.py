"""Hooks that come and go while an agent's session is open, and how the agent names them."""

from __future__ import annotations

import pytest

from tests.agents_real.harness.program import Core, Watchgate
from tests.agents_real.harness.session import Session, one_call
from tests.agents_real.harness.tmux import needs_tmux
from tests.agents_real.harness.waiting import eventually
from watchgate.service.crashtest.agent_drivers import ClaudeCodeDriver, GeminiDriver
from watchgate.service.crashtest.model.conversation import Turn

pytestmark = [
    pytest.mark.agents,
    needs_tmux,
]


STATUS_LINE = "watchgate · "


def test_an_open_session_of_claude_takes_hooks_up_and_lets_them_go_by_itself(
    core: Core, claude: Session[ClaudeCodeDriver], watchgate: Watchgate
) -> None:
    """It shows that it has read its settings again: its status line is one of them."""
    over = Turn("That is all.")
    watchgate.must("install", "gemini")  # so that the client stays when Claude's hooks go
    script = (one_call(), over, one_call(), over, one_call())
    with claude.on_a_terminal(*script) as screen:
        core.deny(core.holds_one(), "not now")
        screen.wait_for(STATUS_LINE)

        watchgate.must("uninstall", "claude")
        eventually(lambda: not screen.shows(STATUS_LINE), "the end of the status line")
        screen.type("go on")
        screen.press("Enter")
        screen.wait_for("Do you want to proceed")
        core.is_empty()

        def goes_on() -> str:
            # A dialog that has only just been drawn takes no key yet.
            if screen.shows("Do you want to proceed"):
                screen.press("1")
            return claude.evidence

        eventually(goes_on, "the command's evidence")

        watchgate.must("install", "claude")
        screen.wait_for(STATUS_LINE)
        screen.type("go on")
        screen.press("Enter")
        core.deny(core.holds_one(), "not now either")
        assert claude.evidence == "ran\n"
        rows = watchgate.must("ls", "--sessions", "--json").splitlines()
        mine = [row for row in rows if '"agent":"claude"' in row]
        assert mine[1:] == [], "the session is one row from its first sign to its last"


def test_gemini_shows_our_name_and_not_the_command(
    core: Core, gemini: Session[GeminiDriver]
) -> None:
    with gemini.on_a_terminal(one_call()) as screen:
        held = core.holds_one()
        screen.wait_for("Executing Hook: watchgate")
        core.deny(held, "not now")
        screen.wait_for(r"Hook\(s\) \[watchgate\] failed for event BeforeTool")
        assert not screen.shows("/bin/sh")
