"""What the console says where something is not as usual: lost, off, frozen, tiny, settled."""

from __future__ import annotations

import msgspec
import pytest

from tests.ui.console_bench import OPTIONS, Bench, running
from tests.ui.fake_source import FakeClock, FakeSource
from tests.ui.picture import CRITICAL, HIGH, NOW_US, busy, first_run, quiet, switched_off
from tests.ui.screens.test_console import decided
from watchgate.core.model.agent_state import WithoutCore
from watchgate.link.protocol import Push, Snapshot
from watchgate.ui.screens.payload_screen import DetailScreen
from watchgate.ui.source.core_bridge import HELLO_S


def changed(snapshot: Snapshot, request: str, **facts: object) -> Snapshot:
    """The snapshot with other facts about one request."""
    pending = tuple(
        msgspec.structs.replace(view, data=msgspec.structs.replace(view.data, **facts))
        if view.id == request
        else view
        for view in snapshot.pending
    )
    return msgspec.structs.replace(snapshot, pending=pending)


def long_request(risk: str = "medium") -> Snapshot:
    """A request whose command takes more lines than the dock has."""
    tool = busy().pending[0].data.tool
    text = "\n".join(f"echo line {number}" for number in range(200))
    long = msgspec.structs.replace(tool, input={"command": text})
    return changed(busy(), CRITICAL, tool=long, risk=risk, summary=text, findings=())


async def lost(bench: Bench) -> None:
    """Lose the core, and wait until the console has noticed."""
    bench.source.lose()
    await bench.until(lambda: bench.app.bridge.link.lost)
    await bench.settle()


async def test_what_is_not_shown_in_full_is_opened_instead_of_allowed() -> None:
    async with running(long_request()) as bench:
        assert "a open to allow" in bench.screen
        await bench.press("a")
        await bench.until(lambda: isinstance(bench.app.screen, DetailScreen))
        await bench.settle()
        assert not bench.source.asked
        assert "(a allow)" in bench.screen
        await bench.press("a")
        assert "not all of it was on the screen yet" in bench.screen
        await bench.press(*["pagedown"] * 9, "a")
        await bench.until(lambda: bench.source.asked)
        assert (bench.source.asked[0].decision, bench.source.asked[0].request) == (
            "allow",
            CRITICAL,
        )


async def test_a_jump_over_the_middle_of_a_request_does_not_lead_to_an_allow() -> None:
    async with running(long_request(risk="high")) as bench:
        await bench.press("v", "G")
        assert "not shown, so no allow yet" in bench.screen
        assert "(a allow, twice)" in bench.screen
        await bench.press("a")
        assert "not all of it was on the screen yet: PgUp and PgDn go through it" in bench.screen
        await bench.press("a")
        assert not bench.source.asked
        await bench.press(*["pageup"] * 9)
        assert "  a allow, twice" in bench.screen
        await bench.press("a", "a")
        await bench.until(lambda: bench.source.asked)
        assert bench.source.asked[0].decision == "allow"


async def test_on_a_page_the_outcome_of_a_key_is_told_in_the_dock() -> None:
    async with running(busy()) as bench:
        await bench.press("question_mark", "d")
        await bench.until(lambda: "#a41f denied" in bench.screen)


async def test_a_page_over_a_lost_core_does_not_say_that_nothing_pends() -> None:
    options = msgspec.structs.replace(OPTIONS, log_lines=lambda: ["one " * 60 + "end"])
    async with running(busy(), size=(80, 24), options=options) as bench:
        await lost(bench)
        await bench.press("l")
        await bench.settle()
        assert "core lost" in bench.screen
        assert "acting calls are denied" in bench.screen
        assert "nothing pending" not in bench.screen
        assert "one end" in bench.screen


