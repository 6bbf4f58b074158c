"""Secrets on the screen: covered everywhere, told for the one request that is looked at."""

from __future__ import annotations

import msgspec

from tests.ui.console_bench import Bench, running
from tests.ui.picture import busy, call_rows, critical_request, high_request
from watchgate.core.model.views import PendingView
from watchgate.link.protocol import Snapshot

KEY = "AKIA" + "ABCDEFGH12345678"
COVERED = "<aws-key, 20 chars>"


def with_key(view: PendingView) -> PendingView:
    """The request with a key in its command."""
    command = f"deploy --key {KEY} now"
    tool = msgspec.structs.replace(view.data.tool, cls="shell", input={"command": command})
    data = msgspec.structs.replace(
        view.data, tool=tool, summary=command, risk="high", findings=(), segments=()
    )
    return msgspec.structs.replace(view, data=data)


def secret() -> Snapshot:
    """Two requests, each with a key in it, and a call of the past with one."""
    rows = [
        msgspec.structs.replace(row, summary=f"deploy {KEY}") if row.request else row
        for row in call_rows()
    ]
    pending = (with_key(critical_request()), with_key(high_request()))
    return msgspec.structs.replace(busy(), pending=pending, rows=tuple(rows))


async def shows(bench: Bench) -> bool:
    """Whether the key can be read anywhere."""
    await bench.settle()
    return KEY in bench.screen


async def test_a_secret_is_covered_in_the_table_the_dock_and_the_whole_request() -> None:
    async with running(secret()) as bench:
        assert not await shows(bench)
        assert f"deploy --key {COVERED} now" in bench.screen
        await bench.press("v")
        assert not await shows(bench)
        assert "1 secret covered   u shows it" in bench.screen
        assert f'"command": "deploy --key {COVERED} now"' in bench.screen


async def test_one_key_tells_it_and_covers_it_again() -> None:
    async with running(secret()) as bench:
        await bench.press("v", "u")
        assert f"deploy --key {KEY} now" in bench.screen
        assert f'"command": "deploy --key {KEY} now"' in bench.screen
        assert "1 secret told   u covers it" in bench.screen
        await bench.press("u")
        assert not await shows(bench)


async def test_it_is_told_for_the_docked_request_only_and_covered_once_that_is_left() -> None:
    async with running(secret()) as bench:
        await bench.press("u")
        assert f"deploy --key {KEY} now" in bench.screen
        table = "\n".join(bench.screen.split("\n")[:30])
        assert KEY not in table, "calls stay covered"
        await bench.press("tab")
        assert not await shows(bench)
        await bench.press("tab")
        assert not await shows(bench), "to come back is to look anew"


async def test_without_a_secret_the_key_says_so() -> None:
    async with running(busy()) as bench:
        await bench.press("u")
        assert "no secret is covered in this request" in bench.screen


async def test_a_covered_request_was_shown_whole() -> None:
    async with running(secret()) as bench:
        await bench.press("a")
        assert "a again allows it" in bench.screen
