"""The console as an operator meets it: keys, decisions, loss and return of the core."""

from __future__ import annotations

import msgspec
import pytest

from tests.ui.console_bench import OPTIONS, running
from tests.ui.fake_source import FakeClock, FakeSource
from tests.ui.picture import CRITICAL, HIGH, NOW_US, busy, first_run, quiet, switched_off
from watchgate.core.model.records import Record
from watchgate.link.protocol import Refusal, Snapshot
from watchgate.ui.screens.payload_screen import DetailScreen
from watchgate.ui.screens.text_screens import HelpScreen


def decided(request: str, word: str, *, seq: int = 48_212) -> Record:
    """The core's record that a request was settled."""
    data = {"word": word, "by": "operator ana", "waited_s": 3.0}
    session = "api-fix" if request == CRITICAL else "docs"
    return Record(
        v=1,
        seq=seq,
        core="core",
        at=NOW_US + 1_000_000,
        kind="approval.decided",
        agent="claude" if request == CRITICAL else "codex",
        session=f"{session}-session",
        call="call-32" if request == CRITICAL else "call-29",
        request=request,
        data=data,
    )


def offered(request: str, *decisions: str) -> Snapshot:
    """The busy picture with other decisions offered for one request."""
    snapshot = busy()
    pending = tuple(
        msgspec.structs.replace(view, data=msgspec.structs.replace(view.data, offered=decisions))
        if view.id == request
        else view
        for view in snapshot.pending
    )
    return msgspec.structs.replace(snapshot, pending=pending)


async def test_one_key_denies_the_docked_request_by_its_id_and_digest() -> None:
    async with running(busy()) as bench:
        await bench.press("d")
        await bench.until(lambda: bench.source.asked)
        asked = bench.source.asked[0]
        assert (asked.verb, asked.decision, asked.request) == ("decide", "deny", CRITICAL)
        assert asked.digest == "d" * 64


async def test_a_high_request_is_allowed_by_the_same_key_twice() -> None:
    async with running(busy()) as bench:
        await bench.press("tab", "a")
        assert not bench.source.asked
        assert "a again allows it" in bench.screen
        await bench.press("a")
        await bench.until(lambda: bench.source.asked)
        asked = bench.source.asked[0]
        assert (asked.decision, asked.request, asked.confirmed) == ("allow", HIGH, True)
        assert asked.shown_ms is not None
        assert asked.shown_ms >= 600


async def test_a_critical_request_opens_the_prompt_for_the_typed_yes() -> None:
    async with running(busy()) as bench:
        await bench.press("a")
        await bench.until(lambda: bench.app.prompts.hints)
        assert "allow once: type yes" in bench.screen
        assert not bench.source.asked
        await bench.pilot.press("escape")
        await bench.until(lambda: not bench.app.prompts.hints)
        assert not bench.source.asked


async def test_keys_that_follow_each_other_quickly_decide_nothing() -> None:
    async with running(busy()) as bench:
        bench.clock.advance(1)
        await bench.pilot.press("d", "e", "a", "d")
        bench.clock.advance(1)
        await bench.settle()
        assert not bench.source.asked
        assert "looked like typing" in bench.screen


async def test_a_denial_with_a_reply_tells_the_model_why() -> None:
    async with running(busy()) as bench:
        await bench.press("r")
        await bench.until(lambda: bench.app.prompts.hints)
        await bench.type("use make clean")
        await bench.pilot.press("enter")
        await bench.until(lambda: bench.source.asked)
        asked = bench.source.asked[0]
        assert (asked.decision, asked.reason) == ("deny", "use make clean")


async def test_deny_all_asks_once_and_then_denies_each_request() -> None:
    async with running(busy()) as bench:
        await bench.press("D", "D")
        await bench.until(lambda: len(bench.source.asked) == 2)
        assert {asked.request for asked in bench.source.asked} == {CRITICAL, HIGH}
        assert {asked.decision for asked in bench.source.asked} == {"deny"}


async def test_a_denial_ends_the_turn_of_an_agent_that_can_be_told_so() -> None:
    async with running(offered(HIGH, "allow", "deny", "handback", "stop")) as bench:
        await bench.press("tab", "X")
        await bench.until(lambda: bench.source.asked)
        asked = bench.source.asked[0]
        assert (asked.decision, asked.stop, asked.request) == ("deny", True, HIGH)


