"""Allowing more than once: how far, the exact rule, its edit, and what it would have matched."""

from __future__ import annotations

from typing import Any

import pytest

from tests.ui.console_bench import Bench, running
from tests.ui.open_requests import FIRST, asked, pending
from tests.ui.picture import NOW_US
from watchgate.core.model.assessment import Finding
from watchgate.core.model.standing_grant import GrantRule
from watchgate.link.control_lines import ControlAnswer
from watchgate.link.protocol import Refusal, Request, Result
from watchgate.ui.widgets.prompts.grant_prompt import GrantPrompt

ALL = ("once", "turn", "session", "15m", "always")
PROPOSED = {
    "rules": [{"text": "npm run build *", "words": ["npm", "run", "build"], "more": True,
               "tool": "Bash", "number": 1}],
    "folder": "/home/ana/src/api",
    "past": [{"at": NOW_US - 7_200_000_000, "summary": "npm run build --mode production",
              "session": "s", "agent": "claude", "request": "r"}],
    "past_count": 41,
    "widths": {"exact": {"past_count": 9}, "program": {"past_count": 41},
               "folder": {"past_count": 380}},
}  # fmt: skip


def proposing(request: Request) -> ControlAnswer:
    """A core that proposes one rule, and takes any edit of it but of the program."""
    if request.verb != "propose":
        return Result(id=request.id)
    if not request.rules:
        return Result(id=request.id, ok=PROPOSED)
    (rule,) = request.rules
    if rule.words[0] != "npm":
        return Refusal(id=request.id, refused="bad_request", message="does not cover this call")
    edited: dict[str, Any] = {"words": list(rule.words), "more": rule.more, "tool": rule.tool}
    return Result(id=request.id, ok={**PROPOSED, "rules": [edited], "past": [], "past_count": 0})


async def opened(bench: Bench) -> None:
    """Press the key that allows more, and wait for its prompt."""
    await bench.press("A")
    await bench.until(lambda: isinstance(bench.app.focused, GrantPrompt))
    await bench.settle()


def sent(bench: Bench) -> list[Request]:
    return [each for each in bench.source.asked if each.verb == "decide"]


@pytest.mark.parametrize(("key", "scope"), [("1", "turn"), ("2", "session"), ("3", "15m")])
async def test_a_number_says_how_far_and_a_gives_exactly_that(key: str, scope: str) -> None:
    async with running(pending(asked())) as bench:
        await opened(bench)
        await bench.press(key)
        assert "exactly this call: npm run build --mode staging" in bench.screen
        await bench.press("a")
        await bench.until(lambda: sent(bench))
        (asked_for,) = sent(bench)
        assert (asked_for.decision, asked_for.scope) == ("allow", scope)
        assert (asked_for.request, asked_for.digest) == (FIRST, "c" * 64)
        assert asked_for.shown_ms is not None
        assert asked_for.shown_ms >= 600
        assert asked_for.rules == ()


async def test_what_holds_where_and_how_long_is_said() -> None:
    async with running(pending(asked())) as bench:
        await opened(bench)
        assert "in ~/src/api, session api-fix, until its turn ends" in bench.screen
        await bench.press("3")
        assert "session api-fix, for 15 min" in bench.screen


async def test_what_only_exactly_this_call_can_be_allowed_for_says_why() -> None:
    async with running(pending(asked())) as bench:
        await opened(bench)
        assert "(4 always)" in bench.screen
        await bench.press("4")
        assert "more than its words decide what it does" in " ".join(bench.screen.split())
        assert "(6 its program)" in bench.screen
        await bench.press("6", "e")
        assert "only the rules of a program are edited" in bench.screen
        assert not sent(bench)


async def test_always_shows_its_rule_and_what_it_would_have_matched() -> None:
    async with running(pending(asked(scopes=ALL))) as bench:
        bench.source.answer = proposing
        await opened(bench)
        await bench.press("4")
        for part in ("npm run build *", "any further arguments", "41 calls on record", "2 h ago"):
            assert part in bench.screen
        await bench.press("a")
        await bench.until(lambda: sent(bench))
        (decided,) = sent(bench)
        rule = GrantRule(("npm", "run", "build"), more=True, tool="Bash", number=1)
        assert (decided.scope, decided.width) == ("always", "program")
        assert decided.rules == (rule,)
        await bench.until(lambda: "allowed, always" in bench.screen)


@pytest.mark.parametrize(
    ("keys", "scope", "width", "shows"),
    [
        (("2", "6"), "session", "program", "npm run build *"),
        (("6", "3"), "15m", "program", "npm run build *"),
        (("4", "5"), "always", "exact", "exactly this call: npm run build --mode staging"),
        (("1", "7"), "turn", "folder", "any command that stays in the folder"),
        (("4", "7"), "always", "folder", "for every Claude session there"),
    ],
)
async def test_numbers_say_how_long_and_how_much(
    keys: tuple[str, ...], scope: str, width: str, shows: str
) -> None:
    work = (Finding("work.build", "Builds", "medium", effect="ordinary"),)
    async with running(pending(asked(scopes=ALL, findings=work))) as bench:
        bench.source.answer = proposing
        await opened(bench)
        await bench.press(*keys)
        assert shows in " ".join(bench.screen.split())
        assert ", 9 x" in bench.screen
        await bench.press("a")
        await bench.until(lambda: sent(bench))
        (decided,) = sent(bench)
        assert (decided.scope, decided.width) == (scope, width)
        assert bool(decided.rules) is (width == "program")


