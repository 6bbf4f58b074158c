"""The payload page: all that the console has of a request or call, as it was sent."""

from __future__ import annotations

import msgspec
import pytest

from tests.ui.console_bench import Bench, running
from tests.ui.picture import NOW_US, busy, call_rows, critical_request, quiet
from tests.ui.requests import pending, row
from tests.ui.test_secrets_view import secret
from watchgate.core.model.records import Record
from watchgate.link.protocol import Refusal, Request, Result, Snapshot
from watchgate.ui.screens.payload_screen import DetailScreen, PayloadScreen
from watchgate.ui.widgets.payload.payload_sections import call_sections, request_sections, size

HOME = "/home/ana"


def with_input(**more: object) -> Snapshot:
    """The busy picture, its first request with more in its input."""
    view = critical_request()
    tool = msgspec.structs.replace(view.data.tool, input={**view.data.tool.input, **more})
    data = msgspec.structs.replace(view.data, tool=tool, env={"TMUX_PANE": "%3"})
    return msgspec.structs.replace(busy(), pending=(msgspec.structs.replace(view, data=data),))


async def open_payload(bench: Bench, screen: PayloadScreen) -> None:
    bench.app.pages.open(screen)
    await bench.settle()
    await bench.settle()


@pytest.mark.parametrize(
    ("value", "words"),
    [({}, "2 bytes"), ({"a": "x" * 1390}, "1.4 kB"), ({"a": "x" * 2_600_000}, "2.6 MB")],
)
def test_a_size_is_told_in_its_largest_unit(value: object, words: str) -> None:
    assert size(value) == words


def test_a_request_tells_its_input_what_was_sent_before_and_where_the_agent_runs() -> None:
    view = pending(before={"command": "rm -rf /"}, edited_from="b7c2xxxx", env={"TMUX": "1"})
    head, now, before, env = request_sections(view, HOME)
    facts = dict(head.facts)
    assert facts["digest"] == f"sha256 {view.data.digest}"
    assert facts["tool"] == "Bash"
    assert (now.title, now.value) == ("input that would run", view.data.tool.input)
    assert before.aside == "22 bytes, you edited #b7c2 since"
    assert before.value == {"command": "rm -rf /"}
    assert env.value == {"TMUX": "1"}


def test_a_call_tells_what_the_journal_kept_of_it() -> None:
    call = row(call="c1")
    assert call_sections(call, None, "")[1].facts == (("", "looking for its records"),)
    assert call_sections(call, None, "the core is lost")[1].facts == (("", "the core is lost"),)
    assert call_sections(call, [], "")[1].facts == (("", "the journal has none of it"),)
    record = Record(v=1, seq=7, core="core", at=NOW_US, kind="tool.pre", agent="claude",
                    session="s1", call="c1", data={"summary": "ls"})  # fmt: skip
    _, own = call_sections(call, [record], "")
    assert own.title == "7 tool.pre"
    assert own.value == {"summary": "ls"}


@pytest.mark.anyio
async def test_what_may_be_allowed_is_there_whole_and_nothing_is_decided_here() -> None:
    items = list(range(30))
    async with running(with_input(items=items, mode="x")) as bench:
        page = PayloadScreen(None, HOME)
        await open_payload(bench, page)
        assert '"items": 30 items' in bench.screen
        assert not page.shows_request
        assert page.items == 1 + 31 + 1 + 1
        await bench.press("a")
        assert not bench.source.asked or all(r.verb != "decide" for r in bench.source.asked)
        assert critical_request().id in bench.app.bridge.state.pending


@pytest.mark.anyio
async def test_enter_folds_a_list_and_j_goes_on_behind_it() -> None:
    async with running(with_input(items=[1, 2, 3], mode="x")) as bench:
        page = PayloadScreen(None, HOME)
        await open_payload(bench, page)
        page.move(+1)
        assert page.enter()
        await bench.settle()
        assert '> "items": [... 3 items]' in bench.screen
        page.move(+1)
        await bench.settle()
        assert '> "mode": "x"' in bench.screen
        assert page.copied == "x"