async def test_the_turn_of_an_agent_that_cannot_be_told_so_is_not_promised_to_end() -> None:
    async with running(offered(HIGH, "allow", "deny", "handback")) as bench:
        await bench.press("tab", "X")
        assert "Codex cannot be told to end its turn: d denies, r says why" in bench.screen
        assert not bench.source.asked
        await bench.press("question_mark")
        assert "where the agent can" in bench.screen


async def test_a_refusal_says_who_was_first() -> None:
    async with running(busy()) as bench:
        bench.source.answer = lambda request: Refusal(
            id=request.id,
            refused="already_settled",
            message="already settled",
            by="operator ben",
            word="denied-by-operator",
        )
        await bench.press("d")
        await bench.until(lambda: "denied by operator ben" in bench.screen)


async def test_the_docked_request_stays_when_another_comes_and_leaves_when_it_is_settled() -> None:
    async with running(busy()) as bench:
        await bench.press("tab")
        assert bench.app.moment().docked.id == HIGH  # type: ignore[union-attr]
        bench.source.feed(decided(CRITICAL, "denied-by-operator"))
        await bench.until(lambda: bench.app.bridge.state.seq == 48_212)
        assert bench.app.moment().docked.id == HIGH  # type: ignore[union-attr]
        bench.source.feed(decided(HIGH, "denied-by-timeout", seq=48_213))
        await bench.until(lambda: bench.app.bridge.state.seq == 48_213)
        assert bench.app.moment().docked is None
        await bench.until(lambda: "nothing pending" in bench.screen)


@pytest.mark.parametrize("key", ["enter", "escape", "n", "y"])
async def test_keys_that_other_prompts_use_for_yes_and_no_decide_nothing(key: str) -> None:
    async with running(busy()) as bench:
        await bench.press(key)
        assert not bench.source.asked


@pytest.mark.parametrize(
    ("key", "says"),
    [
        (
            "p",
            "play its session again: only in the history and in a timeline",
        ),
        ("w", "costs of 1, 7 or 30 days: only in the costs"),
        ("O", "the gate is on"),
        ("R", "the core is running"),
    ],
)
async def test_a_key_that_does_nothing_now_says_why(key: str, says: str) -> None:
    async with running(busy()) as bench:
        await bench.press(key)
        assert says in bench.screen


async def test_a_lost_core_keeps_the_last_picture_and_says_what_it_means() -> None:
    async with running(busy(), size=(80, 24)) as bench:
        bench.source.lose()
        await bench.until(lambda: "CORE LOST" in bench.screen)
        assert "last picture of 12:04:48" in bench.screen
        assert "#a41f and #b7c2 are denied by their hook clients" in bench.screen
        assert "rm -rf build/" in bench.screen
        await bench.press("d")
        assert "the core is lost" in bench.screen
        assert not bench.source.asked


async def test_a_core_that_returns_replaces_the_picture() -> None:
    started: list[bool] = []

    async def start() -> None:
        started.append(True)
        bench.source.revive(quiet())

    options = msgspec.structs.replace(OPTIONS, start_core=start)
    async with running(busy(), options=options) as bench:
        bench.source.lose()
        await bench.until(lambda: "CORE LOST" in bench.screen)
        await bench.press("R")
        await bench.until(lambda: bench.app.bridge.link.state == "attached")
        await bench.settle()
        assert started == [True]
        assert "nothing pending" in bench.screen


async def test_freezing_keeps_the_calls_while_deadlines_go_on() -> None:
    async with running(busy()) as bench:
        await bench.press("z")
        assert "FROZEN at 12:04:49" in bench.screen
        bench.source.feed(decided(CRITICAL, "denied-by-operator"))
        await bench.until(lambda: "1 PENDING" in bench.screen)
        assert bench.screen.count("? waits") == 2
        await bench.press("z")
        assert bench.screen.count("? waits") == 1