async def test_a_folder_is_not_offered_for_what_no_rule_knows() -> None:
    unknown = (Finding("policy.no-rule", "No rule knows it", "medium"),)
    async with running(pending(asked(scopes=ALL, findings=unknown))) as bench:
        bench.source.answer = proposing
        await opened(bench)
        assert "(7 its folder)" in bench.screen
        await bench.press("7")
        assert "allow its program instead" in " ".join(bench.screen.split())
        await bench.press("a")
        await bench.until(lambda: sent(bench))
        assert sent(bench)[0].width is None


async def test_that_no_rule_knows_the_call_is_said_once() -> None:
    """The core names it among what the grant answers; the sentence begins with it already."""

    def answering(request: Request) -> ControlAnswer:
        answers = ["policy.no-rule", "packages.change"]
        return Result(id=request.id, ok={**PROPOSED, "answers": answers})

    async with running(pending(asked(scopes=ALL))) as bench:
        bench.source.answer = answering
        await opened(bench)
        await bench.press("4")
        assert "only for what no rule knows or asked for by packages.change" in " ".join(
            bench.screen.split()
        )


async def test_an_edited_rule_is_looked_at_again_before_it_is_given() -> None:
    async with running(pending(asked(scopes=ALL))) as bench:
        bench.source.answer = proposing
        await opened(bench)
        await bench.press("4", "e")
        for _ in range(2):
            await bench.pilot.press("backspace")
        await bench.type(" --mode staging")
        await bench.pilot.press("enter")
        await bench.until(lambda: "no other arguments" in bench.screen)
        assert "no call on record would have matched" in bench.screen
        await bench.press("a")
        await bench.until(lambda: sent(bench))
        (rule,) = sent(bench)[0].rules
        assert rule == GrantRule(("npm", "run", "build", "--mode", "staging"), tool="Bash")


async def test_an_edit_that_the_core_refuses_stays_under_the_hands() -> None:
    async with running(pending(asked(scopes=ALL))) as bench:
        bench.source.answer = proposing
        await opened(bench)
        await bench.press("4", "e")
        await bench.pilot.press("home")
        await bench.type("p")
        await bench.pilot.press("enter")
        await bench.until(lambda: "does not cover this call" in bench.screen)
        assert "pnpm run build *" in bench.screen
        await bench.pilot.press("escape")
        await bench.settle()
        assert "pnpm" not in bench.screen
        assert not sent(bench)


async def test_a_rule_that_cannot_be_proposed_says_why_and_is_not_given() -> None:
    def refusing(request: Request) -> ControlAnswer:
        return Refusal(id=request.id, refused="not_offered", message="its words are not known")

    async with running(pending(asked(scopes=ALL))) as bench:
        bench.source.answer = refusing
        await opened(bench)
        await bench.press("4", "a")
        await bench.until(lambda: bench.screen.count("its words are not known") == 2)
        assert not sent(bench)


async def test_enter_and_escape_give_nothing() -> None:
    async with running(pending(asked())) as bench:
        await opened(bench)
        await bench.press("enter", "y", "space")
        assert not sent(bench)
        await bench.press("escape")
        await bench.until(lambda: not bench.app.prompts.hints)
        assert not sent(bench)


async def test_typing_into_the_prompt_gives_nothing() -> None:
    async with running(pending(asked())) as bench:
        await opened(bench)
        bench.clock.advance(1)
        await bench.type("2 a a d")
        bench.clock.advance(1)
        await bench.settle()
        assert not sent(bench)
        assert "looked like typing" in bench.screen


async def test_another_reach_has_to_be_looked_at_before_it_is_given() -> None:
    async with running(pending(asked())) as bench:
        await opened(bench)
        await bench.press("2")
        await bench.press("a", apart_s=0.1)
        assert not sent(bench)


async def test_a_terminal_that_became_too_small_allows_nothing() -> None:
    async with running(pending(asked())) as bench:
        await opened(bench)
        await bench.pilot.resize_terminal(48, 12)
        await bench.settle()
        await bench.press("a")
        await bench.until(lambda: "60 by 16 cells" in bench.screen)
        assert not sent(bench)


async def test_d_denies_from_the_prompt() -> None:
    async with running(pending(asked())) as bench:
        await opened(bench)
        await bench.press("d")
        await bench.until(lambda: sent(bench))
        assert sent(bench)[0].decision == "deny"


async def test_a_high_request_is_only_ever_allowed_once_and_the_key_says_so() -> None:
    async with running(pending(asked(risk="high", scopes=("once",)))) as bench:
        await bench.press("A")
        assert "this request can only be allowed once: it is high" in bench.screen
        assert not bench.app.prompts.hints


async def test_a_request_settled_meanwhile_takes_nothing_any_more() -> None:
    async with running(pending(asked())) as bench:
        await opened(bench)
        bench.app.bridge.state.pending.clear()
        await bench.settle()
        await bench.press("a")
        assert "settled meanwhile" in bench.screen
        assert not sent(bench)


@pytest.mark.parametrize("size", [(120, 40), (80, 24), (60, 16)])
async def test_dock_and_footer_stay_in_view_beside_the_prompt(size: tuple[int, int]) -> None:
    async with running(pending(asked(scopes=ALL)), size=size) as bench:
        bench.source.answer = proposing
        if not bench.app.operator.was_shown(FIRST):
            await bench.press("v")
        await opened(bench)
        await bench.press("4")
        assert "npm run build *" in bench.screen
        assert "MEDIUM" in bench.screen
        assert "Esc not now" in bench.screen.splitlines()[-1]