@pytest.mark.parametrize(
    ("calls", "told", "short"),
    [
        ("denied", "acting calls are denied, with the cause", "acting calls are denied"),
        ("watched", "hooks only watch: calls run unasked", "calls run unasked"),
        ("unasked", "no hooks are installed: nothing is asked", "nothing is asked"),
    ],
)
async def test_a_lost_core_means_what_the_hooks_do_without_one(
    calls: WithoutCore, told: str, short: str
) -> None:
    options = msgspec.structs.replace(OPTIONS, log_lines=list, without_core=lambda: calls)
    async with running(quiet(), size=(80, 24), options=options) as bench:
        await lost(bench)
        await bench.until(lambda: told in bench.screen)
        assert ("are denied" in bench.screen) is (calls == "denied")
        await bench.press("l")
        await bench.until(lambda: short in bench.screen)
    async with running(quiet(), size=(48, 12), options=options) as bench:
        await lost(bench)
        await bench.until(lambda: f"{short} until a core runs" in bench.screen)


async def test_where_hooks_are_not_known_only_those_that_gate_are_said_to_deny() -> None:
    async with running(quiet(), size=(80, 24)) as bench:
        await lost(bench)
        assert "acting calls are denied where hooks gate, with the cause" in bench.screen


async def test_an_empty_console_that_lost_its_core_does_not_call_the_gate_ready() -> None:
    async with running(first_run(), size=(80, 24)) as bench:
        await lost(bench)
        assert "No core answers." in bench.screen
        assert "The gate is ready" not in bench.screen


async def test_the_smallest_form_says_that_the_core_is_lost() -> None:
    async with running(busy(), size=(48, 12)) as bench:
        await lost(bench)
        assert "the core stopped answering" in bench.screen
        assert "rm -rf" not in bench.screen


async def test_the_smallest_form_wraps_its_words_and_keeps_the_chosen_request_in_view() -> None:
    async with running(busy(), size=(40, 7)) as bench:
        assert "d denies; to allow you must see the\n" in bench.screen
        await bench.press("tab")
        assert "> !!  docs" in bench.screen


async def test_a_switched_off_gate_tells_of_requests_that_it_still_holds() -> None:
    off = msgspec.structs.replace(busy(), gate=switched_off().gate)
    async with running(off) as bench:
        assert "GATE OFF   2 requests from before still held" in bench.screen
        assert "nothing is held" not in bench.screen


async def test_a_switched_off_gate_stays_off_when_the_core_is_lost() -> None:
    async with running(switched_off(), size=(80, 24)) as bench:
        await lost(bench)
        assert "the gate is switched off: all calls run" in bench.screen
        assert "acting calls are denied" not in bench.screen


async def test_the_demo_has_no_gate_to_switch_off_and_its_end_is_told() -> None:
    options = msgspec.structs.replace(OPTIONS, demo=True)
    async with running(busy(), options=options) as bench:
        await bench.press("colon")
        await bench.type("off")
        await bench.pilot.press("enter")
        await bench.settle()
        assert "the demo has no agents" in bench.screen
        await bench.press("ctrl+c")
        assert "ctrl+c again leaves the demo" in bench.screen


async def test_a_request_that_came_while_nobody_was_there_says_why_it_waits_longer() -> None:
    longer = changed(busy(), CRITICAL, unattended=True, timeout_s=3600.0)
    async with running(longer, size=(80, 24)) as bench:
        await bench.press("v")
        assert "60:00 in all, as no console that may allow was attached" in bench.screen


async def test_quit_is_found_among_the_commands() -> None:
    async with running(quiet()) as bench:
        await bench.press("colon")
        await bench.type("quit")
        await bench.pilot.press("enter")
        await bench.until(lambda: bench.app.return_value is not None)


@pytest.mark.parametrize("columns", [80, 100, 111, 120])
async def test_the_frozen_banner_never_lies_over_the_names_of_the_screens(columns: int) -> None:
    async with running(busy(), size=(columns, 30)) as bench:
        await bench.press("z")
        assert "5 History" in bench.screen
        assert "FROZEN" in bench.screen


async def test_in_a_frozen_view_the_detail_follows_the_cursor() -> None:
    async with running(busy(), size=(160, 45)) as bench:
        await bench.press("z", "k")
        await bench.settle()
        assert "docs/faq.md" in bench.text(bench.app.monitor.detail)