async def test_help_is_a_page_with_the_dock_below_it_where_deny_works() -> None:
    async with running(busy()) as bench:
        await bench.press("question_mark")
        assert isinstance(bench.app.screen, HelpScreen)
        assert "deny, and tell the model why" in bench.screen
        assert "!!! CRITICAL    Bash" in bench.screen
        await bench.press("d")
        await bench.until(lambda: bench.source.asked)
        await bench.press("escape")
        await bench.until(lambda: bench.app.screen is bench.app.monitor)


async def test_allow_on_a_page_opens_the_request_instead() -> None:
    async with running(busy()) as bench:
        await bench.press("question_mark", "a")
        await bench.until(lambda: isinstance(bench.app.screen, DetailScreen))
        assert not bench.source.asked


async def test_the_list_of_commands_finds_by_name_and_runs() -> None:
    async with running(quiet()) as bench:
        await bench.press("colon")
        await bench.type("gate_off")
        await bench.pilot.press("enter")
        await bench.until(lambda: bench.app.prompts.hints)
        await bench.type("off")
        await bench.pilot.press("enter")
        await bench.until(lambda: bench.source.asked)
        assert (bench.source.asked[0].verb, bench.source.asked[0].seconds) == ("off", 1800)


async def test_the_gate_is_switched_on_again_with_one_key() -> None:
    async with running(switched_off(), size=(80, 24)) as bench:
        assert "GATE OFF" in bench.screen
        await bench.press("O")
        await bench.until(lambda: bench.source.asked)
        assert bench.source.asked[0].verb == "on"


async def test_a_filter_narrows_the_calls_and_escape_clears_it() -> None:
    async with running(quiet()) as bench:
        await bench.press("slash")
        await bench.until(lambda: bench.app.prompts.hints)
        await bench.type("tool:Fetch")
        await bench.pilot.press("enter")
        await bench.settle()
        assert "http://10.0.0.7/runner/token" in bench.screen
        assert "npm run lint" not in bench.screen
        await bench.press("escape")
        assert "npm run lint" in bench.screen


async def test_a_session_chosen_from_the_list_filters_the_calls() -> None:
    async with running(quiet(), size=(80, 24)) as bench:
        await bench.press("s", "j", "enter")
        await bench.settle()
        assert bench.app.desk.filter == "session:docs"


async def test_a_demo_is_another_core_that_q_leaves_for_the_first() -> None:
    demo = FakeSource(busy())

    async def open_demo() -> tuple[FakeSource, FakeClock]:
        return demo, FakeClock(NOW_US)

    options = msgspec.structs.replace(OPTIONS, open_demo=open_demo)
    async with running(first_run(), options=options) as bench:
        assert "No agent is connected yet." in bench.screen
        await bench.press("x")
        await bench.until(lambda: "2 PENDING" in bench.screen)
        assert " DEMO " in bench.screen
        await bench.press("q")
        await bench.until(lambda: "No agent is connected yet." in bench.screen)


async def test_leaving_tells_the_shell_what_goes_on() -> None:
    async with running(quiet()) as bench:
        await bench.press("q")
        assert bench.app.return_value == (
            "watchgate: today 3 allowed, 14 denied (1 in silence); "
            "the core goes on, `watchgate` attaches again"
        )


async def test_ctrl_c_asks_before_it_leaves() -> None:
    async with running(quiet()) as bench:
        await bench.press("ctrl+c")
        assert "ctrl+c again leaves" in bench.screen
        assert bench.app.return_value is None
        await bench.press("ctrl+c")
        assert bench.app.return_value is not None


async def test_below_sixty_by_sixteen_deny_works_and_allow_says_why_not() -> None:
    async with running(busy(), size=(48, 12)) as bench:
        await bench.press("a")
        assert "you must see the whole request" in bench.screen
        await bench.press("d")
        await bench.until(lambda: bench.source.asked)
        assert bench.source.asked[0].decision == "deny"


async def test_a_command_is_never_read_as_markup() -> None:
    snapshot = quiet()
    rows = tuple(
        msgspec.structs.replace(row, summary="[bold red]echo[/] [link=x]y[/link]", label="[b]x[/b]")
        for row in snapshot.rows[-3:]
    )
    async with running(msgspec.structs.replace(snapshot, rows=rows)) as bench:
        assert "[bold red]echo[/]" in bench.screen
        assert "[b]x" in bench.screen