@pytest.mark.anyio
async def test_secrets_stay_covered_until_they_are_asked_for() -> None:
    view = secret()
    key = "AKIA" + "ABCDEFGH12345678"
    data = msgspec.structs.replace(
        view.pending[0].data,
        tool=msgspec.structs.replace(view.pending[0].data.tool, input={"command": f"use {key}"}),
    )
    first = msgspec.structs.replace(view.pending[0], data=data)
    async with running(msgspec.structs.replace(view, pending=(first,))) as bench:
        page = PayloadScreen(None, HOME)
        await open_payload(bench, page)
        assert "<aws-key, 20 chars>" in bench.screen
        assert key not in (page.copied or "")
        bench.app.desk.reveal()
        await bench.settle()
        assert key in bench.screen


@pytest.mark.anyio
async def test_a_calls_records_are_asked_of_the_core() -> None:
    call = call_rows(pending=False)[-1]
    own = Record(v=1, seq=7, core="core", at=NOW_US, kind="tool.pre", agent=call.agent,
                 session=call.session, call=call.call,
                 data={"tool": {"input": {"command": "ls -l"}}})  # fmt: skip
    other = msgspec.structs.replace(own, seq=8, session="another", data={"tool": "no"})

    def answer(request: Request) -> Result:
        return Result(id=request.id, ok={"records": msgspec.to_builtins([own, other])})

    async with running(quiet()) as bench:
        bench.source.answer = answer
        await open_payload(bench, PayloadScreen(call, HOME))
        await bench.until(lambda: "7 tool.pre" in bench.screen)
        asked = next(each for each in bench.source.asked if each.verb == "search")
        assert asked.filter == f'call:"{call.call}"'
        assert '"command": "ls -l"' in bench.screen
        assert "8 tool.pre" not in bench.screen


@pytest.mark.anyio
async def test_a_refusal_is_said_in_place_of_the_records() -> None:
    async with running(quiet()) as bench:
        bench.source.answer = lambda request: Refusal(
            id=request.id, refused="bad_request", message="not now"
        )
        await open_payload(bench, PayloadScreen(call_rows(pending=False)[-1], HOME))
        await bench.until(lambda: "not now" in bench.screen)


@pytest.mark.anyio
async def test_a_request_that_was_settled_leaves_the_page_with_the_next_one() -> None:
    async with running(quiet()) as bench:
        await open_payload(bench, PayloadScreen(None, HOME))
        assert "nothing is pending" in bench.screen


@pytest.mark.anyio
async def test_v_goes_from_the_request_to_its_payload_and_back() -> None:
    async with running(with_input(items=[1, 2], mode="x")) as bench:
        await bench.press("v", "v")
        assert isinstance(bench.app.pages.top, PayloadScreen)
        assert "where the agent runs" in bench.screen
        await bench.press("j", "enter")
        assert '> "items": [... 2 items]' in bench.screen
        await bench.press("v")
        assert isinstance(bench.app.pages.top, DetailScreen)
        await bench.press("escape")
        assert bench.app.pages.top.where == "monitor"


@pytest.mark.anyio
async def test_an_allow_key_opens_the_request_instead_of_deciding_on_a_folded_page() -> None:
    async with running(with_input(items=[1, 2], mode="x")) as bench:
        await bench.press("v", "v")
        await bench.press("a")
        assert not [each for each in bench.source.asked if each.verb == "decide"]
        assert isinstance(bench.app.pages.top, DetailScreen)


@pytest.mark.anyio
async def test_v_opens_the_payload_of_a_call_that_was_opened() -> None:
    async with running(quiet()) as bench:
        await bench.press("enter", "v")
        top = bench.app.pages.top
        assert isinstance(top, PayloadScreen)
        assert top.row == call_rows(pending=False)[-1]
        await bench.press("v")
        assert isinstance(bench.app.pages.top, DetailScreen)
        assert bench.app.pages.top.row == top.row


@pytest.mark.anyio
async def test_copying_takes_what_the_cursor_is_on_without_its_secrets() -> None:
    key = "AKIA" + "ABCDEFGH12345678"
    async with running(with_input(mode=f"use {key}")) as bench:
        await bench.press("v", "v", "j", "c")
        assert bench.app.clipboard == "use <aws-key, 20 chars>"
