"""The screen of a core that no call has passed yet: who is here, and what connects them."""

from __future__ import annotations

import msgspec
import pytest

from tests.ui.console_bench import OPTIONS, running
from tests.ui.fake_source import FOUND, FakeClock, FakeSource
from tests.ui.picture import NOW_US, busy, first_run, sessions
from watchgate.core.model.agent_state import AgentState
from watchgate.core.model.session_view import SessionView
from watchgate.link.protocol import Snapshot
from watchgate.ui.console.agent_states_poll import ASK_EVERY_S

CLAUDE = AgentState(
    agent="claude", title="Claude Code", is_present=True, installed=True, scopes=("user",),
    up_to_date=True,
)  # fmt: skip
CODEX = msgspec.structs.replace(CLAUDE, agent="codex", title="Codex", trusted=False)
BOTH = "watchgate install claude codex"
NO_HOOK = "no hook of it was ever heard: run watchgate install claude"


def ungated(*labels: str) -> Snapshot:
    """Agents that run, none of them with hooks of ours."""
    views: tuple[SessionView, ...] = tuple(
        msgspec.structs.replace(
            sessions()[0], session=f"pid {place}", label=label, gated=False, cause=NO_HOOK, calls=0
        )
        for place, label in enumerate(labels)
    )
    return msgspec.structs.replace(first_run(), sessions=views)


async def test_an_agent_without_hooks_is_offered_with_the_command() -> None:
    async with running(first_run()) as bench:
        await bench.settle()
        assert "No agent is connected yet." in bench.screen
        assert "claude      no hooks           watchgate install claude" in bench.screen
        assert BOTH in bench.screen


async def test_an_installed_agent_is_not_offered_again_and_says_what_comes_next() -> None:
    async with running(first_run(), size=(80, 24), agents=(CLAUDE, CODEX)) as bench:
        await bench.settle()
        assert "No call has come yet." in bench.screen
        assert "hooks are in       start claude: watchgate sees its next call" in bench.screen
        assert "hooks not trusted  start codex once and say yes to its hooks" in bench.screen
        assert "watchgate install" not in bench.screen


async def test_what_is_installed_meanwhile_is_shown_without_a_restart() -> None:
    async with running(first_run(), agents=FOUND[:1]) as bench:
        await bench.settle()
        assert "hooks are in" not in bench.screen
        bench.source.agents = (CLAUDE,)
        bench.clock.advance(ASK_EVERY_S)
        await bench.settle()
        await bench.until(lambda: "hooks are in" in bench.screen)


async def test_a_core_of_an_earlier_version_leaves_an_example() -> None:
    async with running(first_run(), agents=()) as bench:
        await bench.settle()
        assert "for instance:" in bench.screen
        await bench.press("i")
        await bench.until(lambda: "in a shell: watchgate install claude   (c" in bench.screen)


async def test_sessions_without_a_gate_are_named_and_none_is_called_connected() -> None:
    async with running(ungated("api", "web"), size=(80, 24)) as bench:
        await bench.settle()
        assert "2 sessions run without a gate." in bench.screen
        assert "2 sessions, none gated" in bench.screen
        assert "A session is connected" not in bench.screen
        assert "web          claude    run watchgate" in bench.screen
        assert "run watchgate install claude" in bench.screen
        assert "watchgate install claude" in bench.screen


@pytest.mark.parametrize("snapshot", [first_run(), ungated("api"), busy()])
async def test_the_command_that_i_tells_is_copied_by_c_on_every_screen(snapshot: Snapshot) -> None:
    async with running(snapshot) as bench:
        for screen in ("1", "5"):
            await bench.press(screen, "i")
            await bench.until(lambda: f"in a shell: {BOTH}   (c copies it)" in bench.screen)
            bench.app.copy_to_clipboard("")
            await bench.press("c")
            assert bench.app.clipboard == BOTH


async def test_where_every_agent_has_its_hooks_i_tells_what_lists_them() -> None:
    async with running(first_run(), agents=(CLAUDE,)) as bench:
        await bench.press("i")
        await bench.until(lambda: "in a shell: watchgate install   (c copies" in bench.screen)


async def test_after_a_while_c_copies_the_call_again() -> None:
    async with running(busy()) as bench:
        await bench.press("i")
        bench.clock.advance(11)
        await bench.settle()
        await bench.press("c")
        assert not bench.app.clipboard.startswith("watchgate install")


async def test_a_demo_asks_for_no_agents_of_this_machine() -> None:
    options = msgspec.structs.replace(OPTIONS, demo=True)
    async with running(first_run(), options=options, agents=(CLAUDE,)) as bench:
        assert "hooks are in" not in bench.screen


async def test_i_in_a_demo_tells_of_the_agents_at_the_own_core() -> None:
    async def open_demo() -> tuple[FakeSource, FakeClock]:
        demo = FakeSource(busy())
        demo.agents = ()
        return demo, FakeClock(NOW_US)

    options = msgspec.structs.replace(OPTIONS, open_demo=open_demo)
    async with running(first_run(), options=options, agents=(CLAUDE,)) as bench:
        await bench.press("x")
        await bench.until(lambda: "2 PENDING" in bench.screen)
        await bench.press("i")
        await bench.until(lambda: "in a shell: watchgate install   (c copies" in bench.screen)


async def test_i_in_a_demo_without_a_core_names_no_agent() -> None:
    options = msgspec.structs.replace(OPTIONS, demo=True)
    async with running(busy(), options=options, agents=()) as bench:
        await bench.press("i")
        await bench.until(lambda: "in a shell: watchgate install   (c copies" in bench.screen)
