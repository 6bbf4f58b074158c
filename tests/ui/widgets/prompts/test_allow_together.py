"""Allowing several at once: exactly those that were marked and shown."""

from __future__ import annotations

from tests.ui.console_bench import Bench, running
from tests.ui.open_requests import FIRST, SECOND, THIRD, asked, pending
from watchgate.core.model.records import Record
from watchgate.link.protocol import Request, Snapshot
from watchgate.ui.widgets.prompts.grant_prompt import BatchPrompt


def three() -> Snapshot:
    """Three requests that are alike."""
    return pending(
        asked(id=FIRST),
        asked("npm run build --mode production", id=SECOND),
        asked("npm run build --watch", id=THIRD),
    )


def sent(bench: Bench) -> list[Request]:
    return [each for each in bench.source.asked if each.verb == "decide"]


async def listed(bench: Bench) -> None:
    """Marks the first two, and press the key that allows."""
    await bench.press("space", "tab", "space", "a")
    await bench.until(lambda: isinstance(bench.app.focused, BatchPrompt))
    await bench.settle()


async def test_exactly_the_marked_ones_are_listed_and_allowed_together() -> None:
    async with running(three()) as bench:
        await listed(bench)
        assert not sent(bench)
        assert "allow together, once each: 2 requests" in bench.screen
        assert "a allow these 2" in bench.screen
        await bench.press("a")
        await bench.until(lambda: len(sent(bench)) == 2)
        assert [each.request for each in sent(bench)] == [FIRST, SECOND]
        assert [each.digest for each in sent(bench)] == ["c" * 64, "d" * 64]
        assert {(each.decision, each.scope) for each in sent(bench)} == {("allow", "once")}
        assert all((each.shown_ms or 0) >= 600 for each in sent(bench))


async def test_the_footer_says_that_a_allows_the_marked_ones() -> None:
    async with running(three()) as bench:
        await bench.press("space", "tab", "space")
        assert "a allow 2 marked" in bench.screen
        await bench.press("tab")
        assert "a allow 2 marked" not in bench.screen


async def test_a_request_that_is_not_marked_is_allowed_alone() -> None:
    async with running(three()) as bench:
        await bench.press("space", "tab", "space", "tab", "a")
        await bench.until(lambda: sent(bench))
        assert [each.request for each in sent(bench)] == [THIRD]


async def test_a_request_that_was_not_shown_cannot_be_marked() -> None:
    command = "npm run build " + "x " * 2000
    async with running(pending(asked(command), asked(id=SECOND))) as bench:
        await bench.press("space")
        assert not bench.app.operator.marks.ids


async def test_one_that_is_settled_meanwhile_leaves_and_the_rest_is_looked_at_again() -> None:
    async with running(three()) as bench:
        await listed(bench)
        bench.source.feed(_denied(FIRST))
        await bench.until(lambda: "1 request settled meanwhile" in bench.screen)
        assert "once each: 1 request" in bench.screen
        await bench.press("a")
        await bench.until(lambda: sent(bench))
        assert [each.request for each in sent(bench)] == [SECOND]


async def test_without_any_left_nothing_is_allowed() -> None:
    async with running(three()) as bench:
        await listed(bench)
        bench.source.feed(_denied(FIRST), _denied(SECOND, 48_213))
        await bench.until(lambda: "settled meanwhile, nothing is decided" in bench.screen)
        await bench.press("a")
        assert not sent(bench)


async def test_a_denial_of_a_marked_one_denies_only_that() -> None:
    async with running(three()) as bench:
        await bench.press("space", "tab", "space", "d")
        await bench.until(lambda: sent(bench))
        assert [(each.decision, each.request) for each in sent(bench)] == [("deny", SECOND)]


async def test_the_key_says_why_it_marks_nothing() -> None:
    async with running(pending(asked(risk="high"), asked(id=SECOND, risk="high"))) as bench:
        await bench.press("space")
        assert "only low and medium requests are allowed together" in bench.screen
    async with running(pending(asked(), asked("npm publish", id=SECOND))) as bench:
        await bench.press("space")
        assert "no other open request is like this one" in bench.screen


def _denied(request: str, seq: int = 48_212) -> Record:
    data = {"word": "denied-by-operator", "by": "operator ben", "waited_s": 3.0}
    return Record(
        v=1, seq=seq, core="core", at=1, kind="approval.decided", agent="claude",
        session="api-fix-session", call=f"call-{request[:4]}", request=request, data=data,
    )  # fmt: skip