async def test_the_detail_beside_the_calls_names_the_key_that_shows_all() -> None:
    async with running(long_request(), size=(160, 45)) as bench:
        assert "Enter shows all" in bench.text(bench.app.monitor.detail)
        await bench.press("enter")
        await bench.until(lambda: isinstance(bench.app.screen, DetailScreen))


async def test_records_left_out_are_told_at_eighty_columns() -> None:
    async with running(quiet(), size=(80, 24)) as bench:
        bench.source.pushes.append(Push(gap=(1, 60_000)))
        bench.source.feed()
        await bench.until(lambda: "60,000 records left out" in bench.screen)


async def test_no_first_call_is_promised_while_calls_were_left_out() -> None:
    nothing_called = msgspec.structs.replace(quiet(), rows=())
    async with running(nothing_called, size=(80, 24)) as bench:
        await bench.until(lambda: "Its first tool call appears here." in bench.screen)
        bench.source.pushes.append(Push(gap=(1, 60_000)))
        bench.source.feed()
        await bench.until(lambda: "The calls appear here when it is quiet." in bench.screen)
        assert "Its first tool call" not in bench.screen


@pytest.mark.parametrize(("key", "typed"), [("r", "no"), ("a", "yes")])
async def test_a_prompt_whose_request_was_settled_says_so_and_decides_nothing(
    key: str, typed: str
) -> None:
    async with running(busy()) as bench:
        await bench.press(key)
        await bench.until(lambda: bench.app.prompts.hints)
        bench.source.feed(decided(CRITICAL, "denied-by-timeout"))
        await bench.until(lambda: "settled meanwhile" in bench.screen)
        bench.clock.advance(1)
        await bench.type(typed)
        await bench.pilot.press("enter")
        bench.clock.advance(1)
        await bench.pilot.pause(0.3)
        assert not bench.source.asked
        assert bench.app.prompts.hints
        await bench.pilot.press("escape")
        await bench.until(lambda: not bench.app.prompts.hints)


async def test_the_typed_yes_is_timed_by_the_consoles_clock() -> None:
    async with running(busy()) as bench:
        await bench.press("a")
        await bench.until(lambda: bench.app.prompts.hints)
        for letter in "yes":
            bench.clock.advance(0.1)
            await bench.pilot.press(letter)
        await bench.pilot.pause(0.3)
        assert not bench.source.asked
        bench.clock.advance(0.26)
        await bench.until(lambda: bench.source.asked)
        assert bench.source.asked[0].confirmed


async def test_keys_tell_the_core_that_somebody_is_here_but_not_each_of_them() -> None:
    async with running(quiet()) as bench:
        await bench.press("j", "k", "j")
        await bench.until(lambda: bench.source.greeted)
        assert bench.source.greeted == 1
        bench.clock.advance(HELLO_S)
        await bench.press("j")
        await bench.until(lambda: bench.source.greeted == 2)


async def test_what_was_shown_of_a_settled_request_is_forgotten() -> None:
    async with running(busy()) as bench:
        assert bench.app.operator.was_shown(CRITICAL)
        bench.source.feed(decided(CRITICAL, "denied-by-timeout"))
        await bench.until(lambda: not bench.app.operator.was_shown(CRITICAL))
        await bench.until(lambda: bench.app.operator.drawn_id == HIGH)


async def test_the_theme_goes_round_and_the_console_draws_with_it() -> None:
    async with running(quiet()) as bench:
        seen = []
        for _ in range(3):
            bench.app.perform("theme")
            await bench.settle()
            seen.append(bench.app.theme)
        assert seen == ["watchgate-light", "watchgate-mono", "watchgate-dark"]


async def test_leaving_the_demo_that_a_console_played_returns_to_its_own_core() -> None:
    demo = FakeSource(busy())

    async def open_demo() -> tuple[FakeSource, FakeClock]:
        return demo, FakeClock(NOW_US)

    options = msgspec.structs.replace(OPTIONS, open_demo=open_demo)
    async with running(first_run(), options=options) as bench:
        await bench.press("x")
        await bench.until(lambda: "2 PENDING" in bench.screen)
        await bench.press("ctrl+c", "ctrl+c")
        await bench.until(lambda: "No agent is connected yet." in bench.screen)
        assert bench.app.return_value is None
